"""Make a recording of the real allocator anew: the requests of a recorded trace, through torch, on a real GPU."""

from __future__ import annotations

from typing import Any

from tests.conformance.allocator_torch.recording import Player, load


class RealPlayer(Player):
    """Plays on a real GPU, whose driver chooses the addresses.

    Streams are busy for longer than in the recordings, since a host with much to do must not be overtaken.
    """

    hold_cycles = 4 * Player.hold_cycles

    def move(self, address: int) -> None:
        """Leave the choice to the driver."""

    def translate(self, address: int) -> int:
        """Return an address as it is."""
        return address


def record(name: str, at: int) -> dict[str, Any]:
    """Return the events and the snapshot of a trace as they go here."""
    import torch

    torch.cuda.init()
    recording = load(name)
    player = RealPlayer(torch, recording, is_raw=name == "alloc_traces")
    events = [player.play(event) for event in recording["traces"][at]["events"]]
    return {"events": events, "final": player.final()}


def write_program(name: str, at: int) -> str:
    """Return a program, to be run in a process of its own, that prints the recording of a trace as JSON."""
    return f"""
import json
from tests.conformance.allocator_torch.real import record
print(json.dumps(record({name!r}, {at})))
"""
