"""Memory ends when its last owner does, and never in the middle of the allocator's own work."""

from __future__ import annotations

import gc

import pytest

from judge.devices.sim.lifetimes import Lifetimes


@pytest.fixture
def ended():
    """Return the addresses whose life has ended, in order."""
    return []


@pytest.fixture
def lifetimes(ended):
    """Return lifetimes that write down what ends."""
    lifetimes = Lifetimes(ended.append)
    yield lifetimes
    lifetimes.close()


def make_piece(lifetimes, address):
    """Return a view that stands for a storage."""
    piece = memoryview(bytearray(4))
    lifetimes.watch(piece, address)
    return piece


def test_memory_ends_at_the_moment_its_owner_dies(lifetimes, ended):
    """Not at the next collection."""
    piece = make_piece(lifetimes, 512)
    assert 1 == len(lifetimes)
    del piece
    assert [512] == ended
    assert 0 == len(lifetimes)


def test_nothing_ends_while_the_allocator_is_busy(lifetimes, ended):
    """It ends before the next thing that the allocator does."""
    piece = make_piece(lifetimes, 512)
    with lifetimes:
        del piece
        assert [] == ended
    lifetimes.settle()
    assert [512] == ended


def test_what_waited_ends_before_the_next_request(lifetimes, ended):
    """So a request finds the memory free."""
    piece = make_piece(lifetimes, 512)
    with lifetimes:
        del piece
    with lifetimes:
        assert [512] == ended


def test_what_the_garbage_collector_frees_waits(lifetimes, ended):
    """A collection may start anywhere, in the middle of our own work too."""
    cycle = [make_piece(lifetimes, 512)]
    cycle.append(cycle)
    seen = []

    def look(phase, _):
        seen.append((phase, list(ended)))

    gc.callbacks.append(look)
    del cycle
    gc.collect()
    gc.callbacks.remove(look)
    assert ("stop", []) in seen
    assert [] == ended
    lifetimes.settle()
    assert [512] == ended


def test_an_end_inside_an_end_waits_for_it():
    """The order of ends is that of the deaths."""
    order = []

    def end(address):
        order.append(address)
        if address == 512:
            lifetimes.end(1024)
            order.append("done")

    lifetimes = Lifetimes(end)
    lifetimes.end(512)
    lifetimes.settle()
    lifetimes.close()
    assert [512, "done", 1024] == order


def test_closing_leaves_the_garbage_collector_as_it_was():
    """No callback of ours stays."""
    before = list(gc.callbacks)
    lifetimes = Lifetimes(print)
    assert len(before) + 1 == len(gc.callbacks)
    lifetimes.close()
    lifetimes.close()
    assert before == gc.callbacks
