"""One clock set against another by marks that both have seen."""

from __future__ import annotations

import random

import pytest

from judge.instruments.cuda.clocks import fit_clock

FIRST = [1000.0, 1400.0, 2500.0, 2700.0, 3400.0]
LAST = [901000.0, 901410.0, 902530.0, 902760.0, 903490.0]


@pytest.mark.parametrize("slope", [1.0, 1.00002], ids=["equal", "drifting"])
@pytest.mark.parametrize("others", [[], [500.0, 700.0], [500.0, 4000.0, 5000.0, 880000.0, 950000.0]], ids=len)
def test_marks_are_found_among_other_moments(slope: float, others: list[float]) -> None:
    """The profiler synchronises too, and so does the script."""
    draw = random.Random(0)
    ours = sorted(FIRST + LAST + others)
    seen = [(at - 77.0) / slope + draw.uniform(0.0, 1.0) for at in ours]
    clock = fit_clock(seen, FIRST, LAST)
    assert [at for at in (2000.0, 450000.0, 902000.0) if abs(clock.map((at - 77.0) / slope) - at) > 3.0] == []
    assert 1234.5 == pytest.approx(clock.map(clock.invert(1234.5)))
