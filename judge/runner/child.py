"""One child process: told what to run, watched, ended."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping

from judge.models.problem import Limits
from judge.models.record import End, EndKind, RunRecord
from judge.runner.nursery import STOP_S, Process
from judge.runner.reader import RecordReader

GRACE_S = 1.5
"""The child's own clock strikes first; only what it can't interrupt is ended from here."""


class Child:
    """A running child and what has been read of it so far."""

    def __init__(self, role: str, limits: Limits, process: Process, request: Mapping[str, object]) -> None:
        self.role = role
        self.limits = limits
        self.reader = RecordReader(limits.evidence_bytes)
        self.output = bytearray()
        self.output_dropped_bytes = 0
        self.end_kind: EndKind | None = None
        self._process = process
        self._status = bytearray()
        self._started_s = time.monotonic()
        self._ended_s: float | None = None
        self._test_clock_s = self._started_s
        self._stop_sent_s: float | None = None
        self.sources = {
            process.report: self._take_records,
            process.status: self._take_status,
            process.output: self._take_output,
        }
        process.ask(request)

    def take(self, descriptor: int) -> bool:
        """Read what is ready on one of ``sources``; return whether more may come."""
        data = os.read(descriptor, 1 << 18)
        if data:
            self.sources[descriptor](data)
        return bool(data)

    def _take_records(self, data: bytes) -> None:
        for kind in self.reader.feed(data):
            if kind in ("hello", "collected", "started", "finished"):
                self._test_clock_s = time.monotonic()
        if self.reader.fault is not None:
            self.stop()

    def _take_status(self, data: bytes) -> None:
        self._status += data
        self._ended_s = time.monotonic()

    def _take_output(self, data: bytes) -> None:
        self.output += data
        surplus = len(self.output) - self.limits.output_bytes
        if surplus > 0:
            # Begin and end are kept: the first error and the last words.
            middle = self.limits.output_bytes // 2
            del self.output[middle : middle + surplus]
            self.output_dropped_bytes += surplus

    def check_clocks(self) -> None:
        """End the child when a clock has struck, and the supervisor when it does not obey."""
        now = time.monotonic()
        if self._stop_sent_s is not None:
            if now - self._stop_sent_s > STOP_S and not self._process.has_ended():
                self._process.kill()
        elif now - self._started_s > self.limits.wall_s:
            self.stop(EndKind.WALL_CLOCK)
        elif self.reader.is_greeted and not self.reader.is_complete:
            allowed_s = self.limits.test_s if self.reader.is_collected else self.limits.load_s
            if now - self._test_clock_s > allowed_s + GRACE_S:
                self.stop(EndKind.TEST_CLOCK)

    def stop(self, why: EndKind | None = None) -> None:
        """Ask the supervisor to kill the whole tree."""
        if self._stop_sent_s is None:
            self.end_kind = why
            self._stop_sent_s = time.monotonic()
            self._process.stop()

    def close(self) -> RunRecord:
        """Wait until the tree is dead, and return the record."""
        if not self._process.has_ended():
            self.stop(self.end_kind)
        stack = self._process.end()
        self._process.close()
        return self._record(stack)

    def _record(self, stack: str) -> RunRecord:
        reader = self.reader
        status = json.loads(self._status) if self._status else {}
        return RunRecord(
            role=self.role,
            tests=tuple(reader.tests),
            outcomes=tuple(reader.outcomes),
            evidence=tuple(reader.evidence),
            measurements=tuple(reader.measurements),
            load_status=reader.load_status,
            diagnostics=tuple(reader.diagnostics),
            running_test=reader.running_test,
            is_complete=reader.is_complete,
            channel_fault=reader.fault,
            end=self._describe_end(status.get("status")),
            stack=stack,
            output=self.output.decode("utf-8", "backslashreplace"),
            output_dropped_bytes=self.output_dropped_bytes,
            wall_s=(self._ended_s or time.monotonic()) - self._started_s,
            peak_rss_bytes=status.get("peak_rss_bytes"),
            device=reader.device,
            versions=reader.versions,
        )

    def _describe_end(self, status: int | None) -> End:
        if self.end_kind is not None:
            return End(kind=self.end_kind)
        if status is None:
            return End(kind=EndKind.NOT_STARTED if not self.reader.is_greeted else EndKind.SIGNALLED)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
            return End(kind=EndKind.SIGNALLED, signal=name)
        return End(kind=EndKind.EXITED, exit_code=os.waitstatus_to_exitcode(status))
