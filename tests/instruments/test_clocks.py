"""One clock set against another by marks that both have seen."""

from __future__ import annotations

import pytest

from judge.instruments.cuda.clocks import Mark, fit_clock


def mark(ours_us: float, *, slope: float = 1.0, late_us: float = 0.0) -> Mark:
    """Return a moment of our clock with the other's, which began 77 us later and may run at another speed."""
    return Mark((ours_us - 77.0) / slope + late_us, ours_us)


@pytest.mark.parametrize("slope", [1.0, 1.00002], ids=["equal", "drifting"])
def test_moments_between_the_marks_are_mapped(slope: float) -> None:
    """A recording of some seconds shows how the clocks drift apart."""
    first = [mark(at, slope=slope) for at in (1000.0, 1010.0, 1020.0)]
    last = [mark(at, slope=slope) for at in (9e6, 9e6 + 10, 9e6 + 20)]
    clock = fit_clock(first, last)
    for at in (2000.0, 4.5e6, 8.9e6):
        assert at == pytest.approx(clock.map((at - 77.0) / slope), abs=0.5)
    assert 1234.5 == pytest.approx(clock.map(clock.invert(1234.5)))


def test_a_short_recording_does_not_tell_the_speed() -> None:
    """A few microseconds of jitter over a millisecond would bend the clock."""
    clock = fit_clock([mark(1000.0)], [mark(2000.0, late_us=4.0)])
    assert 1.0 == clock.slope


def test_one_late_mark_does_not_count() -> None:
    """The thread may be taken off the core between reading the clock and making the mark."""
    marks = [mark(1000.0), mark(1010.0, late_us=300.0), mark(1020.0)]
    clock = fit_clock(marks, marks)
    assert 5000.0 == pytest.approx(clock.map(5000.0 - 77.0))
