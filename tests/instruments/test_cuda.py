"""The instruments on a real GPU; each test in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[2]
PRELUDE = """
import json, warnings
import torch
from judge.instruments.cuda.instruments import CudaInstruments
from judge.instruments.instruments import Watch

instruments = CudaInstruments()
"""


def run(*arguments: str) -> Any:
    """Run Python with these arguments and return the JSON in the last line that it printed."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=800, check=False)
    assert 0 == done.returncode, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def watch(source: str) -> Any:
    """Run a program that prints JSON last."""
    return run("-c", PRELUDE + textwrap.dedent(source))


def test_the_counter_agrees_with_behaviour_on_every_program() -> None:
    """Whether the host is blocked behind a busy stream is what the counter says, the five missed forms included."""
    assert {} == run("-m", "tests.instruments.cuda_rows")


def test_waits_have_kind_call_and_line() -> None:
    """Debug mode, wrappers and the profiler name the same lines."""
    found = watch(
        """
        x = torch.zeros(1024, device="cuda")
        event = torch.cuda.Event()
        page = torch.zeros(1 << 20)
        with Watch(instruments) as seen:
            x.sum().item()
            torch.cuda.synchronize()
            event.record()
            event.synchronize()
            page.to("cuda", non_blocking=True)
            torch.nonzero(x)
        print(json.dumps([[one.kind, one.call, one.is_seen_by_debug_mode] for one in seen.syncs]))
        """
    )
    expected = [
        ["item", "Tensor.item", True],
        ["device_synchronize", "torch.cuda.synchronize", False],
        ["event_synchronize", "torch.cuda.Event.synchronize", False],
        ["copy_h2d", "Tensor.to", False],
        ["nonzero", "torch.nonzero", True],
    ]
    assert expected == found


def test_stop_puts_everything_back() -> None:
    """Names, warning filters and debug mode are as before."""
    assert watch(
        """
        before = (torch.cuda.synchronize, torch.cuda.Event.synchronize, torch.cuda.empty_cache)
        modes = (torch.cuda.get_sync_debug_mode(), list(warnings.filters), warnings._showwarnmsg)
        with Watch(instruments):
            torch.zeros(3, device="cuda").sum().item()
        after = (torch.cuda.synchronize, torch.cuda.Event.synchronize, torch.cuda.empty_cache)
        print(json.dumps(before == after and modes == (
            torch.cuda.get_sync_debug_mode(), list(warnings.filters), warnings._showwarnmsg)))
        """
    )


def test_the_script_s_own_debug_mode_holds() -> None:
    """``error`` raises, and the mode reads back as it was set."""
    assert [1, 0, "raised", 2] == watch(
        """
        seen_modes = []
        with Watch(instruments):
            torch.cuda.set_sync_debug_mode("warn")
            seen_modes.append(torch.cuda.get_sync_debug_mode())
            torch.cuda.set_sync_debug_mode(0)
            seen_modes.append(torch.cuda.get_sync_debug_mode())
            torch.cuda.set_sync_debug_mode("error")
            try:
                torch.zeros(3, device="cuda").sum().item()
            except RuntimeError:
                seen_modes.append("raised")
            seen_modes.append(torch.cuda.get_sync_debug_mode())
        print(json.dumps(seen_modes))
        """
    )


def test_a_race_is_collected_and_the_script_goes_on() -> None:
    """Without the wait there is one, with it none."""
    assert [["read-after-write"], []] == watch(
        """
        side = torch.cuda.Stream()
        kinds = []
        for is_mended in (False, True):
            with Watch(instruments) as seen:
                x = torch.ones(1 << 20, device="cuda")
                if is_mended:
                    side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(side):
                    y = x + 1
                torch.cuda.synchronize()
            kinds.append([race.kind for race in seen.races])
        print(json.dumps(kinds))
        """
    )


@pytest.mark.parametrize(
    ("mend", "kinds"),
    [
        ("pass", ["reused-block"]),
        ("x.record_stream(side)", []),
        ("torch.cuda.current_stream().wait_stream(side)", []),
    ],
    ids=["faulty", "record_stream", "wait_stream"],
)
def test_memory_freed_while_another_stream_uses_it_is_a_race(mend: str, kinds: list[str]) -> None:
    """The block's next owner shows it: CUDA's sanitizer forgets a tensor when it is freed."""
    assert kinds == watch(
        f"""
        side = torch.cuda.Stream()
        with Watch(instruments) as seen:
            x = torch.ones(1 << 20, device="cuda")
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                y = x + 1
            {mend}
            del x
            z = torch.zeros(1 << 20, device="cuda")
            torch.cuda.synchronize()
        print(json.dumps([race.kind for race in seen.races]))
        """
    )


def test_an_exception_with_a_tensor_on_its_way_is_not_lost() -> None:
    """Nothing of ours runs while a temporary tensor dies, neither during a watch nor for the rest of the process."""
    assert ["ZeroDivisionError", "ZeroDivisionError"] == watch(
        """
        def fail():
            try:
                print(torch.zeros(4, device="cuda") + 1, 1 / 0)
            except BaseException as fault:
                return type(fault).__name__

        with Watch(instruments):
            kinds = [fail()]
        print(json.dumps([*kinds, fail()]))
        """
    )


def test_timeline_and_memory_are_measured() -> None:
    """Two streams, their overlap, and who held the peak."""
    found = watch(
        """
        side = torch.cuda.Stream()
        with Watch(instruments) as seen:
            held = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
            torch.cuda._sleep(20_000_000)
            with torch.cuda.stream(side):
                torch.cuda._sleep(20_000_000)
            torch.cuda.synchronize()
        owners = seen.observation.by_site
        is_whole = 64 << 20 <= seen.peak_growth_bytes <= seen.peak_bytes
        print(json.dumps([len(seen.timeline.streams), seen.overlap, is_whole, owners[0].size_bytes]))
        """
    )
    assert (2, True, 64 << 20) == (found[0], found[2], found[3])
    assert found[1] > 0.5
