"""How often the host waits, and whether the device ever stands still."""

from __future__ import annotations

from typing import Any

import pytest
import torch

LENGTHS = [7, 9, 8, 6]
ROWS = 2
STEPS = 17
"""That these lengths take in two rows."""
STEP_CYCLES = 1_000_000
"""Some 500 µs."""
TRIES = 3
TIME_RATIO = 1.15


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=STEPS)
def test_one_wait_a_step(bench: Any, expect: Any, measure: Any) -> None:
    """The host waits once for each step, however many rows there are and whatever it learns.

    zh: 不论有几行、得知了什么，主机每一步只等一次。
    """
    decoded = bench.decode(ROWS, LENGTHS, cycles=STEP_CYCLES)
    seen = decoded.seen
    inside = any(sync.kind == "copy_d2h" for sync in seen.syncs)
    look = (
        (
            "A copy to the host only goes on without it if the host memory is pinned and non_blocking=True is given.",
            "只有主机内存是锁页的、又写了 non_blocking=True，拷往主机的拷贝才不占住主机。",
        )
        if inside
        else (
            "Tokens and flags land together: one event behind both copies. What is asked of the device beyond that?",
            "token 和标志一起落地：两次拷贝之后一个事件就够。除此之外还向设备问了什么？",
        )
    )
    measure("syncs", len(seen.syncs), "", places=seen.places, look=look)
    expect.waits(seen, most=STEPS, look=look)


def detokenize() -> None:
    """Keep the host busy for some 150 µs: by a call that costs host time on the simulated device, too."""
    for _ in range(35):
        torch.cuda.current_stream()


@pytest.mark.weight(3)
@pytest.mark.budget(time_ratio=TIME_RATIO)
def test_the_device_never_stands_still(bench: Any, measure: Any, expect: Any, time_us: Any) -> None:
    """With host work of more than half a step in each step, a run takes no longer than its steps alone.

    zh: 每一步里有半步多的主机工作，整个运行仍不比只有这些步更久。
    """
    emitted: list[int] = []

    def emit(_request: int, token: int) -> None:
        emitted.append(token)
        detokenize()

    def run() -> None:
        model, _ = made.pop()
        bench.solution.decode(model, range(len(LENGTHS)), emit)

    bare, plan = bench.make(ROWS, LENGTHS, STEP_CYCLES)
    made = [bench.make(ROWS, LENGTHS, STEP_CYCLES) for _ in range(TRIES + 2)]
    wanted = [token for turn in reversed(made) for _, _, token in turn[1].emitted]
    run()  # sets memory up
    steps_us = min(time_us(lambda: [bare.step() for _ in range(plan.steps)]) for _ in range(2))
    took_us = time_us(run)
    for _ in range(1, TRIES):  # a real machine is not always quiet
        if took_us > TIME_RATIO * steps_us:
            took_us = min(took_us, time_us(run))
    tokens = sorted(emitted[: len(plan.emitted)])
    expect.equal(tokens, sorted(wanted[: len(plan.emitted)]), ("The tokens are wrong", "token 不对"))
    bench.evidence.exact("tokens", tokens)
    look = (
        "Between two steps the device waits for the host if the next step is queued only when the host is through with "
        "the last one: with its waiting, or with its work.",
        "如果主机等完、忙完上一步才排入下一步，设备就要在两步之间等主机。",
    )
    measure("time_ratio", took_us / steps_us, "×", look=look)
    if took_us > TIME_RATIO * steps_us:
        seen = bench.decode(ROWS, LENGTHS, cycles=STEP_CYCLES, work=lambda *_: detokenize()).seen
        expect.fail(
            ("The device stands still between steps", "设备在两步之间停着"),
            f"≤ {TIME_RATIO} × {steps_us:.0f} us",
            f"{took_us / steps_us:.2f} × {steps_us:.0f} us",
            look,
            seen.draw(),
        )
