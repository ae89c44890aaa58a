"""A gallery of verdicts: one for every status, and the awkward ones."""

from __future__ import annotations

from samples import (
    FILE,
    FIRST_TWO,
    HOSTILE,
    MERGE,
    NEEDS_GPU,
    NO_TIME,
    NOT_WRITTEN,
    RAISED,
    REAL_GPU_LEFT_OUT,
    SNAPSHOT,
    TESTS,
    TITLES,
    UNRUN,
    both,
    correctness,
    outcome,
    verdict,
)

from judge.models.conditions import DeviceChoice
from judge.models.record import Diagnostic, DiagnosticKind, Frame, Measurement
from judge.models.status import Status
from judge.models.verdict import Score, SubmissionName, Verdict


def accepted() -> Verdict:
    """Return a verdict with everything right."""
    tests = tuple(outcome(name) for name in TITLES if name != "test_real_gpu")
    return verdict(Status.ACCEPTED, tests, scores=(correctness(1.0, 6, 6),), total=1.0)


def accepted_in_part() -> Verdict:
    """Return an accepted verdict with lost points, a warning, an optional failure and a test that was not judged."""
    optional = outcome("test_cost", Status.WRONG, SNAPSHOT, is_required=False)
    tests = (*FIRST_TWO, optional, outcome("test_real_gpu", Status.NOT_JUDGED, NEEDS_GPU))
    warning = Diagnostic(
        kind=DiagnosticKind.WARNING,
        what=both('SyntaxWarning: "is" with a literal', 'SyntaxWarning："is" 用在了字面量上'),
        frames=(Frame(file=FILE, line=9, function="<module>", code="if size is 512:"),),
    )
    memory = Score(
        name="memory", weight=1, is_judged=True, points=0.804, measured=52_428_800, budget=41_943_040, unit="bytes"
    )
    return verdict(
        Status.ACCEPTED,
        tests,
        scores=(correctness(1.0, 2, 2), memory, NO_TIME),
        total=0.951,
        diagnostics=(warning,),
        not_judged=(REAL_GPU_LEFT_OUT,),
    )


def wrong() -> Verdict:
    """Return a verdict with several failures of different kinds."""
    tests = (
        *FIRST_TWO,
        outcome("test_neighbours_merge", Status.WRONG, MERGE, SNAPSHOT, output="merging 4\nno neighbour found\n"),
        outcome("test_best_fit", Status.WRONG, SNAPSHOT),
        outcome("test_out_of_memory", Status.WRONG, NOT_WRITTEN),
        outcome("test_cost"),
        outcome("test_real_gpu", Status.NOT_JUDGED, NEEDS_GPU),
    )
    return verdict(
        Status.WRONG, tests, scores=(correctness(0.5, 3, 6), NO_TIME), total=0.5, not_judged=(REAL_GPU_LEFT_OUT,)
    )


def wrong_snapshot() -> Verdict:
    """Return a verdict whose first difference lies deep in a long value."""
    return verdict(Status.WRONG, (*FIRST_TWO, outcome("test_best_fit", Status.WRONG, SNAPSHOT)))


def over_budget() -> Verdict:
    """Return a verdict on a test that waits for the device too often."""
    line = Frame(file="practice/201_sampler.py", line=30, function="sample", code="if bool((probs > limit).any()):")
    other = Frame(file="practice/201_sampler.py", line=44, function="sample", code="return choice.item()")
    places = (line,) * 8 + (other,) * 4
    waits = Measurement(test=f"{TESTS}::test_cost", name="syncs", value=12, places=places)
    diagnostic = Diagnostic(
        kind=DiagnosticKind.BUDGET,
        what=both("The host waited 12 times in 4 steps.", "主机在 4 步里等待了 12 次。"),
        expected="at most 0",
        actual="12",
    )
    score = Score(name="syncs", weight=2, is_judged=True, points=0, measured=12, budget=0)
    return verdict(
        Status.WRONG,
        (*FIRST_TWO, outcome("test_cost", Status.WRONG, diagnostic, measurements=(waits,))),
        scores=(correctness(2 / 3, 2, 3), score),
        total=0.4,
        device=DeviceChoice(kind="cuda", why=both("a CUDA device answered", "检测到可用的 CUDA 设备")),
    )


def runtime_error() -> Verdict:
    """Return a verdict on a submission that raises."""
    output = "".join(f"bin {size}: {size // 512} blocks\n" for size in range(512, 20_000, 512))
    return verdict(
        Status.RUNTIME_ERROR,
        (*FIRST_TWO, outcome("test_best_fit", Status.RUNTIME_ERROR, RAISED, output=output)),
    )


def wrong_before_an_error() -> Verdict:
    """Return a verdict that is named after a later failure than the first one; it lies deep in a recursion."""
    frames = RAISED.frames[:1] + RAISED.frames[-1:] * 5
    tests = (
        *FIRST_TWO,
        outcome("test_neighbours_merge", Status.WRONG, MERGE),
        outcome("test_best_fit", Status.RUNTIME_ERROR, RAISED.model_copy(update={"frames": frames})),
        outcome("test_cost", Status.WRONG, SNAPSHOT),
    )
    return verdict(Status.RUNTIME_ERROR, tests)


def timed_out() -> Verdict:
    """Return a verdict on a submission that did not stop."""
    diagnostic = Diagnostic(
        kind=DiagnosticKind.TIMEOUT,
        what=both("The test took longer than 10 s, so the run was ended.", "测试超过 10 秒，运行已被终止。"),
        frames=(Frame(file=FILE, line=70, function="_merge", code="while left.free:"),),
        look=both("Does every turn of the loop come closer to its end?", "循环的每一轮都更接近结束吗？"),
    )
    tests = (*FIRST_TWO, outcome("test_neighbours_merge", Status.TIMED_OUT, diagnostic), *UNRUN)
    return verdict(Status.TIMED_OUT, tests, output="merging\nmerging\n", output_dropped_bytes=98_304)


def crashed() -> Verdict:
    """Return a verdict on a process that died of a signal during a test."""
    diagnostic = Diagnostic(
        kind=DiagnosticKind.CRASH,
        what=both("The process died of SIGSEGV while this test ran.", "运行这个测试时，进程因 SIGSEGV 终止。"),
        frames=(Frame(file=FILE, line=17, function="read", code="return ctypes.string_at(address, size)"),),
    )
    tests = (*FIRST_TWO, outcome("test_neighbours_merge", Status.CRASHED), *UNRUN)
    return verdict(Status.CRASHED, tests, diagnostics=(diagnostic,), output="reading 0x10\n")


def no_result() -> Verdict:
    """Return a verdict on a process that left before it had reported."""
    diagnostic = Diagnostic(
        kind=DiagnosticKind.NO_RESULT,
        what=both(
            "The process ended with exit code 0 before the tests had finished.",
            "测试还没跑完，进程就以退出码 0 结束了。",
        ),
        look=both(
            "Does the code call `os._exit`, `sys.exit` or `quit`?", "代码里有没有 `os._exit`、`sys.exit` 或 `quit`？"
        ),
    )
    return verdict(Status.NO_RESULT, (*FIRST_TWO, *UNRUN), diagnostics=(diagnostic,))


def compile_error() -> Verdict:
    """Return a verdict on a file that is no Python program."""
    diagnostic = Diagnostic(
        kind=DiagnosticKind.COMPILE,
        what=both("SyntaxError: expected ':'", "SyntaxError：缺少 ':'"),
        picture=both(*2 * ["    def malloc(self, size, stream=0)\n                                    ^"]),
        frames=(Frame(file=FILE, line=31, function="<module>", code="def malloc(self, size, stream=0)"),),
    )
    unjudged = Score(name="correctness", weight=1, is_judged=False, note=both("No run.", "没有运行。"))
    return verdict(Status.COMPILE_ERROR, (), diagnostics=(diagnostic,), scores=(unjudged,), total=None)


def not_judged() -> Verdict:
    """Return a verdict on a machine without a GPU, for a problem that needs one."""
    tests = (
        outcome("test_real_gpu", Status.NOT_JUDGED, NEEDS_GPU),
        outcome("test_cost", Status.NOT_JUDGED, NEEDS_GPU),
    )
    unjudged = Score(
        name="correctness", weight=1, is_judged=False, note=both("No test was judged.", "没有评测任何测试。")
    )
    return verdict(Status.NOT_JUDGED, tests, scores=(unjudged,), total=None, not_judged=(REAL_GPU_LEFT_OUT,))


def judge_error() -> Verdict:
    """Return a verdict that says that the reference failed."""
    diagnostic = Diagnostic(
        kind=DiagnosticKind.JUDGE,
        what=both("The reference solution did not finish its tests.", "参考解法没有跑完测试。"),
        look=both("Report this with the seed below.", "请附上下面的种子报告此问题。"),
    )
    return verdict(Status.JUDGE_ERROR, (), diagnostics=(diagnostic,), total=None, scores=())


def hostile() -> Verdict:
    """Return a verdict in which every text of the learner's tries to break the report."""
    diagnostic = Diagnostic(
        kind=DiagnosticKind.EXCEPTION,
        what=both(f"It raised {HOSTILE}", f"抛出 {HOSTILE}"),
        expected=HOSTILE,
        actual=HOSTILE + "\n" + "x" * 5_000,
        picture=both(HOSTILE, HOSTILE),
        look=both(HOSTILE, HOSTILE),
        frames=(Frame(file=HOSTILE, line=1, function=HOSTILE, code=HOSTILE),),
    )
    test = outcome(
        "test_cost", Status.WRONG, diagnostic, id=f"{TESTS}::{HOSTILE}", title=both(HOSTILE, HOSTILE), output=HOSTILE
    )
    return verdict(
        Status.WRONG,
        (test,),
        submission=SubmissionName(path=HOSTILE, sha256="0" * 64, size_bytes=1),
        versions={HOSTILE: HOSTILE},
        output=HOSTILE,
    )


GALLERY = {
    made.__name__: made()
    for made in (
        accepted,
        accepted_in_part,
        wrong,
        wrong_snapshot,
        over_budget,
        runtime_error,
        wrong_before_an_error,
        timed_out,
        crashed,
        no_result,
        compile_error,
        not_judged,
        judge_error,
        hostile,
    )
}
