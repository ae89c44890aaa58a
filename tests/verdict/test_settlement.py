"""How a judgement ends, for every way in which two runs can end."""

from __future__ import annotations

import pytest

from judge.models.base import Text
from judge.models.record import DiagnosticKind, End, EndKind
from judge.models.status import Status, worst
from tests.verdict import records as r


def test_equal_evidence_is_accepted():
    """A run whose tests passed with the oracle's evidence is accepted in full."""
    verdict = r.judged(r.run())
    assert verdict.status == Status.ACCEPTED
    assert verdict.scores[0].points == 1.0
    assert verdict.total == 1.0


def test_passing_inside_does_not_outweigh_other_evidence():
    """A test that passed in the learner's process with other evidence is wrong, and says where."""
    verdict = r.judged(r.run(evidence=(r.evidence("a", 1), r.evidence("b", 3))))
    assert verdict.status == Status.WRONG
    found = verdict.tests[1].diagnostics[0]
    assert (found.kind, found.expected, found.actual) == (DiagnosticKind.EVIDENCE, "2", "3")


def test_no_evidence_is_never_accepted():
    """A test that passed without its evidence has no result."""
    verdict = r.judged(r.run(evidence=(r.evidence("a", 1),)))
    assert [test.status for test in verdict.tests] == [Status.ACCEPTED, Status.NO_RESULT]
    assert verdict.status == Status.NO_RESULT


def test_surplus_evidence_is_not_accepted():
    """Evidence that the reference never gave is no result either."""
    forged = (r.evidence("a", 1), r.evidence("b", 2), r.evidence("b", 2, name="more"))
    assert r.judged(r.run(evidence=forged)).status == Status.NO_RESULT


def test_evidence_of_one_name_counts_each_time():
    """Of several values under one name none hides another."""
    oracle = r.run("oracle", evidence=(r.evidence("a", 1), r.evidence("b", 2), r.evidence("b", 3)))
    subject = r.run(evidence=(r.evidence("a", 1), r.evidence("b", 9), r.evidence("b", 3)))
    assert r.judged(subject, oracle).tests[1].status == Status.WRONG
    assert r.judged(r.run(), oracle).tests[1].status == Status.NO_RESULT


def test_the_first_difference_is_told_where_evidence_is_missing_too():
    """A list that is one short says so in its length; that an item is missing follows from it."""
    oracle = r.run("oracle", evidence=(r.evidence("a", 1), r.evidence("b", 2), r.evidence("b", 3, name="more")))
    short = r.run(evidence=(r.evidence("a", 1), r.evidence("b", 1)))
    found = r.judged(short, oracle).tests[1]
    assert (Status.WRONG, "2", "1") == (found.status, found.diagnostics[0].expected, found.diagnostics[0].actual)


def test_a_skipped_required_test_is_not_judged():
    """What both runs skipped is not judged: the verdict says so and why, and is not accepted."""
    skipped = (r.outcome("a"), r.outcome("b", Status.NOT_JUDGED, diagnostic=r.failure(DiagnosticKind.SKIPPED)))
    verdict = r.judged(r.run(outcomes=skipped), r.run("oracle", outcomes=skipped))
    assert verdict.status == Status.NOT_JUDGED
    assert any("a sentence" in line.en for line in verdict.not_judged)


def test_an_optional_skipped_test_does_not_stand_in_the_way():
    """Skipping an optional test leaves the verdict accepted."""
    cases = (r.case("a"), r.case("b", is_required=False))
    skipped = (r.outcome("a"), r.outcome("b", Status.NOT_JUDGED))
    oracle = r.run("oracle", tests=cases, outcomes=skipped)
    assert r.judged(r.run(tests=cases, outcomes=skipped), oracle).status == Status.ACCEPTED


def test_skipping_alone_is_wrong():
    """A test that only the submission's run skipped is wrong."""
    skipped = (r.outcome("a"), r.outcome("b", Status.NOT_JUDGED))
    assert r.judged(r.run(outcomes=skipped)).status == Status.WRONG


def test_the_word_of_the_subject_on_what_is_required_does_not_count():
    """Tests are required as the oracle collected them."""
    subject = r.run(tests=(r.case("a"),), outcomes=(r.outcome("a"),), evidence=(r.evidence("a", 1),))
    assert r.judged(subject).status == Status.NO_RESULT


def test_a_failing_reference_is_a_judge_error():
    """A reference that fails a test is a fault of ours, whatever the submission did."""
    oracle = r.run("oracle", outcomes=(r.outcome("a"), r.outcome("b", Status.WRONG)))
    verdict = r.judged(r.run(), oracle)
    assert verdict.status == Status.JUDGE_ERROR
    assert verdict.status.exit_code == 3


def test_what_happened_to_the_reference_is_said():
    """Its own message stands in the verdict, so that a fault can be reported; its lines don't."""
    failed = r.outcome("b", Status.RUNTIME_ERROR, diagnostic=r.failure())
    said = r.judged(r.run(), r.run("oracle", outcomes=(r.outcome("a"), failed))).tests[1].diagnostics[0]
    assert (f"({r.BOTH.en})" in said.what.en, f"（{r.BOTH.zh}）" in said.what.zh, said.frames) == (True, True, ())


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"is_complete": False, "end": End(kind=EndKind.SIGNALLED, signal="SIGSEGV")}, id="crashed"),
        pytest.param({"is_complete": False, "end": End(kind=EndKind.WALL_CLOCK)}, id="too slow"),
        pytest.param({"tests": (), "outcomes": (), "evidence": ()}, id="without tests"),
        pytest.param({"evidence": ()}, id="without evidence"),
    ],
)
def test_a_reference_that_did_not_serve_is_a_judge_error(changes):
    """A reference that crashed, timed out or recorded nothing never blames the learner."""
    assert r.judged(r.run(), r.run("oracle", **changes)).status == Status.JUDGE_ERROR


def test_what_can_not_be_loaded_needs_no_reference():
    """A syntax error stands on its own, also when the reference's run was ended early."""
    subject = r.run(
        tests=(),
        outcomes=(),
        evidence=(),
        load_status=Status.COMPILE_ERROR,
        diagnostics=(r.failure(DiagnosticKind.COMPILE),),
    )
    oracle = r.run("oracle", is_complete=False, outcomes=())
    verdict = r.judged(subject, oracle)
    assert verdict.status == Status.COMPILE_ERROR
    assert verdict.diagnostics[0].kind == DiagnosticKind.COMPILE
    assert verdict.total is None


@pytest.mark.parametrize(
    ("end", "status"),
    [
        pytest.param(End(kind=EndKind.SIGNALLED, signal="SIGSEGV"), Status.CRASHED, id="signal"),
        pytest.param(End(kind=EndKind.TEST_CLOCK), Status.TIMED_OUT, id="test clock"),
        pytest.param(End(kind=EndKind.WALL_CLOCK), Status.TIMED_OUT, id="wall clock"),
        pytest.param(End(kind=EndKind.EXITED, exit_code=0), Status.NO_RESULT, id="os._exit(0)"),
        pytest.param(End(kind=EndKind.EXITED, exit_code=3), Status.NO_RESULT, id="os._exit(3)"),
    ],
)
def test_a_run_that_broke_off_blames_the_running_test(end, status):
    """The test that ran when the process ended carries the reason; those after it are not judged."""
    subject = r.run(
        tests=(r.case("a"), r.case("b"), r.case("c")),
        outcomes=(r.outcome("a"),),
        is_complete=False,
        running_test="test_x.py::b",
        end=end,
    )
    oracle = r.run(
        "oracle",
        tests=(r.case("a"), r.case("b"), r.case("c")),
        outcomes=(r.outcome("a"), r.outcome("b"), r.outcome("c")),
        evidence=(r.evidence("a", 1), r.evidence("b", 2), r.evidence("c", 3)),
    )
    verdict = r.judged(subject, oracle)
    assert [test.status for test in verdict.tests] == [Status.ACCEPTED, status, Status.NOT_JUDGED]
    assert verdict.status == status
    assert any("did not run" in line.en for line in verdict.not_judged)


def test_what_follows_a_time_out_is_not_judged():
    """A test that timed out is the last of its run; those after it did not run."""
    subject = r.run(outcomes=(r.outcome("a", Status.TIMED_OUT),), evidence=())
    verdict = r.judged(subject)
    assert [test.status for test in verdict.tests] == [Status.TIMED_OUT, Status.NOT_JUDGED]
    assert verdict.status == Status.TIMED_OUT


def test_a_process_that_ends_after_its_last_test_is_not_accepted():
    """All tests passed, and then the process left without saying so: no result."""
    subject = r.run(is_complete=False, end=End(kind=EndKind.EXITED, exit_code=0))
    verdict = r.judged(subject)
    assert verdict.status == Status.NO_RESULT
    assert verdict.diagnostics[0].kind == DiagnosticKind.NO_RESULT


def test_a_child_that_never_greeted_is_a_judge_error():
    """What breaks before the solution is touched is a fault of ours."""
    subject = r.run(is_complete=False, versions={}, tests=(), outcomes=(), end=End(kind=EndKind.EXITED, exit_code=1))
    assert r.judged(subject).status == Status.JUDGE_ERROR


def test_records_that_can_not_be_trusted_are_no_result():
    """A malformed record ends the reading, and nothing after it counts."""
    assert r.judged(r.run(channel_fault="a record is not JSON")).status == Status.NO_RESULT


def test_a_figure_over_its_budget_is_wrong():
    """A measurement over the oracle's budget makes its test wrong and costs points of its score."""
    cases = (r.case("a"), r.case("b", budget={"time_ratio": 4.0}))
    oracle = r.run("oracle", tests=cases, measurements=(r.figure("b", 1.0),))
    subject = r.run(tests=(r.case("a"), r.case("b", budget={"time_ratio": 99.0})), measurements=(r.figure("b", 8.0),))
    verdict = r.judged(subject, oracle)
    assert verdict.tests[1].status == Status.WRONG
    time = next(score for score in verdict.scores if score.name == "time")
    assert (time.is_judged, time.measured, time.budget, time.points) == (True, 8.0, 4.0, 0.5)


def test_a_busy_machine_blames_nobody():
    """Where the reference too is over a budget of time, the test is not judged: neither passed nor our fault."""
    cases = (r.case("a"), r.case("b", budget={"time_ratio": 4.0}))
    failed = (r.outcome("a"), r.outcome("b", Status.WRONG, diagnostic=r.failure()))
    oracle = r.run("oracle", tests=cases, outcomes=failed, measurements=(r.figure("b", 5.0),))
    for outcomes in (failed, (r.outcome("a"), r.outcome("b"))):
        verdict = r.judged(r.run(tests=cases, outcomes=outcomes), oracle)
        assert [test.status for test in verdict.tests] == [Status.ACCEPTED, Status.NOT_JUDGED]
        assert verdict.status == Status.NOT_JUDGED


def test_an_author_may_say_why_a_figure_is_over_its_budget():
    """The sentence comes with the figure; the figure's name is in the reader's language."""
    look = {"en": "Is it launched one by one?", "zh": "是逐个启动的吗？"}
    cases = (r.case("a"), r.case("b", budget={"time_ratio": 4.0}))
    oracle = r.run("oracle", tests=cases, measurements=(r.figure("b", 1.0),))
    slow = r.figure("b", 8.0).model_copy(update={"look": Text(**look)})
    (found,) = r.judged(r.run(measurements=(slow,)), oracle).tests[1].diagnostics
    assert ("Over the budget: time", "超出预算：时间") == (found.what.en, found.what.zh)
    assert look == found.look.model_dump()


def test_a_figure_that_is_nan_is_over_its_budget():
    """NaN is below nothing."""
    cases = (r.case("a"), r.case("b", budget={"time_ratio": 4.0}))
    subject = r.run(tests=cases, measurements=(r.figure("b", float("nan")),))
    assert r.judged(subject, r.run("oracle", tests=cases)).tests[1].status == Status.WRONG


def test_a_budget_without_a_figure_is_no_result():
    """A test with a budget must measure."""
    cases = (r.case("a"), r.case("b", budget={"time_ratio": 4.0}))
    assert r.judged(r.run(tests=cases), r.run("oracle", tests=cases)).tests[1].status == Status.NO_RESULT


def test_a_score_that_was_not_measured_is_not_judged():
    """A weighted score without a figure says that it was not judged and does not enter the total."""
    verdict = r.judged(r.run())
    time = next(score for score in verdict.scores if score.name == "time")
    assert (time.is_judged, time.points) == (False, None)
    assert time.note is not None


def test_the_cpu_is_named_among_what_was_not_judged():
    """A run on the CPU says in words what it does not speak about."""
    assert "CPU" in r.judged(r.run(), device="cpu").not_judged[0].en


def test_severity_has_one_order():
    """From accepted to judge error, each status is more severe than the one before."""
    assert [status.value for status in sorted(Status, key=lambda status: status.severity)] == [
        "accepted", "not_judged", "wrong", "runtime_error", "timed_out", "crashed", "no_result", "compile_error",
        "judge_error",
    ]  # fmt: skip
    assert worst([Status.ACCEPTED, Status.WRONG, Status.NOT_JUDGED]) == Status.WRONG
    assert worst([]) == Status.NO_RESULT


def test_what_breaks_beside_the_submission_alone_is_no_fault_of_ours():
    """A submission that breaks the tests from inside is not accepted, and can't end as the judge's fault."""
    broken = (r.outcome("a"), r.outcome("b", Status.JUDGE_ERROR))
    assert r.judged(r.run(outcomes=broken)).status == Status.NO_RESULT
    unloaded = r.run(tests=(), outcomes=(), load_status=Status.JUDGE_ERROR, diagnostics=(r.failure(),))
    assert r.judged(unloaded).status == Status.NO_RESULT


def test_a_figure_that_a_failure_kept_from_being_taken_counts_nothing():
    """Failing before the measurement does not raise the total."""
    cases = (r.case("a"), r.case("b", budget={"time_ratio": 4.0}))
    oracle = r.run("oracle", tests=cases, measurements=(r.figure("b", 1.0),))
    failed = (r.outcome("a"), r.outcome("b", Status.WRONG, diagnostic=r.failure()))
    verdict = r.judged(r.run(tests=cases, outcomes=failed), oracle)
    time = next(score for score in verdict.scores if score.name == "time")
    assert (time.is_judged, time.points, time.measured) == (True, 0.0, None)
    assert verdict.total == 0.75 * 0.5


def test_one_figure_does_not_stand_for_those_that_failures_kept_from_being_taken():
    """A solution that waits fails one test before its waits are counted: another test's zero is not its score."""
    cases = (r.case("a", budget={"time_ratio": 4.0}), r.case("b", budget={"time_ratio": 4.0}))
    oracle = r.run("oracle", tests=cases, measurements=(r.figure("a", 1.0), r.figure("b", 1.0)))
    failed = (r.outcome("a", Status.WRONG, diagnostic=r.failure()), r.outcome("b"))
    verdict = r.judged(r.run(tests=cases, outcomes=failed, measurements=(r.figure("b", 1.0),)), oracle)
    time = next(score for score in verdict.scores if score.name == "time")
    assert (time.is_judged, time.points, time.measured) == (True, 0.0, None)


def test_the_worst_of_several_figures_is_the_score():
    """Wherever it was taken."""
    cases = (r.case("a", budget={"time_ratio": 4.0}), r.case("b", budget={"time_ratio": 4.0}))
    oracle = r.run("oracle", tests=cases, measurements=(r.figure("a", 1.0), r.figure("b", 1.0)))
    figures = (r.figure("a", 1.0), r.figure("a", 8.0), r.figure("b", 2.0))
    verdict = r.judged(r.run(tests=cases, measurements=figures), oracle)
    time = next(score for score in verdict.scores if score.name == "time")
    assert (time.points, time.measured) == (0.5, 8.0)


def test_what_does_not_compile_is_not_said_to_have_reached_anything():
    """A source that never ran could use neither files nor network."""
    subject = r.run(tests=(), outcomes=(), load_status=Status.COMPILE_ERROR, diagnostics=(r.failure(),))
    assert r.judged(subject).not_judged == ()
