"""Streams come from pools, round-robin."""

from __future__ import annotations

import pytest

from judge.devices.sim.streams import StreamPool


def test_the_33rd_stream_is_the_first_again():
    """Each priority has 32."""
    pool = StreamPool()
    streams = [pool.get() for _ in range(33)]
    assert streams[0] is streams[32]
    assert 32 == len({stream.handle for stream in streams})


@pytest.mark.parametrize(
    ("asked", "given"), [(0, 0), (-1, -1), (-3, -3), (-9, -3), (5, 0)], ids=["0", "-1", "-3", "too high", "too low"]
)
def test_priorities_are_clamped_to_what_there_is(asked, given):
    """0 down to -3."""
    assert given == StreamPool().get(asked).priority


def test_the_default_stream_has_handle_and_number_0():
    """It is the legacy stream."""
    pool = StreamPool()
    assert pool.default is pool.find(0)
    assert pool.default is pool.find_id(0)


@pytest.mark.parametrize(
    ("priority", "numbers"), [(0, [3, 35, 67]), (-1, [5, 37, 69]), (-3, [9, 41, 73])], ids=["0", "-1", "-3"]
)
def test_streams_have_the_numbers_that_pytorch_gives(priority, numbers):
    """As seen on the H200: place in the pool times 32, twice the kind of pool, and 1."""
    pool = StreamPool()
    assert numbers == [pool.get(priority).stream_id for _ in numbers]


def test_a_known_handle_gives_the_stream_that_has_it():
    """An external stream may be one of ours."""
    pool = StreamPool()
    stream = pool.get(-1)
    assert stream is pool.external(stream.handle)


def test_an_unknown_handle_gives_a_blocking_stream():
    """As ``cudaStreamCreate`` makes them."""
    pool = StreamPool()
    stream = pool.external(0x1234)
    assert stream.is_blocking
    assert stream is pool.external(0x1234)
    assert [stream] == pool.blocking
