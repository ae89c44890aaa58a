"""Start of an inspected script's process: ``python entry.py REPORT_FD STACK_FD OPTIONS FILE [args…]``.

The script sees what it would see under ``python FILE [args…]``: its arguments, its folder on the import path,
a ``__main__`` of its own, the caller's directory, environment and standard streams.
"""

from __future__ import annotations

import os
import signal
import sys

# Ctrl-C is the script's: one that comes before the script runs waits for it.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _settle_path() -> None:
    """Take this folder off the import path, and make sure that the judge can be found, last of all."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    if sys.path and os.path.abspath(sys.path[0] or ".") == here:  # noqa: PTH100
        del sys.path[0]
    try:
        import judge  # noqa: F401
    except ImportError:
        sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(here))))  # noqa: PTH120


_settle_path()

import ctypes  # noqa: E402
import faulthandler  # noqa: E402
import json  # noqa: E402
import warnings  # noqa: E402
from typing import Any, NoReturn  # noqa: E402

from judge.harness.channel import Channel, hide_descriptor  # noqa: E402
from judge.harness.inspected.report import Reporter  # noqa: E402
from judge.harness.inspected.script import Script, end_at_sigterm, run_script  # noqa: E402
from judge.instruments.instruments import Instruments  # noqa: E402

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> NoReturn:
    """Put the script under the instruments, run it, and leave as it left."""
    report_descriptor, stack_descriptor = int(arguments[0]), int(arguments[1])
    options: dict[str, Any] = json.loads(arguments[2])
    if sys.platform == "linux":
        # A parent that is killed takes the script with it, as its terminal would.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    channel = Channel(hide_descriptor(report_descriptor))
    faulthandler.enable(file=hide_descriptor(stack_descriptor))
    sys.argv[:] = arguments[3:]
    sys.orig_argv[1:] = arguments[3:]
    script = Script.read(arguments[3])
    if script.error is not None:
        channel.send("report", **Reporter.report_nothing(options["device"], script.error))
        sys.exit(1)
    try:
        reporter = Reporter(channel, _install(options), wants_snapshot=options["wants_snapshot"])
        reporter.start()
        end_at_sigterm()
    except Exception as fault:
        channel.send("fault", what=f"{type(fault).__name__}: {fault}")
        os._exit(3)
    sys.exit(run_script(script, reporter))


def _install(options: dict[str, Any]) -> Instruments:
    """Bind the device and its instruments before a line of the script has run."""
    with warnings.catch_warnings():
        # Said by torch wherever numpy is missing, when it is imported or first made to look for it.
        warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
        return _make_instruments(options)


def _make_instruments(options: dict[str, Any]) -> Instruments:
    if options["device"] == "sim":
        from judge.devices.sim.install import install
        from judge.instruments.simulated import SimulatedInstruments

        return SimulatedInstruments(install(), wants_history=options["wants_snapshot"])
    from judge.instruments.cuda.instruments import CudaInstruments

    return CudaInstruments(wants_history=options["wants_snapshot"])


if __name__ == "__main__":
    main(sys.argv[1:])
