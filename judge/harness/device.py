"""The device of a run, made ready before the solution is imported, and the instruments that watch it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.instruments.instruments import Instruments, Watch

_makers: dict[str, Callable[[], Instruments]] = {}
"""What makes instruments, by device, once that is ready."""


def prepare_device(kind: str) -> None:
    """Put the simulated device under torch, where it was chosen; a second call does nothing.

    Args:
        kind: ``sim``; any other needs no preparation.
    """
    if kind == "sim" and kind not in _makers:
        from judge.devices.sim.install import install
        from judge.instruments.simulated import SimulatedInstruments

        simulation = install()
        _makers[kind] = lambda: SimulatedInstruments(simulation)


def is_prepared(kind: str) -> bool:
    """Return whether the device was put under torch in this process."""
    return kind in _makers


def open_watch(kind: str) -> Watch:
    """Return a context manager that watches the device.

    Args:
        kind: ``sim`` or ``cuda``.
    """
    from judge.instruments.instruments import Watch

    prepare_device(kind)
    if kind not in _makers:
        from judge.instruments.cuda.instruments import CudaInstruments

        only = CudaInstruments()
        _makers[kind] = lambda: only
    return Watch(_makers[kind]())
