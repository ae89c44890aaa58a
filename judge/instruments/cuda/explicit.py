"""Synchronisations that the user asks for by name, and the warnings of sync debug mode. (torch)

Sync debug mode tells of most waits; those that it misses are wrapped here: ``torch.cuda.synchronize``,
``torch.accelerator.synchronize``, ``Event.synchronize`` and ``empty_cache``. Pageable copies with ``non_blocking``
and the operators that wait inside of Thrust are seen by the operator that they are, with the profiler as witness.
"""

from __future__ import annotations

import functools
import re
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch

from judge.devices.sim.ledger import SYNC_TEXT
from judge.devices.sim.patches import Patches
from judge.devices.sim.sites import find_site
from judge.instruments.cuda.calls import Call, CallLog

MODES = {"default": 0, "warn": 1, "error": 2}
FILTER = ("always", re.compile(re.escape(SYNC_TEXT)), UserWarning, None, 0)


class ExplicitWaits:
    """Writes explicit waits and warnings into the log; ``stop`` puts every replaced name back.

    A script may set sync debug mode itself: ``error`` holds, and it reads back what it has set.

    Args:
        log: where calls are written.
    """

    def __init__(self, log: CallLog) -> None:
        self._log = log
        self._patches = Patches()
        self._wanted = 0

    def start(self) -> None:
        """Replace what has to be replaced, and turn sync debug mode on."""
        patches = self._patches
        wrapped: list[tuple[Any, str, str]] = [
            (torch.cuda, "synchronize", "torch.cuda.synchronize"),
            (torch.cuda, "empty_cache", "torch.cuda.empty_cache"),
            (torch.cuda.Stream, "synchronize", "torch.cuda.Stream.synchronize"),
            (torch.cuda.Event, "synchronize", "torch.cuda.Event.synchronize"),
        ]
        if hasattr(torch, "accelerator"):
            wrapped.append((torch.accelerator, "synchronize", "torch.accelerator.synchronize"))
        for owner, name, written in wrapped:
            patches.wrap(owner, name, functools.partial(self._watch, written))
        self._wanted = torch.cuda.get_sync_debug_mode()
        set_mode = torch.cuda.set_sync_debug_mode
        patches.set(torch.cuda, "set_sync_debug_mode", self._set_mode)
        patches.set(torch.cuda, "get_sync_debug_mode", lambda: self._wanted)
        self._engage = set_mode
        patches.add_undo(lambda: set_mode(self._wanted))
        with warnings.catch_warnings():
            # The notice that debug mode is a prototype is ours, not the script's.
            warnings.simplefilter("ignore")
            set_mode(max(self._wanted, MODES["warn"]))
        self._catch_warnings()

    def stop(self) -> None:
        """Put everything back."""
        self._patches.restore()

    def _set_mode(self, debug_mode: int | str) -> None:
        self._wanted = MODES.get(debug_mode, 0) if isinstance(debug_mode, str) else debug_mode
        self._engage(max(self._wanted, MODES["warn"]))

    def _watch(self, written: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wait(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # passed on as they are
            call = Call(written, find_site(), time.perf_counter_ns(), is_explicit=True)
            self._log.begin(call)
            try:
                return original(*args, **kwargs)
            finally:
                call.ended_ns = time.perf_counter_ns()

        return wait

    def _catch_warnings(self) -> None:
        """Take the mode's warnings before Python's filters or a handler of the script's see them."""
        self._patches.wrap(warnings, "_showwarnmsg", self._listen)
        for name in ("simplefilter", "filterwarnings", "resetwarnings"):
            self._patches.wrap(warnings, name, _keep_filter_first)
        _put_filter_first()
        self._patches.add_undo(_remove_filter)

    def _listen(self, show: Callable[[Any], None]) -> Callable[[Any], None]:
        def listen(message: warnings.WarningMessage) -> None:
            if SYNC_TEXT not in str(message.message):
                show(message)
                return
            self._note_warning()
            if self._wanted == MODES["warn"]:
                show(message)

        return listen

    def _note_warning(self) -> None:
        """Put the warning down to the call that is going on, or to the line for now."""
        for call in reversed(self._log.calls[-8:]):
            if call.ended_ns == 0:
                call.warnings += 1
                return
        self._log.late_warnings.append((time.perf_counter_ns(), find_site()))


def _keep_filter_first(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def change(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # passed on as they are
        original(*args, **kwargs)
        _put_filter_first()

    return change


def _put_filter_first() -> None:
    _remove_filter()
    warnings.filters.insert(0, FILTER)  # type: ignore[attr-defined]  # a list, whatever typeshed says
    warnings._filters_mutated()  # type: ignore[attr-defined]  # the cache of every module must go


def _remove_filter() -> None:
    if FILTER in warnings.filters:
        warnings.filters.remove(FILTER)  # type: ignore[attr-defined]  # a list, whatever typeshed says
        warnings._filters_mutated()  # type: ignore[attr-defined]  # the cache of every module must go
