"""Overlap of strided accesses: exact, and quick where brute force would not be."""

from __future__ import annotations

import random
from itertools import product
from time import perf_counter

import pytest

from judge.devices.sim.races import geometry
from judge.devices.sim.races.geometry import Access, count_runs, overlaps, runs


def strided(low: int, item_bytes: int, *dimensions: tuple[int, int]) -> Access:
    """Return the access of a view at ``low`` with counts and strides in bytes."""
    is_empty = any(count == 0 for count, _ in dimensions)
    span = sum((count - 1) * stride for count, stride in dimensions) + item_bytes
    return Access(low, low if is_empty else low + span, tuple(dimensions), item_bytes)


def touched(access: Access) -> set[int]:
    """Return every byte of an access, one by one."""
    if access.high <= access.low:
        return set()
    if access.strides is None:
        return set(range(access.low, access.high))
    return {
        access.low + sum(at * stride for at, (_, stride) in zip(index, access.strides, strict=True)) + byte
        for index in product(*(range(count) for count, _ in access.strides))
        for byte in range(access.item_bytes)
    }


def draw_access(random_: random.Random) -> Access:
    """Return a random access to a small memory."""
    if random_.random() < 0.2:
        low = random_.randrange(200)
        return Access(low, low + random_.randrange(0, 60))
    item_bytes = random_.choice((1, 2, 4, 8))
    dimensions = [
        (random_.randrange(1, 6), random_.randrange(0, 40) * random_.choice((1, item_bytes)))
        for _ in range(random_.randrange(0, 4))
    ]
    return strided(random_.randrange(200), item_bytes, *dimensions)


@pytest.mark.parametrize("steps", [geometry.SEARCH_STEPS, 2], ids=["searched", "drawn"])
def test_overlap_equals_the_bytes_in_common(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random pairs of views agree with sets of bytes, whether the search answers or the bytes are drawn."""
    monkeypatch.setattr(geometry, "SEARCH_STEPS", steps)
    geometry._meet.cache_clear()
    random_ = random.Random(3)
    wrong = []
    for _ in range(4000):
        first, second = draw_access(random_), draw_access(random_)
        if overlaps(first, second) != bool(touched(first) & touched(second)):
            wrong.append((first, second))
    geometry._meet.cache_clear()
    assert [] == wrong


def test_runs_give_every_byte() -> None:
    """The runs of an access are its bytes, and their number is told beforehand."""
    random_ = random.Random(4)
    for _ in range(500):
        access = draw_access(random_)
        found = list(runs(access))
        assert touched(access) == {byte for low, high in found for byte in range(low, high)}
        assert access.high <= access.low or count_runs(access) == len(found)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(strided(0, 4, (8, 32), (4, 8)), strided(4, 4, (8, 32), (4, 8)), False, id="even_and_odd_columns"),
        pytest.param(strided(0, 4, (4, 64), (8, 4)), strided(32, 4, (4, 64), (8, 4)), False, id="even_and_odd_rows"),
        pytest.param(strided(0, 4, (8, 32), (4, 8)), strided(4, 4, (8, 32)), False, id="even_columns_and_column_one"),
        pytest.param(strided(0, 4, (8, 32), (4, 8)), strided(8, 4, (8, 32)), True, id="even_columns_and_column_two"),
        pytest.param(strided(0, 4, (4, 32), (4, 4)), strided(16, 4, (4, 32), (4, 4)), False, id="left_and_right_half"),
        pytest.param(strided(0, 4, (4, 0), (4, 4)), Access(16, 20), False, id="expanded_row_and_its_neighbour"),
        pytest.param(strided(0, 4, (0, 4)), Access(0, 100), False, id="no_elements"),
        pytest.param(Access(0, 100), Access(100, 200), False, id="neighbours"),
        pytest.param(Access(0, 101), Access(100, 200), True, id="one_byte"),
    ],
)
def test_views_of_one_tensor(first: Access, second: Access, expected: bool) -> None:
    """Views as programs make them, in both directions."""
    assert expected == overlaps(first, second)
    assert expected == overlaps(second, first)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(
            strided(0, 2, (1 << 20, 8192), (2048, 4)),
            strided(2, 2, (1 << 20, 8192), (2048, 4)),
            False,
            id="columns_8_gib",
        ),
        pytest.param(
            strided(0, 4, (1 << 15, 1 << 17), (1 << 14, 8)),
            strided(4 + 8 * 77, 4, (1 << 15, 1 << 17)),
            False,
            id="column",
        ),
        pytest.param(strided(0, 4, (100_003, 4028)), strided(2, 1, (99_991, 4036)), True, id="strides_without_pattern"),
        pytest.param(
            strided(0, 4, (1009, 4012), (997, 4028)), strided(1, 1, (1013, 4036), (991, 4052)), True, id="two_of_each"
        ),
    ],
)
def test_large_views_are_quick(first: Access, second: Access, expected: bool) -> None:
    """Gigabytes of elements are told apart without being counted."""
    start = perf_counter()
    assert expected == overlaps(first, second)
    assert perf_counter() - start < 0.5
