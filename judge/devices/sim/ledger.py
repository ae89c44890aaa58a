"""Every wait of the host for the device, and sync debug mode, which speaks up before most of them."""

from __future__ import annotations

import sys
import warnings
from typing import NamedTuple

from judge.devices.sim.sites import Site

SYNC_TEXT = "called a synchronizing CUDA operation"
"""What sync debug mode says. Source: ``warn_or_error_on_sync``, c10/cuda/CUDAFunctions.cpp, torch 2.13."""

Registry = dict[str | tuple[str, type[Warning], int], int]
QUIET, WARN, ERROR = 0, 1, 2


class HostWait(NamedTuple):
    """One wait."""

    kind: str
    """What sort of wait: ``item``, ``copy_d2h``, ``nonzero``, ``stream_synchronize``, ``event_synchronize``…"""
    call: str
    """What the user wrote: ``Tensor.item``."""
    site: Site
    stream: str
    """Name of the stream that was waited for; empty for the whole device."""
    waited_us: float
    """Host time that passed until the work was done; 0 when it was done already."""
    is_seen_by_debug_mode: bool
    """Whether ``torch.cuda.set_sync_debug_mode`` tells of it."""
    at_us: float = 0.0
    """Host time when it began."""


class Ledger:
    """The waits so far, in order."""

    def __init__(self) -> None:
        self.waits: list[HostWait] = []
        self.debug_mode = QUIET
        """0, 1 (warn) or 2 (raise), as ``set_sync_debug_mode`` sets it for the whole process."""

    def announce(self, site: Site) -> None:
        """Let sync debug mode speak, before the wait takes place.

        Raises:
            RuntimeError: the mode is ``error``.
        """
        if self.debug_mode == ERROR:
            raise RuntimeError(SYNC_TEXT)
        if self.debug_mode == WARN:
            warnings.warn_explicit(SYNC_TEXT, UserWarning, site.file, site.line, registry=_find_registry(site))

    def enter(self, wait: HostWait) -> None:
        """Write a wait down."""
        self.waits.append(wait)


def _find_registry(site: Site) -> Registry | None:
    """Return the warning registry of the frame at a site, so that Python's filters work as for any warning there."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == site.file and frame.f_lineno == site.line:
            registry: Registry = frame.f_globals.setdefault("__warningregistry__", {})
            return registry
        frame = frame.f_back  # type: ignore[assignment]  # the loop ends at None
    return None
