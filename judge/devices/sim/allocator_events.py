"""The device's events, as the caching allocator asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge.devices.sim.events import Moment

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine


class AllocatorEvents:
    """Events recorded when a block is freed, and polled in virtual time.

    Args:
        machine: the device.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def record(self, stream: int) -> Moment:
        """Return what ends when all work queued on a stream so far does."""
        machine = self._machine
        return machine.mark(machine.streams.external(stream))

    def is_done(self, event: object) -> bool:
        """Tell whether it has ended, without waiting. The host is ordered after what it saw done."""
        return self._machine.see(_read(event))

    def wait(self, event: object) -> None:
        """Let the host wait for it; sync debug mode does not see that."""
        moment = _read(event)
        machine = self._machine
        call_us = machine.profile.host.event_synchronize_us
        machine.host.wait(
            "allocator_flush", "allocator", lambda: moment, moment.stream, call_us, is_seen_by_debug_mode=False
        )


def _read(event: object) -> Moment:
    if not isinstance(event, Moment):
        raise TypeError(f"expected an event of this device, got {type(event).__name__}")
    return event
