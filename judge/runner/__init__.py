"""Run a submission and the reference, each in a process of its own, and record what both did."""
