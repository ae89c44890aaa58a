"""What the instruments saw, sent to the parent: piece by piece on the way, whole at the end."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from judge.harness.channel import Channel
from judge.instruments.instruments import Instruments
from judge.instruments.observation import DeviceSpan, Observation, Race, Sync, Touch

FIRST_S, LAST_S = 0.25, 2.0
"""How much of a script that is killed may be lost, at its beginning and later on."""
PATIENCE = 20
"""How much longer than a report on the way takes the script is left alone afterwards."""
ITEMS = 4000
"""Syncs or spans in one record."""


class Reporter:
    """Reports once the script has ended, however it ended, and on the way for the case that it is killed.

    Args:
        channel: to the parent.
        instruments: what is reported; :meth:`start` starts them.
        wants_snapshot: whether the memory snapshot is sent too.
    """

    def __init__(self, channel: Channel, instruments: Instruments, *, wants_snapshot: bool) -> None:
        self._channel = channel
        self._instruments = instruments
        self._wants_snapshot = wants_snapshot
        self._owner = os.getpid()
        self._sent = {"syncs": 0, "spans": 0}
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._forks = 0
        self._leave = os._exit
        self.error: dict[str, Any] | None = None
        """How the script ended, if not well."""

    @staticmethod
    def report_nothing(device: str, error: dict[str, Any]) -> dict[str, Any]:
        """Return the report of a script that never ran."""
        return {"device": device, "device_name": "", "error": error, "is_whole": True}

    def start(self) -> None:
        """Start the instruments, and see to it that every way out reports."""
        self._instruments.start()
        # Of the functions run at exit this is nearly the first to be registered, hence nearly the last to run:
        # after the script's threads have ended and its own functions have run.
        atexit.register(self.finish)
        os._exit = self._leave_at_once
        os.register_at_fork(after_in_parent=self._count_fork)
        threading.Thread(target=self._send_at_times, name="tacit-report", daemon=True).start()

    def finish(self) -> None:
        """Stop the instruments and send all that was seen; a forked copy of the process says nothing."""
        if os.getpid() != self._owner or self._is_over.is_set():
            return
        self._is_over.set()
        with contextlib.suppress(ValueError):
            # Not in the main thread when os._exit was called elsewhere.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with self._lock:
            try:
                snapshot = self._instruments.dump_snapshot() if self._wants_snapshot else None
                self._send(self._instruments.stop(), is_whole=True)
                if snapshot is not None:
                    self._channel.send("snapshot", snapshot)
            except Exception as fault:
                self._channel.send("fault", what=_describe_fault(fault))

    def _leave_at_once(self, status: int) -> NoReturn:
        """Stand for ``os._exit``: report first."""
        if status and self.error is None:
            self.error = {"kind": "exit", "type": "os._exit", "message": str(status)}
        self.finish()
        self._leave(status)

    def _count_fork(self) -> None:
        self._forks += os.getpid() == self._owner

    def _send_at_times(self) -> None:
        period_s = pause_s = FIRST_S
        while not self._is_over.wait(pause_s):
            started_s = time.monotonic()
            # What goes wrong here goes wrong at the end too, and is said there.
            with self._lock, contextlib.suppress(Exception):
                if not self._is_over.is_set():
                    self._send(self._instruments.observe(), is_whole=False)
            period_s = min(2 * period_s, LAST_S)
            pause_s = max(period_s, PATIENCE * (time.monotonic() - started_s))

    def _send(self, seen: Observation, *, is_whole: bool) -> None:
        self._send_items("syncs", [_dump_sync(sync) for sync in seen.syncs[self._sent["syncs"] :]])
        self._send_items("spans", [_dump_span(span) for span in self._new_spans(seen)])
        self._channel.send(
            "report",
            device=seen.device,
            device_name=seen.device_name,
            races=[_dump_race(race) for race in seen.races],
            launches=seen.launches,
            started_us=seen.started_us,
            stopped_us=seen.stopped_us,
            dropped_spans=seen.dropped_spans,
            peak_allocated_bytes=seen.peak_allocated_bytes,
            peak_reserved_bytes=seen.peak_reserved_bytes,
            by_site=[{"site": owner.site, "size_bytes": owner.size_bytes} for owner in seen.by_site],
            notes=[*seen.notes, *(["forked"] if self._forks else [])],
            error=self.error,
            is_whole=is_whole,
        )

    def _new_spans(self, seen: Observation) -> Sequence[DeviceSpan]:
        return seen.spans[max(self._sent["spans"] - seen.dropped_spans, 0) :]

    def _send_items(self, kind: str, items: list[dict[str, Any]]) -> None:
        self._sent[kind] += len(items)
        for at in range(0, len(items), ITEMS):
            self._channel.send(kind, items=items[at : at + ITEMS])


def _describe_fault(fault: Exception) -> str:
    traceback = fault.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    place = f" ({os.path.basename(traceback.tb_frame.f_code.co_filename)}:{traceback.tb_lineno})" if traceback else ""  # noqa: PTH119
    return f"{type(fault).__name__}: {fault}{place}"


def _dump_sync(sync: Sync) -> dict[str, Any]:
    return {
        "kind": sync.kind,
        "call": sync.call,
        "site": sync.site,
        "stream": sync.stream,
        "started_us": sync.started_us,
        "waited_us": sync.waited_us,
        "is_seen_by_debug_mode": sync.is_seen_by_debug_mode,
    }


def _dump_span(span: DeviceSpan) -> dict[str, Any]:
    return {
        "name": span.name,
        "stream": span.stream,
        "engine": span.engine,
        "started_us": span.started_us,
        "ended_us": span.ended_us,
        "launched_us": span.launched_us,
        "site": span.site,
    }


def _dump_race(race: Race) -> dict[str, Any]:
    return {
        "kind": race.kind,
        "first": _dump_touch(race.first),
        "second": _dump_touch(race.second),
        "missing": dict(race.missing),
        "advice": dict(race.advice),
        "looks": [
            {"what": look.what, "op": look.op, "element": look.element, "saw": look.saw, "could": look.could}
            for look in race.looks
        ],
    }


def _dump_touch(touch: Touch) -> dict[str, Any]:
    return {"op": touch.op, "site": touch.site, "stream": touch.stream, "variable": touch.variable}
