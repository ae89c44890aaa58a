"""Where the host waits, what is held between the steps, and what the caller may do with the tensors meanwhile."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch
from support_steps import Step, draw_step

STEPS = 10
FLUSH_EVERY = 4
WAITS = 3
"""⌈10 / 4⌉."""
HELD_BYTES = 4096
ROWS, CLASSES = 64, 4096
LOGITS_BYTES = ROWS * CLASSES * 2
PEAK_BYTES = 5 * LOGITS_BYTES

LOOK_HELD = (
    "Is something kept of each step until the report: a sum, a tensor in a list, the graph of the losses? A running "
    "figure needs a handful of numbers, however many steps there are.",
    "是不是到报告之前每一步都留着什么：一个和、列表里的一个张量、损失的图？累计数值不论多少步，只需要寥寥几个数。",
)


@pytest.mark.weight(3)
@pytest.mark.budget(syncs=WAITS)
def test_one_wait_a_report(loop: Any, rng: Random, watch: Any, expect: Any, measure: Any, device: str) -> None:
    """Ten steps with a report every four: the host waits three times, whatever the rows hold.

    zh: 十步，每四步报告一次：不论行里是什么，主机只等三次。
    """
    steps = [draw_step(rng, rows, ignored=0.3) for rows in (5, 0, 7, 1, 3, 5, 8, 2, 0, 4)]
    placed = [step.move(device) for step in steps]
    with watch() as seen:
        meter = loop.solution.RunningMetrics(FLUSH_EVERY)
        reports = [meter.update(*step) for step in placed]
        reports.append(meter.flush())
    look = (
        "Figures, conditions and shapes that hang on values of the device are what makes the host wait. What a report "
        "needs can come in one tensor.",
        "让主机等待的，是取决于设备上数值的数字、条件和形状。一次报告所需的一切，可以放在一个张量里一起过来。",
    )
    measure("syncs", len(seen.syncs), "", places=seen.places, look=look)
    expect.waits(seen, most=WAITS, look=look)
    told = [report.samples for report in reports if report is not None]
    loop.evidence.exact("samples", told)


def test_a_step_does_not_wait(loop: Any, rng: Random, expect: Any, device: str) -> None:
    """The device is busy; updates without a report return while it still is.

    zh: 设备正忙；没有报告的 update 在它忙完之前就返回。
    """
    steps = [draw_step(rng, 6).move(device) for _ in range(3)]
    meter = loop.solution.RunningMetrics(4)
    meter.update(*steps[0])
    torch.cuda._sleep(40_000_000)
    done = torch.cuda.Event()
    done.record()
    for step in steps[1:]:
        meter.update(*step)
    is_over = done.query()
    expect.true(
        not is_over,
        ("update() waited for the device, though no report was due", "没有到报告的时候，update() 却等了设备"),
        expected="busy",
        actual="over",
    )
    loop.evidence.exact("samples", meter.flush().samples)


def test_the_caller_overwrites_its_tensors(loop: Any, rng: Random, device: str) -> None:
    """The loop has one set of tensors, as a CUDA graph does, and overwrites it in each step.

    zh: 循环像 CUDA graph 那样只有一组张量，每一步都改写它们。
    """
    steps = [draw_step(rng, 6, ignored=0.2) for _ in range(5)]
    static = steps[0].move(device)

    def place(step: Step) -> Any:
        for target, source in zip(static, (step.losses, step.logits, step.labels), strict=True):
            target.copy_(source)
        return static

    loop.run(5, steps, place=place)


@pytest.mark.weight(2)
@pytest.mark.budget(held_bytes=HELD_BYTES)
@pytest.mark.parametrize("follows", [False, True], ids=["plain", "autograd"])
def test_nothing_piles_up(loop: Any, rng: Random, expect: Any, measure: Any, device: str, follows: bool) -> None:
    """However many steps lie between two reports, the device holds no more; nor does it hold a step's graph.

    zh: 两次报告之间不论有多少步，设备上占用的都不增加；也不留着哪一步的图。
    """
    weight = torch.ones(256, device=device, requires_grad=follows)
    step = draw_step(rng, 256)
    losses, logits, labels = step.move(device)
    meter = loop.solution.RunningMetrics(1000)
    meter.update(losses * weight, logits * weight[:, None], labels)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(16):
        meter.update(losses * weight, logits * weight[:, None], labels)
    held = torch.cuda.memory_allocated() - before
    measure("held_bytes", max(held, 0), "B", look=LOOK_HELD)
    what = ("The device holds more with each step", "每过一步，设备上占用的就更多")
    expect.true(held <= HELD_BYTES, what, LOOK_HELD, expected=f"≤ {HELD_BYTES} bytes", actual=f"{held} bytes")
    loop.evidence.exact("samples", meter.flush().samples)


@pytest.mark.budget(memory_bytes=PEAK_BYTES)
def test_an_update_needs_little_memory(loop: Any, rng: Random, watch: Any, measure: Any, device: str) -> None:
    """Beside its inputs an update takes at most five times the bytes of half logits.

    zh: 除输入外，一次 update 最多占用半精度 logits 的五倍字节。
    """
    placed = draw_step(rng, ROWS, CLASSES, torch.bfloat16).move(device)
    meter = loop.solution.RunningMetrics(3)
    meter.update(*placed)
    torch.cuda.synchronize()
    with watch() as seen:
        meter.update(*placed)
    look = (
        "How many copies of the logits live at once, and in which dtype? For this precision, float32 is enough.",
        "同时有几份 logits，各是什么 dtype？要达到这个精度，float32 就够了。",
    )
    measure("memory_bytes", seen.peak_growth_bytes, "B", look=look)
    loop.evidence.exact("samples", meter.flush().samples)
