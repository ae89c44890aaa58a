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
        self._captures = machine.captures
        self._begin = machine.shadow.begin
        self.end = machine.shadow.end
        """Passes on that the owner of a block gave it up: only the shadow wants to know, and every block ends here."""
        self.forget = machine.shadow.forget
        """Passes on that bytes have gone back to the driver."""

    def begin(self, address: int, size: int, stream: int = 0) -> None:
        """Pass on that bytes have a new owner."""
        self._begin(address, size, stream)
        if self.uploads.waiting:
            self.uploads.begin(address, size)
        if self._captures.active:
            owner = self._machine.streams.find(stream)
            if owner is not None and owner.capture is not None:
                owner.capture.own(address, size)
