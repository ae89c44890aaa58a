"""Which lines leave something behind in one step after the other."""

from __future__ import annotations

from typing import Any

import pytest
from support_story import KIB, MIB, Story

LOOK = (
    "Survivors of at least two steps count; those of the set-up and of the last step don't.",
    "至少两个步都有存活的块才算；准备阶段的和最后一步的不算。",
)


def check(detect: Any, snapshot: Any, starts: list[int], expected: list[tuple[Any, ...]], device: int = 0) -> None:
    """Compare the solution's leaks, written as tuples."""
    __tracebackhide__ = True
    leaks = detect.find_leaks(snapshot, starts, device)
    actual = [(leak.site, leak.size_bytes, leak.steps) for leak in leaks]
    what = ("find_leaks() names other leaks", "find_leaks() 给出的泄漏不对")
    detect.expect.equal(actual, expected, what, LOOK)


def run(steps: int, leaks: dict[int, tuple[int, ...]], device: int = 0, rng: Any = None) -> tuple[Story, list[int]]:
    """Return a story of steps with weights, activations, a last output, and leaks, and when the steps began.

    Args:
        steps: how many.
        leaks: by line, the steps in which it leaves 1 KiB more than its number behind.
        device: index of the device.
        rng: for activations of random number.
    """
    story = Story(device)
    story.alloc(12 * MIB, 10)
    starts = []
    for step in range(steps):
        starts.append(story.wait(1000))
        story.wait(1000)
        acts = [story.alloc(3 * MIB, 20) for _ in range(rng.randrange(1, 4) if rng else 2)]
        for line, when in leaks.items():
            if step in when:
                story.alloc(KIB + line, line)
        if step == 0:
            story.alloc(8 * MIB, 30)  # state that an optimizer makes once
        if step == steps - 1:
            story.alloc(100 * KIB, 40)  # what the caller still holds
        for act in acts:
            story.free(act)
    return story, starts


def test_what_piles_up_is_named(detect: Any) -> None:
    """A line that keeps a block of every step is named, with the bytes and the steps.

    zh: 每一步都留下一块的那一行要报出来，连同字节数和步号。
    """
    story, starts = run(4, {51: (0, 1, 2, 3)})
    check(detect, story.snapshot(), starts, [("serve.py:51", 3 * (KIB + 51), (0, 1, 2))])
    detect.record()


def test_what_is_made_once_is_no_leak(detect: Any) -> None:
    """Weights of the set-up, state of the first step and the last step's output stay, and are no leak.

    zh: 准备阶段的权重、第一步建立的状态、最后一步的输出都留着，但不是泄漏。
    """
    story, starts = run(3, {})
    check(detect, story.snapshot(), starts, [])
    story, starts = run(3, {51: (1, 2), 52: (0,)})
    check(detect, story.snapshot(), starts, [])
    detect.record()


def test_a_leak_may_skip_steps(detect: Any) -> None:
    """Two steps are enough, and they need not follow one another.

    zh: 两步就够，也不必相邻。
    """
    story, starts = run(6, {51: (1, 4), 52: (0, 5)})
    check(detect, story.snapshot(), starts, [("serve.py:51", 2 * (KIB + 51), (1, 4))])
    detect.record()


def test_an_address_that_was_freed_before_may_leak(detect: Any) -> None:
    """The leaked block lies where another one was freed: the last event at its address counts.

    zh: 泄漏的块落在之前释放过的地址上：以该地址的最后一个事件为准。
    """
    story = Story()
    starts = []
    for _ in range(4):
        starts.append(story.wait(100))
        story.free(story.alloc(2 * KIB, 20))
        story.alloc(2 * KIB, 51)
    check(detect, story.snapshot(), starts, [("serve.py:51", 6 * KIB, (0, 1, 2))])
    detect.record()


def test_a_block_that_waits_is_no_leak(detect: Any) -> None:
    """Its owner has given it up, though another stream still uses it.

    zh: 主人已经放弃了它，只是别的流还在用。
    """
    story = Story()
    starts = []
    for _ in range(4):
        starts.append(story.wait(100))
        story.free(story.alloc(2 * KIB, 20), is_complete=False)
    check(detect, story.snapshot(), starts, [])
    detect.record()


def test_a_step_begins_at_its_start(detect: Any) -> None:
    """An event at the very microsecond of a start belongs to that step; what lies before the first, to none.

    zh: 恰好在起点那一微秒的事件属于该步；第一个起点之前的不属于任何步。
    """
    story = Story()
    times = []
    for size in (600, 700, 800, 900):
        story.alloc(size, 51)
        times.append(story.trace[-1]["time_us"])
    check(detect, story.snapshot(), times, [("serve.py:51", 600 + 700 + 800, (0, 1, 2))])
    check(detect, story.snapshot(), [it + 1 for it in times], [("serve.py:51", 700 + 800 + 900, (0, 1, 2))])
    check(detect, story.snapshot(), [times[0]], [])
    check(detect, story.snapshot(), [], [])
    detect.record()


def test_the_largest_leak_comes_first(detect: Any, rng: Any) -> None:
    """Most bytes first, of equals by site; blocks without frames are one site, other devices are none.

    zh: 字节多的在前，一样多时按位置排列；没有栈帧的块算作同一个位置；别的设备不算。
    """
    story = Story()
    other, _ = run(4, {77: (0, 1, 2)}, device=1)
    starts = []
    for _ in range(5):
        starts.append(story.wait(1000))
        for line in rng.sample((53, 51, 52), 3):
            story.alloc(900 if line < 53 else 2000, line)
        story.alloc(1500, 0, frames=[])
    expected = [("serve.py:53", 8000), ("(unknown)", 6000), ("serve.py:51", 3600), ("serve.py:52", 3600)]
    check(detect, story.snapshot(others=(other,)), starts, [(*it, (0, 1, 2, 3)) for it in expected])
    detect.record()


@pytest.mark.weight(2)
def test_random_leaks_are_found(detect: Any, rng: Any) -> None:
    """Lines that leak in random steps, among those that don't.

    zh: 在随机的几步里泄漏的行，混在不泄漏的行里。
    """
    for _ in range(6):
        steps = rng.randrange(3, 9)
        plan = {line: tuple(it for it in range(steps) if rng.random() < 0.4) for line in range(51, 57)}
        story, starts = run(steps, plan, rng=rng)
        expected = []
        for line, when in plan.items():
            counted = tuple(step for step in when if step < steps - 1)
            if len(counted) > 1:
                expected.append((f"serve.py:{line}", len(counted) * (KIB + line), counted))
        check(detect, story.snapshot(), starts, sorted(expected, key=lambda it: (-it[1], it[0])))
    detect.record()
