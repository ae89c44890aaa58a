"""Which lines hold memory, now and at the peak."""

from __future__ import annotations

import pytest

from judge.devices.sim.footprint import Footprint
from judge.devices.sim.sites import Site

LOAD = Site("model.py", 10, "load")
STEP = Site("model.py", 20, "step")


@pytest.fixture
def footprint():
    """Return an empty account."""
    return Footprint()


def test_bytes_are_summed_by_line(footprint):
    """A line without blocks is gone."""
    footprint.grow(0, 512, LOAD)
    footprint.grow(512, 1024, LOAD)
    footprint.grow(1536, 512, STEP)
    footprint.shrink(1536)
    assert {LOAD: 1536} == footprint.by_site
    assert LOAD == footprint.find_owner(512)
    assert None is footprint.find_owner(1536)


def test_a_meter_keeps_who_held_what_at_the_peak(footprint):
    """What comes after the peak does not change it."""
    meter = footprint.start(0)
    footprint.grow(0, 512, LOAD)
    footprint.grow(512, 4096, STEP)
    footprint.shrink(512)
    footprint.grow(512, 1024, STEP)
    assert 4608 == meter.peak_allocated_bytes
    assert [(STEP, 4096), (LOAD, 512)] == footprint.read(meter)


def test_a_meter_at_its_peak_shows_the_present(footprint):
    """Nothing was given back yet."""
    meter = footprint.start(0)
    footprint.grow(0, 512, LOAD)
    assert [(LOAD, 512)] == footprint.read(meter)


def test_a_meter_begins_with_what_is_held(footprint):
    """Also when less is held from then on."""
    footprint.grow(0, 512, LOAD)
    footprint.grow(512, 512, STEP)
    meter = footprint.start(2048)
    footprint.shrink(0)
    assert (1024, 2048) == (meter.peak_allocated_bytes, meter.peak_reserved_bytes)
    assert [(LOAD, 512), (STEP, 512)] == footprint.read(meter)


def test_an_equal_peak_later_leaves_the_first(footprint):
    """Only more is a new peak."""
    meter = footprint.start(0)
    footprint.grow(0, 512, LOAD)
    footprint.shrink(0)
    footprint.grow(0, 512, STEP)
    footprint.shrink(0)
    assert [(LOAD, 512)] == footprint.read(meter)


def test_meters_do_not_disturb_one_another(footprint):
    """Each has its own beginning and end."""
    early = footprint.start(0)
    footprint.grow(0, 1024, LOAD)
    footprint.shrink(0)
    late = footprint.start(0)
    footprint.grow(0, 512, STEP)
    footprint.stop(early)
    footprint.grow(512, 4096, STEP)
    assert (1024, 4608) == (early.peak_allocated_bytes, late.peak_allocated_bytes)
    assert [(LOAD, 1024)] == footprint.read(early)


def test_reserved_memory_has_a_peak_of_its_own(footprint):
    """It is told when it grows."""
    meter = footprint.start(0)
    footprint.note_reserved(4096)
    footprint.note_reserved(2048)
    assert 4096 == meter.peak_reserved_bytes
