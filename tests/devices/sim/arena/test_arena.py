"""An arena: addresses that are the same in every run, and bytes that behave."""

from __future__ import annotations

import weakref

import pytest

from judge.devices.sim.arena import Arena

BASE = 0x3000_0000_0000
SPAN = 64 << 20
PAGE = 4096


@pytest.fixture
def arena():
    """Return a small arena, closed afterwards."""
    arena = Arena(BASE, SPAN)
    yield arena
    arena.close()


def test_an_arena_begins_where_it_is_told_to(arena):
    """So that ``data_ptr()`` is the same in every run."""
    assert (BASE, BASE + SPAN) == (arena.base, arena.end)
    assert BASE in arena
    assert BASE + SPAN not in arena


def test_what_is_written_is_read_again(arena):
    """Two views of the same bytes share them; untouched bytes are zero."""
    arena.view(BASE + PAGE, 4)[:] = b"kept"
    assert b"\0kept\0" == bytes(arena.view(BASE + PAGE - 1, 6))


def test_dropped_pages_read_as_zeros(arena):
    """The host has them back."""
    arena.view(BASE + PAGE, 4)[:] = b"gone"
    arena.drop(BASE, SPAN)
    assert b"\0\0\0\0" == bytes(arena.view(BASE + PAGE, 4))


def test_the_next_arena_gets_the_addresses_of_a_closed_one():
    """A fresh installation finds the same addresses, with nothing in them."""
    first = Arena(BASE, SPAN)
    first.view(BASE, 3)[:] = b"old"
    first.close()
    second = Arena(BASE, SPAN)
    assert BASE == second.base
    assert b"\0\0\0" == bytes(second.view(BASE, 3))
    second.close()


def test_what_outlives_an_arena_keeps_its_bytes_and_addresses():
    """The next arena lies elsewhere until the last of them is gone."""
    is_in_use = True
    first = Arena(BASE, SPAN)
    first.view(BASE, 4)[:] = b"kept"
    first.close(lambda: is_in_use)
    second = Arena(BASE, SPAN)
    assert BASE != second.base
    assert b"kept" == bytes(first.view(BASE, 4))
    second.close()
    is_in_use = False
    third = Arena(BASE, SPAN)
    assert BASE == third.base
    third.close()


def test_garbage_holds_no_addresses():
    """What outlives an arena in a cycle only is collected before the next one goes elsewhere."""

    class Storage:
        def __init__(self) -> None:
            self.itself = self

    storage = weakref.ref(Storage())
    first = Arena(BASE, SPAN)
    first.close(lambda: storage() is not None)
    second = Arena(BASE, SPAN)
    assert (None, BASE) == (storage(), second.base)
    second.close()


def test_closing_twice_is_closing_once():
    """The mapping is not given to two arenas."""
    arena = Arena(BASE, SPAN)
    arena.close()
    arena.close()
    first, second = Arena(BASE, SPAN), Arena(BASE, SPAN)
    assert first.base != second.base
    first.close()
    second.close()
