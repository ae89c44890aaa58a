"""One child process: started under the supervisor, watched, ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

import judge
from judge.models.problem import Limits, Problem
from judge.models.record import End, EndKind, RunRecord
from judge.runner.reader import RecordReader
from judge.runner.workspace import Workspace
from judge.sandbox.limits import plan_environment, plan_limits

SUPERVISOR = Path(judge.__file__).parent / "sandbox" / "supervisor.py"
ENTRY = Path(judge.__file__).parent / "harness" / "entry.py"

GRACE_S = 1.5
"""The child's own clock strikes first; only what it can't interrupt is ended from here."""
STOP_S = 2.0
"""How long the supervisor may take to end the tree before it is killed itself."""
STACK_BYTES = 64 << 10


class Child:
    """A running child and what has been read of it so far."""

    def __init__(self, role: str, problem: Problem, workspace: Workspace, request: dict[str, object]) -> None:
        self.role = role
        self.limits: Limits = problem.limits
        self.reader = RecordReader(problem.limits.evidence_bytes)
        self.output = bytearray()
        self.output_dropped_bytes = 0
        self.end_kind: EndKind | None = None
        self._status = bytearray()
        self._stack: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        self._started_s = time.monotonic()
        self._ended_s: float | None = None
        self._test_clock_s = self._started_s
        self._stop_sent_s: float | None = None
        self._start(workspace, request)

    def _start(self, workspace: Workspace, request: dict[str, object]) -> None:
        request_out, request_in = os.pipe()
        report_out, report_in = os.pipe()
        status_out, status_in = os.pipe()
        stdin_out, self._stdin_in = os.pipe()
        passed = (request_out, report_in, self._stack.fileno(), status_in)
        command = [
            sys.executable, "-I", "-S", str(SUPERVISOR), str(status_in), json.dumps(plan_limits()),
            sys.executable, "-I", str(ENTRY), str(request_out), str(report_in), str(self._stack.fileno()),
        ]  # fmt: skip
        try:
            self._process = subprocess.Popen(
                command,
                cwd=workspace.scratch,
                env=plan_environment(workspace.scratch),
                stdin=stdin_out,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=passed,
                start_new_session=True,
            )
        finally:
            for descriptor in (request_out, report_in, status_in, stdin_out):
                os.close(descriptor)
        # A request is far smaller than a pipe's buffer: this write can't block.
        with os.fdopen(request_in, "wb") as pipe, contextlib.suppress(BrokenPipeError):
            pipe.write(json.dumps(request).encode())
        assert self._process.stdout is not None  # PIPE was asked for
        self._descriptors = (report_out, status_out, self._stdin_in)
        self.sources = {
            report_out: self._take_records,
            status_out: self._take_status,
            self._process.stdout.fileno(): self._take_output,
        }

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
            if now - self._stop_sent_s > STOP_S and self._process.poll() is None:
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
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    def close(self) -> RunRecord:
        """Release everything and return the record; the tree is dead afterwards."""
        if self._process.poll() is None:
            self.stop(self.end_kind)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._stack.seek(0)
        stack = self._stack.read(STACK_BYTES).decode("utf-8", "backslashreplace")
        self._stack.close()
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
