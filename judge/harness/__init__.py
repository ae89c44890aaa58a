"""What runs in the learner's process: it loads the solution, runs the problem's tests and reports.

Nothing here decides a judgement. The parent reads the records, distrusts them, and compares the
evidence with the oracle's. Only the standard library, pytest and ``judge.models.wire`` are imported,
because every millisecond here is paid twice a judgement.
"""
