"""Which streams wait for each other by themselves."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import pytest

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "runtime_facts.json").read_text(encoding="utf-8")
)["facts"]

SLEEP_CYCLES = 60_000_000
"""About 30 ms."""


def make_blocking_stream(torch):
    """Return a stream as ``cudaStreamCreate`` makes it."""
    handle = ctypes.c_void_p()
    torch.cuda.check_error(torch.cuda.cudart().cudaStreamCreate(ctypes.addressof(handle)))
    return torch.cuda.ExternalStream(handle.value)


def see_order(torch, busy, other) -> str:
    """Return whether work of one stream ran past a stream that was busy before it, or waited."""
    torch.cuda.synchronize()
    done = torch.cuda.Event()
    with torch.cuda.stream(busy):
        torch.cuda._sleep(SLEEP_CYCLES)
    with torch.cuda.stream(other):
        torch.cuda._sleep(1000)
        done.record()
    done.synchronize()
    answer = "waited" if busy.query() else "ran past"
    torch.cuda.synchronize()
    return answer


@pytest.mark.parametrize(
    ("fact", "busy", "other"),
    [
        ("side work while default busy", "default", "side"),
        ("default work while side busy", "side", "default"),
        ("side work while other side busy", "side", "other side"),
        ("blocking ExternalStream work while default busy", "default", "blocking"),
        ("default work while blocking ExternalStream busy", "blocking", "default"),
    ],
    ids=lambda value: value if " work " in value else "",
)
def test_streams_wait_for_each_other_as_recorded(torch, fact, busy, other):
    """Only a blocking stream and the default stream do."""
    streams = {
        "default": torch.cuda.default_stream(),
        "side": torch.cuda.Stream(),
        "other side": torch.cuda.Stream(),
        "blocking": make_blocking_stream(torch),
    }
    assert GOLDEN[fact] == see_order(torch, streams[busy], streams[other])
