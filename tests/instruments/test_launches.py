"""What the host launched is told from what the device ran."""

from __future__ import annotations

from judge.instruments.launches import gather_launches
from judge.instruments.observation import DeviceSpan
from tests.instruments.programs import place


def span(name: str, started_us: float, launched_us: float | None, line: int = 1) -> DeviceSpan:
    """Return a kernel of two microseconds, or a copy."""
    engine = "h2d" if name == "copy" else "sm"
    return DeviceSpan(name, "default", engine, started_us, started_us + 2, launched_us, place(line))  # type: ignore[arg-type]  # one of the two


def test_the_nodes_of_a_replay_are_one_launch() -> None:
    """They share the moment and the line of the call."""
    launches = gather_launches([span("a", 3, 1), span("mm", 5, 4, 2), span("copy", 8, 4, 2), span("b", 12, 9)])
    assert [(1, False, 1), (4, True, 1), (9, False, 1)] == [
        (launch.at_us, launch.is_replay, launch.kernels) for launch in launches
    ]


def test_launches_stand_in_the_order_of_their_calls() -> None:
    """Streams may run them in another."""
    launches = gather_launches([span("late", 3, 2), span("early", 9, 1)])
    assert ["early", "late"] == [launch.spans[0].name for launch in launches]


def test_work_of_an_unknown_launch_is_taken_at_its_start() -> None:
    """The profiler may have lost the call."""
    assert [5] == [launch.at_us for launch in gather_launches([span("a", 5, None)])]
