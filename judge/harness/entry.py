"""Start of a child process: ``python -I entry.py REQUEST_FD REPORT_FD STACK_FD``.

Reads one request, loads the solution, runs the problem's tests and writes records. ``entry.py serve SOCKET_FD
DEVICE`` is a fork server instead, whose children do so.
"""

from __future__ import annotations

import gc
import os
import sys

# What is imported stays: looking for garbage among it would take a tenth of the time.
gc.disable()


def _find_package() -> str:
    """Make ``judge`` importable and return the folder above it."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    try:
        import judge  # noqa: F401
    except ImportError:
        sys.path.insert(0, root)
    return root


ROOT = _find_package()

import contextlib  # noqa: E402
import faulthandler  # noqa: E402
import re  # noqa: E402
import warnings  # noqa: E402
from importlib.metadata import PackageNotFoundError, version  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NoReturn  # noqa: E402

# The two plugins are imported here, before the solution can put a file of their name on the path.
import _hypothesis_pytestplugin  # type: ignore[import-untyped]  # noqa: E402, F401
import pytest  # noqa: E402
import pytest_timeout  # type: ignore[import-untyped]  # noqa: E402, F401

from judge.harness import plugin  # noqa: E402
from judge.harness.binding import BINDING, Binding  # noqa: E402
from judge.harness.channel import Channel, hide_descriptor  # noqa: E402
from judge.harness.clock import Clock, TimeIsUp  # noqa: E402
from judge.harness.device import prepare_device  # noqa: E402
from judge.harness.diagnosis import diagnose_timeout  # noqa: E402
from judge.harness.diagnostic import diagnostic, text  # noqa: E402
from judge.harness.frames import Sources, Trace  # noqa: E402
from judge.harness.keyboard import install_keyboard  # noqa: E402
from judge.harness.leftovers import Process, restore_torch  # noqa: E402
from judge.harness.loading import Loaded, avoid_files, load_solution  # noqa: E402
from judge.harness.printed import Printed, install_tee  # noqa: E402
from judge.harness.recorder import Recorder  # noqa: E402
from judge.harness.request import Request, read_request  # noqa: E402
from judge.harness.syntax import LoadFailure  # noqa: E402
from judge.models.status import Status  # noqa: E402

NAMED_PACKAGES = ("torch", "pytest", "hypothesis")
ASSERTION = re.compile(rb"^\s*(?:assert\b|.*[;:]\s*assert\b)", re.MULTILINE)
NOT_LOADED = 1
"""Exit code in ``done`` when the solution or the tests could not be loaded."""
CUT_SHORT = 2
"""Exit code in ``done`` when the process left in the middle of the tests."""


class Bound:
    """Hands the binding to the session before anything is collected."""

    def __init__(self, binding: Binding) -> None:
        self._binding = binding

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Bind the session."""
        config.stash[BINDING] = self._binding


class Run:
    """One request, carried out."""

    def __init__(self, request: Request, channel: Channel, stack_descriptor: int, printed: Printed) -> None:
        self._request = request
        self._channel = channel
        self._clock = Clock(stack_descriptor, channel.is_writing)
        self._printed = printed
        self._streams = (sys.stdout, sys.stderr)
        self._sources = Sources(request.shown_path, request.tests_dir)

    def carry_out(self) -> NoReturn:
        """Load, run, report, and leave without giving the learner's code another turn."""
        # Before the first record, from which on the parent's clock runs.
        prepare_device(self._request.device)
        self._channel.send("hello", device=self._request.device, versions=_versions())
        try:
            loaded = self._load()
        except LoadFailure as failure:
            self._channel.send("load_failed", status=failure.status.value, diagnostic=failure.diagnostic)
            self._leave(NOT_LOADED)
        self._leave(self._test(loaded))

    def _load(self) -> Loaded:
        """Load the solution on a clock of its own."""
        request = self._request
        shown = request.shown_path
        # Its last part: in the private working directory that names no file, and its folder is that directory.
        file = avoid_files(Path(shown).name)
        source = Path(request.solution_path).read_bytes()
        stub = Path(request.stub_path).read_text(encoding="utf-8")
        before = Process()
        self._clock.arm_stack(request.load_s)
        self._clock.start(request.load_s)
        try:
            with self._clock.open():
                loaded = load_solution(source, stub, self._sources, shown_path=shown, file=file)
        except TimeIsUp:
            self._clock.stop()
        except LoadFailure:
            self._clock.stop()
            if not self._clock.has_struck:
                raise
        self._clock.stop()
        if self._clock.stack is not None:
            found = diagnose_timeout(Trace(self._sources, self._clock.stack), request.load_s)
            raise LoadFailure(found.status, found.diagnostic)
        before.keep_settings()
        before.restore()
        restore_torch()
        for warning in loaded.warnings:
            self._channel.send("warning", diagnostic=warning)
        return loaded

    def _test(self, loaded: Loaded) -> int:
        """Run pytest and return its exit code."""
        request = self._request
        recorder = Recorder(self._channel, self._clock, self._sources, self._printed, request, self._cut_short)
        binding = Binding(loaded.module, request.seed, request.device, self._channel, request.evidence_bytes)
        _shut_out_plugins()
        # For modules that tests share; last, so that it shadows nothing.
        sys.path.append(request.tests_dir)
        gc.disable()  # as above; the recorder turns it on before the first test
        code = int(pytest.main(_arguments(request), [plugin, Bound(binding), recorder]))
        if not recorder.has_collected or code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
            fault = recorder.fault or diagnostic("judge", text("no_tests", code=code))
            self._channel.send("load_failed", status=Status.JUDGE_ERROR.value, diagnostic=fault)
        return code

    def _cut_short(self) -> NoReturn:
        self._leave(CUT_SHORT)

    def _leave(self, code: int) -> NoReturn:
        self._channel.send("done", exit_code=code)
        for stream in self._streams:
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(0)


def _arguments(request: Request) -> list[str]:
    """Return pytest's arguments: nothing from the surroundings, no terminal, no files written."""
    off = ("cacheprovider", "faulthandler", "terminal", "logging", "unittest", "doctest", "junitxml", "pastebin")
    unneeded = ("unraisableexception", "threadexception", "stepwise", "legacypath", "setuponly", "setupplan")
    return [
        *(f"-pno:{name}" for name in off + unneeded),
        "-ppytest_timeout",
        "-p_hypothesis_pytestplugin",
        f"-c{os.devnull}",
        f"--rootdir={request.tests_dir}",
        f"--confcutdir={request.tests_dir}",
        "--import-mode=importlib",
        "--capture=no",
        "--strict-markers",
        *([] if _has_assertions(request.tests_dir) else ["--assert=plain"]),
        f"--timeout={request.test_s}",
        "--timeout-method=signal",
        *(["--exitfirst"] if request.stop_at_first_failure else []),
        *(f"{request.tests_dir}/{test}" for test in request.only or ("",)),
    ]


def _has_assertions(tests_dir: str) -> bool:
    """Return whether any test file has an ``assert`` for pytest to rewrite; most only ever call ``expect``."""
    return any(ASSERTION.search(path.read_bytes()) for path in Path(tests_dir).rglob("*.py"))


def _shut_out_plugins() -> None:
    """Let pytest load what it is told to and nothing else, whatever the solution did to the environment."""
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"


def _versions() -> dict[str, str]:
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in NAMED_PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _forget_repository(root: str) -> None:
    """Take the repository off the import path: ``import reference`` must fail in the solution."""
    if not (Path(root) / "pyproject.toml").is_file():
        return  # an installed package: its folder holds everything else that is installed
    sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) != os.path.realpath(root)]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not _is_editable_finder(finder)]


def _is_editable_finder(finder: object) -> bool:
    module = sys.modules.get(getattr(finder, "__module__", ""))
    return "judge" in getattr(module, "MAPPING", {})


def main(arguments: list[str]) -> NoReturn:
    """Carry out the request on the first descriptor."""
    request_descriptor, report_descriptor, stack_descriptor = map(int, arguments)
    request = read_request(request_descriptor)
    channel = Channel(hide_descriptor(report_descriptor))
    stack_descriptor = hide_descriptor(stack_descriptor)
    faulthandler.enable(file=stack_descriptor)
    # Torch says so wherever numpy is not installed; it is not the learner's doing.
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    install_keyboard()
    printed = install_tee()
    _forget_repository(ROOT)
    gc.freeze()
    gc.enable()
    Run(request, channel, stack_descriptor, printed).carry_out()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        from judge.harness.forkserver import serve

        serve(int(sys.argv[2]), sys.argv[3], main)
    main(sys.argv[1:])
