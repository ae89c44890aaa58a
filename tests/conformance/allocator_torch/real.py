"""Make a recording of the real allocator anew: the requests of a recorded trace, through torch, on a real GPU.

Run as ``python -m tests.conformance.allocator_torch.real NAME NUMBER`` in a process of its own, this prints JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.conformance.allocator_torch.recording import Player, load


class RealPlayer(Player):
    """Plays on a real GPU, whose driver chooses the addresses."""

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


if __name__ == "__main__":
    print(json.dumps(record(sys.argv[1], int(sys.argv[2]))))
