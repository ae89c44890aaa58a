"""A snapshot of three training steps on an H200; where it comes from stands in ``goldens/README.md``."""

from __future__ import annotations

from typing import Any

import pytest

MIB = 1 << 20
UNUSED_MIB = [2] * 6 + [20] * 4
FORWARD_LINE = 104


def find_step_starts(snapshot: dict[str, Any]) -> list[int]:
    """Return when each step began: at its first forward, and after that when the optimizer was done."""
    trace = snapshot["device_traces"][0]
    first = next(it["time_us"] for it in trace if any(frame["line"] == FORWARD_LINE for frame in it["frames"]))
    steps = [it for it in snapshot["external_annotations"] if "step" in it["name"] and it["stage"] == "END"]
    return [first, *(it["time_us"] for it in steps[:-1])]


@pytest.mark.weight(2)
def test_the_peak_of_the_training_run(detect: Any, real_snapshot: dict[str, Any]) -> None:
    """The trace is whole, so the peak is a plain running sum; activations lead, then the optimizer.

    zh: 轨迹是完整的，峰值就是简单的累加；激活最多，其次是优化器。
    """
    found = detect.find_peak(real_snapshot)
    expected = (
        ("workload.py:104", 139_583_488),
        ("workload.py:108", 77_729_796),
        ("(unknown)", 71_370_752),
        ("workload.py:106", 37_816_320),
    )
    look = (
        "Events without frames come from autograd's own thread; libraries are passed over for the program's line.",
        "没有栈帧的事件来自 autograd 自己的线程；库的栈帧要跳过，找到程序自己的那一行。",
    )
    what = ("The peak of the real snapshot", "真实快照的峰值")
    detect.expect.equal((found.size_bytes, found.event), (326_500_356, 1276), what, look)
    detect.expect.equal(found.owners, expected, ("Its owners", "峰值的所有者"), look)
    detect.record()


@pytest.mark.weight(2)
@pytest.mark.parametrize("cut", [129, 715, 1293, 1857], ids=["set-up", "step_1", "step_2", "all"])
def test_the_real_trace_with_a_lost_beginning(detect: Any, real_snapshot: dict[str, Any], cut: int) -> None:
    """As a ring buffer that has kept only the end of it.

    zh: 就像环形缓冲区只留下了结尾。
    """
    del real_snapshot["device_traces"][0][:cut]
    found = detect.find_peak(real_snapshot)
    allocated = sum(
        block["requested_size"]
        for segment in real_snapshot["segments"]
        for block in segment["blocks"]
        if block["state"] == "active_allocated"
    )
    look = (
        "What was there before the trace: blocks of the snapshot that it never mentions, and what it frees unseen.",
        "轨迹之前已有的：快照里有而轨迹从未提到的块，以及轨迹里释放却没见过分配的块。",
    )
    what = ("The peak can't be less than what is allocated at the end", "峰值不可能小于最后已分配的字节数")
    detect.expect.true(found.size_bytes >= allocated, what, look)
    if not real_snapshot["device_traces"][0]:
        detect.expect.equal((found.size_bytes, found.event), (allocated, -1), what, look)
    detect.record()


def test_the_training_run_does_not_leak(detect: Any, expect: Any, real_snapshot: dict[str, Any]) -> None:
    """Adam's state is made once, and the last step's gradients and loss are still held: no candidates.

    zh: Adam 的状态只建一次，最后一步的梯度和 loss 还被拿着：没有可疑之处。
    """
    starts = find_step_starts(real_snapshot)
    what = ("The training run has no leak", "这次训练没有泄漏")
    look = (
        "Survivors of at least two steps count; those of the set-up and of the last step don't.",
        "至少两个步都有存活的块才算；准备阶段的和最后一步的不算。",
    )
    expect.equal(detect.find_leaks(real_snapshot, starts), [], what, look)
    detect.record()


def test_the_segments_of_the_training_run(detect: Any, real_snapshot: dict[str, Any]) -> None:
    """28 segments: four of 20 MiB and six of 2 MiB are unused, and the largest request is 20 MiB.

    zh: 28 个段：没人用的有 20 MiB 的四个、2 MiB 的六个；最大的请求是 20 MiB。
    """
    reports = detect.inspect_segments(real_snapshot)
    unused = sorted(it.size_bytes // MIB for it in reports if not it.holders)
    look = ("A segment without a block in use is unused.", "没有任何块在用的段就是没人用的。")
    detect.expect.equal(unused, UNUSED_MIB, ("The unused segments, in MiB", "没人用的段，单位 MiB"), look)
    detect.expect.equal(
        detect.find_largest_request(real_snapshot), 20 * MIB, ("The largest request", "最大的请求"), look
    )
    detect.record()
