"""What the gallery of verdicts is put together from."""

from __future__ import annotations

from datetime import UTC, datetime

from judge.models.base import Text
from judge.models.conditions import DeviceChoice, Isolation, Missing
from judge.models.record import Diagnostic, DiagnosticKind, Frame
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
                    fix=both("Judge only code that you would run yourself.", "只评测你自己也愿意直接运行的代码。"),
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
    picture=both(
        "segment 0x0, small pool, 2 MiB\n"
        "0x000  ########........########................\n"
        "       block 2 free    block 4 free\n"
        "                       ^ freed here",
        "段 0x0，小池，2 MiB\n"
        "0x000  ########........########................\n"
        "       块 2  空闲      块 4  空闲\n"
        "                       ^ 这里刚被释放",
    ),
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
    note=both("Time is not judged on the CPU.", "在 CPU 上不评测时间。"),
)
REAL_GPU_LEFT_OUT = both(
    "Whether the decisions are those of the real GPU: no CUDA device answered.",
    "决策是否与真实 GPU 一致：没有可用的 CUDA 设备。",
)
FIRST_TWO = (outcome("test_rounds_up"), outcome("test_pools"))
UNRUN = (outcome("test_best_fit", Status.NO_RESULT), outcome("test_cost", Status.NO_RESULT))
