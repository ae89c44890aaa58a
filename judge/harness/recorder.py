"""The hooks that turn a pytest session into records; registered only when the judge runs the tests."""

from __future__ import annotations

import contextlib
import gc
import sys
import time
import warnings
from collections.abc import Callable, Generator
from typing import Any, NoReturn

import pytest

from judge.harness.asserts import Compared
from judge.harness.channel import Channel
from judge.harness.clock import Clock, TimeIsUp
from judge.harness.diagnosis import Escape, Finding, diagnose, diagnose_timeout
from judge.harness.diagnostic import diagnostic, text
from judge.harness.frames import Sources, Trace
from judge.harness.leftovers import Process, forget_last_exception, release_locals, restore_torch, seed_everything
from judge.harness.marks import read_case
from judge.harness.printed import Printed
from judge.harness.properties import Search, SearchEnded
from judge.harness.request import Request
from judge.harness.show import show
from judge.models.status import Status


class Recorder:
    """Sends collected, started and finished, and keeps one test from reaching the next.

    Args:
        channel: where records go.
        clock: the alarm of each test.
        sources: who owns which file.
        printed: what the running test has printed.
        request: seed, clock, and whether to stop early.
        leave: ends the process, when it must run no more of the learner's code.
    """

    def __init__(
        self,
        channel: Channel,
        clock: Clock,
        sources: Sources,
        printed: Printed,
        request: Request,
        leave: Callable[[], NoReturn],
    ) -> None:
        self._channel = channel
        self._clock = clock
        self._sources = sources
        self._printed = printed
        self._seed = request.seed
        self._test_s = request.test_s
        self._stop_early = request.stop_at_first_failure
        self._leave = leave
        self._process = Process()
        self._finding: Finding | None = None
        self._compared: Compared | None = None
        self._search = Search()
        self.has_collected = False
        self.fault: dict[str, Any] | None = None
        """Why no test could be collected."""
        self._must_leave = False

    # Collection

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(
        self,
        node: pytest.Item | pytest.Collector,
        call: pytest.CallInfo[Any],
        report: pytest.CollectReport | pytest.TestReport,
    ) -> None:
        """Keep the first fault of collection."""
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None and self.fault is None:
            cause = call.excinfo.value
            cause = cause.__cause__ or cause.__context__ or cause
            self.fault = diagnose(cause, self._sources).diagnostic | {"kind": "judge"}
            self.fault["what"] = text("not_collected", file=node.nodeid or "tests", what=self.fault["what"]["en"])

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Send the tests in their order."""
        self._process.keep_settings()
        if self.fault is None:
            try:
                tests = [read_case(item) for item in session.items]
            except ValueError as fault:
                self.fault = diagnostic("judge", text("bad_mark", message=str(fault)))
                raise session.Interrupted(str(fault)) from fault
            if tests:
                self.has_collected = True
                gc.enable()
                self._channel.send("collected", tests=tests)

    # One test

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Send ``started`` and ``finished`` around the test, whatever happens in between."""
        self._restore(item)
        self._printed.clear()
        self._finding = None
        self._compared = None
        self._search = Search()
        self._channel.send("started", test=item.nodeid)
        started_s = time.perf_counter()
        self._clock.arm_stack(self._test_s)
        try:
            result = yield
        except BaseException as fault:
            self._must_leave = True
            self._keep(fault)
            result = True
        self._channel.end_copy()  # before the clock, whose thread a copy lacks
        self._clock.stop()
        self._finish(item.nodeid, time.perf_counter() - started_s)
        if self._must_leave:
            self._leave()
        return result

    def _restore(self, item: pytest.Item) -> None:
        forget_last_exception()
        self._process.restore()
        restore_torch()
        seed_everything(self._seed, item.nodeid)

    def _finish(self, test: str, duration_s: float) -> None:
        if self._clock.stack is not None and (self._finding is None or self._finding.status is not Status.WRONG):
            self._finding = diagnose_timeout(Trace(self._sources, self._clock.stack), self._test_s)
            self._must_leave = True
        finding = self._finding or Finding(Status.ACCEPTED, {})
        self._channel.send(
            "finished",
            test=test,
            status=finding.status.value,
            duration_s=duration_s,
            diagnostic=finding.diagnostic or None,
            output=str(self._printed),
        )
        is_failure = finding.status not in (Status.ACCEPTED, Status.NOT_JUDGED)
        self._must_leave = self._must_leave or (self._stop_early and is_failure)

    def _keep(self, fault: BaseException) -> None:
        """Keep the first finding of a test; the values it shows may be hostile, or take for ever."""
        if self._finding is not None or isinstance(fault, TimeIsUp):
            return
        try:
            with self._clock.open():
                self._finding = diagnose(fault, self._sources, self._compared)
        except TimeIsUp:
            return
        except Exception:
            what = text("raised_somewhere", raised=type(fault).__name__)
            self._finding = Finding(Status.RUNTIME_ERROR, diagnostic("exception", what))

    def pytest_timeout_set_timer(self, settings: Any) -> bool:  # noqa: ANN401  untyped there
        """Use the judge's alarm in place of pytest-timeout's."""
        self._clock.start(settings.timeout)
        return True

    def pytest_timeout_cancel_timer(self) -> bool:
        """Leave the alarm on: a failed test's teardown is on the clock too."""
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, Any, Any]:
        """Keep exits inside the test."""
        with self._contained():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        """Keep exits inside the test."""
        with self._contained():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, Any, Any]:
        """Keep exits inside the test."""
        with self._contained():
            return (yield)

    @contextlib.contextmanager
    def _contained(self) -> Generator[None]:
        try:
            with self._clock.open():
                yield
        except (pytest.exit.Exception, KeyboardInterrupt) as fault:
            raise Escape(type(fault).__name__) from fault

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
        """Watch a search for examples: when it is cut short, its best failure stands."""
        self._search.watch(pyfuncitem)
        try:
            return (yield)
        except (SearchEnded, TimeIsUp):
            failure = self._search.take_failure()
            if failure is None:
                raise
            raise failure from failure.__cause__

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> pytest.TestReport:
        """Diagnose what was raised; pytest's own long representation is never built."""
        outcome = "passed"
        if call.excinfo is not None:
            self._keep(call.excinfo.value)
            release_locals(call.excinfo.value)
            outcome = "failed"
        message = self._finding.diagnostic["what"]["en"] if self._finding and outcome == "failed" else None
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, message, call.when)  # type: ignore[arg-type]  # pytest's literals

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Keep both sides of an ``assert``, as text, for its diagnosis."""
        self._compared = Compared(op, show(left), show(right))

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, nodeid: str) -> None:
        """Show warnings of the learner's own lines among what the test printed."""
        if nodeid and warning_message.filename == self._sources.learner:
            sys.stderr.write(
                warnings.formatwarning(
                    str(warning_message.message),
                    warning_message.category,
                    warning_message.filename,
                    warning_message.lineno,
                )
            )
