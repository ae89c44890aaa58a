"""What the speed depends on is said only where the figures bear it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judge.instruments.limits import find_heaviest, find_limit, is_worth_a_graph
from judge.instruments.observation import DeviceSpan, Observation, Step, Sync
from tests.instruments.programs import place


def run(kernel_us: float, *, launches: int = 12, waited_us: float = 0.0, repeats: bool = True) -> Observation:
    """Return eight steps of launches, one every ten microseconds, and a wait at the end of each."""
    spans, syncs = [], []
    host_us = free_us = 0.0
    for step in range(8):
        for at in range(launches):
            host_us += 10
            free_us = max(free_us, host_us) + kernel_us
            site = place(1 + at + (0 if repeats else 100 * step))
            spans.append(DeviceSpan(f"op{at}", "default", "sm", free_us - kernel_us, free_us, host_us, site))
        if waited_us:
            syncs.append(Sync("item", "Tensor.item", place(90), "default", host_us, waited_us))
            host_us += waited_us
            free_us = max(free_us, host_us)
    return Observation("sim", "NVIDIA H200", tuple(syncs), (), tuple(spans), launches=8 * launches, stopped_us=host_us)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (run(3), "host"),
        (run(20), "device"),
        (run(10, waited_us=60, launches=5), "waits"),
        (run(3, repeats=False), "host"),
        (run(20, repeats=False), "device"),
        (run(3, repeats=False, launches=4), None),
        (replace(run(3), device="cuda"), None),
        (replace(run(20), device="cuda"), "device"),
        (Observation("sim", "NVIDIA H200"), None),
    ],
    ids=[
        "host", "device", "waits", "host, no steps", "device, no steps", "too few",
        "slowed by instruments", "device all the same", "nothing",
    ],
)  # fmt: skip
def test_the_limit_is_what_the_figures_show(seen: Observation, expected: str | None) -> None:
    """The host where it takes longer than the device, its waits where they keep it from launching ahead."""
    assert expected == find_limit(seen)


def test_a_graph_is_worth_it_for_many_launches_that_are_no_replays() -> None:
    """Two launches need none, and a replay is one already."""
    step = run(3).timeline.step
    assert step is not None
    few: Step = replace(step, launches=2, works=2)
    replayed: Step = replace(step, launches=12, works=90)
    assert [True, False, False] == [is_worth_a_graph(one) for one in (step, few, replayed)]


def test_the_heaviest_operation_is_named_with_its_share() -> None:
    """All lines launch kernels of the same length, but for one."""
    seen = run(3)
    spans = [replace(span, ended_us=span.started_us + (36 if span.name == "op4" else 3)) for span in seen.spans]
    found = find_heaviest(replace(seen, spans=tuple(spans)))
    assert ("op4", place(5), pytest.approx(36 / 69)) == found
    assert find_heaviest(Observation("sim", "")) is None
