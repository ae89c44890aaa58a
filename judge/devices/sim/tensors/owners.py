"""Who is told when bytes change hands: the races' shadow, a capture, and copies still to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine
    from judge.devices.sim.tensors.uploads import Uploads


class Owners:
    """Passes on what the allocators tell.

    Args:
        machine: whose memory it is.
    """

    uploads: Uploads
    """Copies that may not have run yet; set once they exist."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def begin(self, address: int, size: int, stream: int = 0) -> None:
        """Pass on that bytes have a new owner."""
        self._machine.shadow.begin(address, size, stream)
        self.uploads.begin(address, size)
        if self._machine.captures:
            owner = self._machine.streams.find(stream)
            if owner is not None and owner.capture is not None:
                owner.capture.own(address, size)

    def end(self, address: int, size: int, stream: int) -> None:
        """Pass on that their owner gave them up; ``stream`` is the handle of the block's stream."""
        self._machine.shadow.end(address, size, stream)

    def forget(self, address: int, size: int) -> None:
        """Pass on that they have gone back to the driver."""
        self._machine.shadow.forget(address, size)
