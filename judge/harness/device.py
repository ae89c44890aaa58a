"""The device of a run, made ready before the solution is imported, and the instruments that watch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.instruments.instruments import Instruments, Watch

_instruments: dict[str, Instruments] = {}
"""What watches a device, once that is ready: one, since one block is watched at a time."""


def prepare_device(kind: str) -> None:
    """Put the simulated device under torch, where it was chosen; a second call does nothing.

    Args:
        kind: ``sim``; any other needs no preparation.
    """
    if kind == "sim" and kind not in _instruments:
        from judge.devices.sim.install import install
        from judge.instruments.simulated import SimulatedInstruments

        _instruments[kind] = SimulatedInstruments(install())


def is_prepared(kind: str) -> bool:
    """Return whether the device was put under torch in this process."""
    return kind in _instruments


def open_watch(kind: str) -> Watch:
    """Return a context manager that watches the device.

    Args:
        kind: ``sim`` or ``cuda``.
    """
    from judge.instruments.instruments import Watch

    prepare_device(kind)
    if kind not in _instruments:
        from judge.instruments.cuda.instruments import CudaInstruments

        _instruments[kind] = CudaInstruments()
    return Watch(_instruments[kind])
