"""A gallery of verdicts: one for every status, and the awkward ones."""

from __future__ import annotations

from datetime import UTC, datetime

from judge.models.base import Text
from judge.models.conditions import DeviceChoice, Isolation, Missing
from judge.models.record import Diagnostic, DiagnosticKind, Frame, Measurement
from judge.models.status import Status
from judge.models.verdict import ProblemName, Score, SubmissionName, TestVerdict, Verdict

FILE = "practice/101_caching_allocator.py"
TESTS = "test_caching_allocator.py"

OWN_FRAME = Frame(file=FILE, line=88, function="free", code="self._free[block.pool].append(block)")
TEST_FRAME = Frame(
    file=TESTS, line=41, function="test_neighbours_merge", code="expect.equal(allocator.memory_reserved(),"
)

HOSTILE = "\x1b[31mred\x1b[0m \x9b2J \u202egnp.exe\u202c a\u200bb \ue000 [bold]markup[/bold] <b>&amp; ]]> \x00\x7f\r"

TITLES = {
    "test_rounds_up": Text(en="A request is rounded up to a multiple of 512", zh="请求向上取整到 512 的倍数"),
    "test_pools": Text(en="Small and large requests use pools of their own", zh="小请求和大请求各用自己的池"),
    "test_neighbours_merge": Text(en="A freed block merges with its free neighbours", zh="释放的块与相邻的空闲块合并"),
    "test_best_fit": Text(en="The smallest sufficient block is lent", zh="借出够用的最小块"),
    "test_out_of_memory": Text(
        en="When the driver is out of memory, wholly free segments go back and it is asked once more",
        zh="驱动显存不足时，先归还完全空闲的段，再向它申请一次",
    ),
    "test_cost": Text(en="The cost of a call does not grow with the live blocks", zh="单次调用的代价不随存活块数增长"),
    "test_real_gpu": Text(en="The decisions are those of the real GPU's trace", zh="决策与真实 GPU 的轨迹一致"),
}


def outcome(name: str, status: Status = Status.ACCEPTED, *diagnostics: Diagnostic, **changes: object) -> TestVerdict:
    """Return the verdict on one of the gallery's tests."""
    fields: dict[str, object] = {
        "id": f"{TESTS}::{name}",
        "title": TITLES[name],
        "status": status,
        "weight": 1.0,
        "is_required": True,
        "duration_s": None if status is Status.NO_RESULT else 0.012,
        "diagnostics": diagnostics,
    }
    return TestVerdict.model_validate(fields | changes)


def both(en: str, zh: str) -> Text:
    """Return a text of both languages."""
    return Text(en=en, zh=zh)


def correctness(points: float, measured: int, of: int) -> Score:
    """Return the score of correctness."""
    return Score(
        name="correctness", weight=3, is_judged=True, points=points, measured=measured, budget=of, unit="tests"
    )


def verdict(status: Status, tests: tuple[TestVerdict, ...], **changes: object) -> Verdict:
    """Return a verdict under the gallery's usual conditions."""
    count = sum(test.status is Status.ACCEPTED for test in tests)
    share = count / len(tests) if tests else 0.0
    fields: dict[str, object] = {
        "problem": ProblemName(
            number=101, slug="caching_allocator", title=both("A caching allocator", "带缓存的显存分配器")
        ),
        "submission": SubmissionName(path=FILE, sha256="ab" * 32, size_bytes=4096),
        "status": status,
        "scores": (correctness(share, count, len(tests)),),
        "total": share,
        "tests": tests,
        "device": DeviceChoice(
            kind="cpu",
            why=both(
                "no CUDA device answers here: the driver sees no device",
                "这台机器上没有可用的 CUDA 设备：驱动没有看到任何设备",
            ),
        ),
        "isolation": Isolation(
            level="L0",
            enforced=(
                both("fresh process", "全新进程"),
                both("private directory", "私有目录"),
                both("wall clock outside the process", "进程外的计时"),
            ),
            missing=(
                Missing(
                    what=both("network", "网络"),
                    why=both("The submission could use the network.", "提交的代码可以访问网络。"),
                    fix=both("Judge only code that you would run yourself.", "只评判你自己也愿意直接运行的代码。"),
                ),
                Missing(
                    what=both("host memory", "主机内存"), why=both("Host memory was not limited.", "没有限制主机内存。")
                ),
            ),
        ),
        "seed": 184467,
        "started_at": datetime(2026, 1, 31, 12, 0, tzinfo=UTC),
        "wall_s": 3.21,
        "versions": {"python": "3.12.3", "torch": "2.11.0"},
    }
    return Verdict.model_validate(fields | changes)


MERGE = Diagnostic(
    kind=DiagnosticKind.MISMATCH,
    what=both(
        "Event 17, `free(block 4)`: `memory_reserved()` is not what the rules give.",
        "事件 17 `free(block 4)`：`memory_reserved()` 与规则不符。",
    ),
    expected="2097152",
    actual="4194304",
    look=both(
        "The freed block has a free neighbour at 0x600. Was it merged before the next request looked for room?",
        "释放的块在 0x600 处有一个空闲邻块。在下一次请求寻找空间之前，它合并了吗？",
    ),
    picture="segment 0x0, small pool, 2 MiB\n"
    "0x000  ########........########................\n"
    "       block 2 free    block 4 free\n"
    "                       ^ freed here",
    frames=(TEST_FRAME, OWN_FRAME),
    folded=11,
)
SNAPSHOT = Diagnostic(
    kind=DiagnosticKind.EVIDENCE,
    what=both("The snapshot after event 23 differs.", "事件 23 之后的快照不同。"),
    expected="[(0, 2097152, 0, [(0, 512, True), (512, 1536, False), (2048, 1024, True), (3072, 2094080, False)])]",
    actual="[(0, 2097152, 0, [(0, 512, True), (512, 512, False), (1024, 1024, False), (2048, 1024, True), "
    "(3072, 2094080, False)])]",
)
RAISED = Diagnostic(
    kind=DiagnosticKind.EXCEPTION,
    what=both("`malloc(1536)` raised KeyError: 1536", "`malloc(1536)` 抛出 KeyError: 1536"),
    frames=(
        TEST_FRAME,
        Frame(file=FILE, line=52, function="malloc", code="block = self._pick(rounded, stream)"),
        Frame(file=FILE, line=61, function="_pick", code="return self._bins[size].pop()"),
    ),
    folded=9,
    look=both("Sizes between the bins have no list of their own.", "介于两个档位之间的大小没有自己的链表。"),
)
NOT_WRITTEN = Diagnostic(
    kind=DiagnosticKind.EXCEPTION,
    what=both("`empty_cache` is not written yet.", "`empty_cache` 还没有写。"),
    frames=(Frame(file=FILE, line=102, function="empty_cache", code="raise NotImplementedError"),),
)
NEEDS_GPU = Diagnostic(kind=DiagnosticKind.SKIPPED, what=both("It needs a CUDA device.", "需要 CUDA 设备。"))
NO_TIME = Score(
    name="time",
    weight=1,
    is_judged=False,
    budget=4.0,
    unit="x",
    note=both("Time is not judged on the CPU.", "在 CPU 上不评判时间。"),
)
REAL_GPU_LEFT_OUT = both(
    "Whether the decisions are those of the real GPU: no CUDA device answered.",
    "决策是否与真实 GPU 一致：没有可用的 CUDA 设备。",
)
FIRST_TWO = (outcome("test_rounds_up"), outcome("test_pools"))
UNRUN = (outcome("test_best_fit", Status.NO_RESULT), outcome("test_cost", Status.NO_RESULT))


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
        picture="    def malloc(self, size, stream=0)\n                                    ^",
        frames=(Frame(file=FILE, line=31, function="<module>", code="def malloc(self, size, stream=0)"),),
    )
    return verdict(Status.COMPILE_ERROR, (), diagnostics=(diagnostic,), total=None)


def not_judged() -> Verdict:
    """Return a verdict on a machine without a GPU, for a problem that needs one."""
    tests = (
        outcome("test_real_gpu", Status.NOT_JUDGED, NEEDS_GPU),
        outcome("test_cost", Status.NOT_JUDGED, NEEDS_GPU),
    )
    unjudged = Score(
        name="correctness", weight=1, is_judged=False, note=both("No test was judged.", "没有评判任何测试。")
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
        picture=HOSTILE,
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
        timed_out,
        crashed,
        no_result,
        compile_error,
        not_judged,
        judge_error,
        hostile,
    )
}
