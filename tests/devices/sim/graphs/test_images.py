"""Bytes that a capture puts back, and those that it poisons."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge.devices.sim.graphs.images import BeforeImages, Intervals

ranges = st.tuples(st.integers(0, 60), st.integers(1, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(ranges), ranges)
def test_gaps_are_what_the_set_does_not_hold(added, asked):
    """Against a plain set of numbers."""
    intervals = Intervals()
    held = set()
    for low, high in added:
        intervals.add(low, high)
        held |= set(range(low, high))
    gaps = [at for low, high in intervals.find_gaps(*asked) for at in range(low, high)]
    assert [at for at in range(*asked) if at not in held] == gaps
    assert held == {at for low, high in intervals for at in range(low, high)}
    assert [at in held for at in range(80)] == [at in intervals for at in range(80)]


def test_bytes_written_several_times_come_back_as_they_were_first():
    """The first image counts."""
    memory = bytearray(b"abcdefgh")
    images = BeforeImages(lambda address, size: memoryview(memory)[address : address + size])
    images.save(2, 4)
    memory[2:4] = b"XY"
    images.save(1, 6)
    memory[1:6] = b"....."
    images.restore()
    assert b"abcdefgh" == bytes(memory)


def test_own_bytes_are_poisoned_and_not_kept():
    """What was allocated in the capture holds nothing before a replay."""
    memory = bytearray(b"abcdefgh")
    images = BeforeImages(lambda address, size: memoryview(memory)[address : address + size])
    images.own(0, 4)
    images.save(2, 6)
    memory[2:6] = b"...."
    assert [(6, 8)] == images.find_unknown(5, 8)
    images.restore()
    assert b"\xff\xff\xff\xffefgh" == bytes(memory)
