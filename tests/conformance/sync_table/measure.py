"""Measure one program: how often sync debug mode speaks, and whether the host is blocked behind a busy stream.

Run as a module on a real GPU, this prints how many waits the instruments count in each program that is named.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from judge.devices.sim.ledger import SYNC_TEXT
from judge.instruments.instruments import Instruments, Watch
from tests.conformance.sync_table.programs import PROGRAMS, Bench, torch

NOTICE = "Synchronization debug mode is a prototype feature"
SLEEP_CYCLES = 60_000_000
"""About 30 ms."""
BLOCKED_MS = 15.0


class Row(NamedTuple):
    """What was measured of one program."""

    warnings: int
    is_blocking: bool


def measure(name: str, read_clock_ms: Callable[[], float], *, has_notice: bool = False) -> Row:
    """Run a program, once to warm up, once to count and once behind a kernel of 30 ms.

    Args:
        name: of the program.
        read_clock_ms: returns the host's time.
        has_notice: whether the notice that comes with the first use of sync debug mode is counted too.
    """
    bench, program = Bench(), PROGRAMS[name]
    _warm_up(program, bench)
    count = _count_warnings(lambda: program(bench), has_notice=has_notice)
    torch.cuda.synchronize()
    torch.cuda._sleep(SLEEP_CYCLES)
    start_ms = read_clock_ms()
    program(bench)
    is_blocking = read_clock_ms() - start_ms > BLOCKED_MS
    torch.cuda.synchronize()
    return Row(count, is_blocking)


def read_real_ms() -> float:
    """Return the time of a real host."""
    return time.perf_counter() * 1000.0


def count_syncs(name: str, instruments: Instruments) -> int:
    """Return how many waits the instruments see in a program that has run before."""
    bench, program = Bench(), PROGRAMS[name]
    _warm_up(program, bench)
    with Watch(instruments) as seen:
        program(bench)
    return len(seen.syncs)


def _warm_up(program: Callable[[Bench], Any], bench: Bench) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested tensors are called a prototype, once
        program(bench)
    torch.cuda.synchronize()


def _count_warnings(run: Callable[[], Any], *, has_notice: bool) -> int:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        run()
        torch.cuda.set_sync_debug_mode("default")
    texts = [str(warning.message) for warning in caught]
    wanted = (SYNC_TEXT, NOTICE) if has_notice else (SYNC_TEXT,)
    return sum(text.startswith(wanted) for text in texts)


def main() -> None:
    """Count on a real GPU in the programs that the command line names, and print JSON."""
    from judge.instruments.cuda.instruments import CudaInstruments

    warnings.simplefilter("ignore")
    instruments = CudaInstruments()
    has_numpy = importlib.util.find_spec("numpy") is not None
    names = [name for name in sys.argv[1:] if has_numpy or "(np)" not in name]
    print(json.dumps({name: count_syncs(name, instruments) for name in names}))


if __name__ == "__main__":
    main()
