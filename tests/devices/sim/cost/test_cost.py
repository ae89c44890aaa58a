"""The cost model's shape: what grows with what."""

from __future__ import annotations

import dataclasses

import pytest

from judge.devices.sim.cost import Cost, Matrices
from judge.devices.sim.families import read_families
from judge.devices.sim.profile import load_profile


@pytest.fixture(scope="module")
def cost() -> Cost:
    """Return the H200's costs."""
    return Cost(load_profile("h200"))


def test_large_elementwise_ops_take_the_time_of_their_traffic(cost):
    """Twice the bytes, twice the time."""
    once, twice = (
        cost.kernel("add", read_bytes=size, written_bytes=size, elements=size // 4).duration_us
        for size in (1 << 29, 1 << 30)
    )
    assert 2.0 == pytest.approx(twice / once, rel=0.01)


def test_half_types_multiply_faster_than_single_precision(cost):
    """By more than ten times, as the peaks say."""
    matrices = Matrices(1, 4096, 4096, 4096)
    single, half = (
        cost.kernel("mm", flops=2 * 4096**3, dtype_class=kind, matrices=matrices).duration_us for kind in ("f32", "f16")
    )
    assert single / half > 10.0


def test_a_small_kernel_leaves_room_for_others(cost):
    """It takes one multiprocessor, a large one all."""
    assert 1 / 132 == cost.kernel("add", elements=1).occupancy
    assert 1.0 == cost.kernel("add", elements=1 << 24).occupancy


def test_a_gather_pays_for_what_it_takes_and_not_for_the_whole_table(cost):
    """An embedding of a few rows is cheap."""
    small = cost.kernel("embedding", read_bytes=1 << 30, written_bytes=1 << 12, elements=1 << 10)
    assert small.duration_us < 5.0


def test_pageable_copies_are_slower_than_pinned_ones(cost):
    """In both directions."""
    for direction in ("h2d", "d2h"):
        pinned, pageable = (cost.copy(direction, 1 << 26, is_pinned=flag).duration_us for flag in (True, False))
        assert pageable / pinned > 3.0


def test_a_copy_within_the_device_is_a_kernel(cost):
    """It needs multiprocessors, and no copy engine."""
    assert "sm" == cost.copy("d2d", 1 << 20).engine


def test_a_profile_without_the_family_for_all_others_is_refused():
    """Every op must have a cost."""
    profile = dataclasses.replace(load_profile("h200"), ops={})
    with pytest.raises(ValueError, match=r"h200.toml: \[ops.elementwise\] is missing"):
        read_families(profile)


def test_an_unknown_key_of_a_family_is_named():
    """With the family."""
    profile = load_profile("h200")
    odd = dataclasses.replace(profile, ops={**profile.ops, "odd": {"flor_us": 1.0}})
    with pytest.raises(ValueError, match=r"h200.toml: \[ops.odd\]: .*flor_us"):
        read_families(odd)
