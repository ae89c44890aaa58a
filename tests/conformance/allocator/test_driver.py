"""The driver with fixed addresses."""

from __future__ import annotations

import pytest

from judge.devices.sim.allocator import DriverOutOfMemory, LinearDriver

MIB = 1 << 20


def test_addresses_are_the_lowest_that_are_free() -> None:
    """A gap that is large enough is used again, a smaller one is not."""
    driver = LinearDriver(100 * MIB, base=0)
    first, second, _ = driver.allocate(4 * MIB), driver.allocate(2 * MIB), driver.allocate(2 * MIB)
    driver.release(first, 4 * MIB)
    driver.release(second, 2 * MIB)
    assert [8 * MIB, 0] == [driver.allocate(8 * MIB), driver.allocate(6 * MIB)]


def test_memory_of_others_is_not_given_out() -> None:
    """What the context holds counts against the device's memory."""
    driver = LinearDriver(10 * MIB, used_bytes=4 * MIB)
    with pytest.raises(DriverOutOfMemory, match="8388608 bytes wanted, 6291456 of 10485760 are free"):
        driver.allocate(8 * MIB)
    assert 6 * MIB == driver.free_bytes


def test_a_range_is_taken_back_as_it_was_given() -> None:
    """Another size is refused, and changes nothing."""
    driver = LinearDriver(10 * MIB)
    address = driver.allocate(4 * MIB)
    with pytest.raises(ValueError, match="not in list"):
        driver.release(address, 2 * MIB)
    assert 6 * MIB == driver.free_bytes
