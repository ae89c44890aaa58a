"""The instruments on the simulated device, through ``Watch``; each test in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

PRELUDE = """
import warnings
warnings.simplefilter("ignore")
import torch
from judge.devices.sim.install import install
from judge.instruments.instruments import Watch
from judge.instruments.simulated import SimulatedInstruments

simulation = install()
instruments = SimulatedInstruments(simulation)
"""


def run(source: str) -> list[str]:
    """Run a program on the simulated device and return what it printed."""
    program = PRELUDE + textwrap.dedent(source)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=110, check=False)
    assert 0 == done.returncode, done.stderr
    return done.stdout.splitlines()


def test_a_watch_sees_its_block_and_nothing_else() -> None:
    """Waits, launches and memory from before and after are not its own; a second watch starts afresh."""
    expected = ["1 ['Tensor.item'] 2 4194304 True", "0 [] 1 4194304 True", "raised known"]
    assert expected == run(
        """
        a = torch.ones(1024, 1024, device="cuda")
        a.sum().item()
        torch.cuda.reset_peak_memory_stats()

        def show(seen):
            calls = [sync.call for sync in seen.syncs]
            print(len(seen.syncs), calls, seen.launches, seen.peak_bytes // 4194304 * 4194304, seen.makespan_us > 0)

        with Watch(instruments) as seen:
            a.sum().item()
        show(seen)
        with Watch(instruments) as seen:
            a.add_(1)
        a.sum().item()
        show(seen)
        try:
            Watch(instruments).syncs
        except RuntimeError as fault:
            print("raised", "known" if "known once" in str(fault) else fault)
        """
    )


def test_overlap_and_races_are_seen() -> None:
    """Two streams at work at once overlap; without a wait between them they race."""
    expected = ["True 0", "False 1 read-after-write"]
    assert expected == run(
        """
        side = torch.cuda.Stream()
        with Watch(instruments) as seen:
            torch.cuda._sleep(2_000_000)
            with torch.cuda.stream(side):
                torch.cuda._sleep(2_000_000)
        print(seen.overlap > 0.5, len(seen.races))
        torch.cuda.synchronize()
        with Watch(instruments) as seen:
            x = torch.ones(1 << 20, device="cuda")
            with torch.cuda.stream(side):
                y = x + 1
        print(seen.overlap > 0.5, len(seen.races), seen.races[0].kind)
        """
    )
