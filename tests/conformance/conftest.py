"""The simulated device, as the tests of the simulation have it."""

from __future__ import annotations

from tests.devices.sim.conftest import simulation

__all__ = ["simulation"]
