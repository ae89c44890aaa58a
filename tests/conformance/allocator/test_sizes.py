"""How sizes are rounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.devices.sim.allocator.sizes import KIB, MIB, round_segment, round_size

OFF = (0,) * 16

SIZES = [
    (1, 512),
    (511, 512),
    (512, 512),
    (513, 1024),
    (MIB, MIB),
    (MIB + 1, MIB + 512),
    (100 * MIB - 1, 100 * MIB),
]
DIVIDED = [
    (1200, 2, 1536),
    (1200, 4, 1536),
    (2048, 4, 2048),
    (2049, 4, 2560),
    (5 * MIB, 4, 5 * MIB),
    (5 * MIB + 1, 4, 6 * MIB),
    (7 * MIB + 1, 4, 8 * MIB),
    (4096, 8, 4096),
    (4097, 8, 4608),
    (70 * MIB, 1, 70 * MIB),
]
SEGMENTS = [
    (512, 2 * MIB),
    (MIB, 2 * MIB),
    (MIB + 512, 20 * MIB),
    (10 * MIB - 512, 20 * MIB),
    (10 * MIB, 10 * MIB),
    (10 * MIB + 512, 12 * MIB),
]


@pytest.mark.parametrize(("size", "expected"), SIZES, ids=[str(size) for size, _ in SIZES])
def test_sizes_go_up_to_multiples_of_512(size: int, expected: int) -> None:
    """Without the option, 512 bytes are the grain at every size."""
    assert expected == round_size(size, OFF)


@pytest.mark.parametrize(
    ("size", "steps", "expected"), DIVIDED, ids=[f"{size}-by-{steps}" for size, steps, _ in DIVIDED]
)
def test_divisions_round_up_to_the_next_step_between_powers_of_two(size: int, steps: int, expected: int) -> None:
    """Small sizes, at most 512 bytes for each step, keep the grain."""
    assert expected == round_size(size, (steps,) * 16)


def test_each_interval_has_its_own_divisions() -> None:
    """The first interval serves all sizes below 2 MiB, the last one all from 32 GiB on."""
    divisions = (2, *(0,) * 14, 4)
    assert [1536 * KIB, 3 * MIB, 40 << 30, 80 << 30] == [
        round_size(size, divisions) for size in (MIB + 1, 3 * MIB, (33 << 30), (65 << 30) + 1)
    ]


@pytest.mark.parametrize(("size", "expected"), SEGMENTS, ids=[str(size) for size, _ in SEGMENTS])
def test_segments_have_one_of_three_sizes(size: int, expected: int) -> None:
    """2 MiB for small blocks, 20 MiB below 10 MiB, above that the next multiple of 2 MiB."""
    assert expected == round_segment(size, 20 * MIB)


def test_the_middle_segment_size_is_a_setting() -> None:
    """``large_segment_size_mb`` changes the segments of blocks above 1 MiB and below 10 MiB only."""
    assert [2 * MIB, 40 * MIB, 40 * MIB, 10 * MIB] == [
        round_segment(size, 40 * MIB) for size in (MIB, MIB + 512, 10 * MIB - 512, 10 * MIB)
    ]


@given(st.integers(1, 1 << 40), st.sampled_from([0, 1, 2, 4, 8, 16]))
def test_a_rounded_size_suffices_and_is_a_fixed_point(size: int, steps: int) -> None:
    """Rounding never loses bytes, gives multiples of 512, and rounds its own results to themselves."""
    divisions = (steps,) * 16
    rounded = round_size(size, divisions)
    assert rounded >= size
    assert 0 == rounded % 512
    assert rounded == round_size(rounded, divisions)
