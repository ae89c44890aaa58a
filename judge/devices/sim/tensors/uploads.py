"""Copies out of pinned memory that may not have run yet: they send what the host writes meanwhile. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from judge.devices.sim.races.geometry import Access, overlaps
from judge.devices.sim.streams import Stream
from judge.devices.sim.tensors.raw import Layout

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine

_copy = torch.ops.aten.copy_.default


class _Upload(NamedTuple):
    actor: int
    number: int
    read: Access
    target: Layout
    source: Layout
    vector: tuple[int, ...]
    """What it is ordered after."""


class Uploads:
    """The copies that the host is not ordered after.

    Args:
        machine: whose host.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.waiting: list[_Upload] = []
        """In the order of their launches."""
        machine.flushers.append(self.forget_done)

    def add(self, stream: Stream, read: Access, target: Layout, source: Layout) -> None:
        """Remember the copy just launched on a stream.

        Args:
            stream: where it was queued.
            read: the pinned bytes.
            target: on the device.
            source: in pinned memory, of the same shape and dtype.
        """
        self.waiting.append(
            _Upload(stream.index, stream.vector[stream.index], read, target, source, tuple(stream.vector))
        )

    def repeat(self, written: Access) -> None:
        """Run copies again whose source the host has just changed: the device reads it when the copy runs."""
        for upload in self.waiting:
            if overlaps(upload.read, written):
                shown = self._machine.host.as_seen_by(upload.vector)
                with shown, torch._C._DisableTorchDispatch(), torch.inference_mode():
                    _copy(upload.target.view(), upload.source.view())

    def forget_done(self) -> None:
        """Forget the copies that the host is ordered after."""
        if self.waiting:
            known = self._machine.host_vector
            self.waiting = [
                upload for upload in self.waiting if upload.actor >= len(known) or known[upload.actor] < upload.number
            ]

    def begin(self, address: int, size: int) -> None:
        """Forget the copies into memory that now belongs to somebody else."""
        self.waiting = [u for u in self.waiting if not address <= u.target.address < address + size]
