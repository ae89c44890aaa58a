"""A small allocator that writes down what it does as ``torch.cuda.memory._snapshot()`` would, and knows the truth."""

from __future__ import annotations

from itertools import count
from typing import Any

KIB, MIB = 1 << 10, 1 << 20

Frames = list[dict[str, Any]]
Pool = tuple[int, int]


def frames_at(line: int, file: str = "serve.py", depth: int = 2) -> Frames:
    """Return a stack, innermost first: libraries, the line in question, and who called it."""
    library = "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py"
    inner = [{"filename": library, "line": 1700 + at, "name": "_call_impl"} for at in range(depth)]
    own = [{"filename": file, "line": line, "name": "forward"}, {"filename": "main.py", "line": 9, "name": "<module>"}]
    return inner + own


class Story:
    """What happens on one device, event by event.

    Args:
        device: index of the device.
    """

    def __init__(self, device: int = 0) -> None:
        self.device = device
        self.trace: list[dict[str, Any]] = []
        self.segments: list[dict[str, Any]] = []
        self.states: list[dict[int, tuple[int, int]]] = [{}]  # after each event, by address: bytes, event of the alloc
        self.now_us = 1_000_000
        self._next_base = count(0x7F00_0000_0000, 1 << 32)

    def alloc(self, size: int, line: int, stream: int = 0, pool: Pool = (0, 0), frames: Frames | None = None) -> int:
        """Allocate ``size`` bytes in ``line`` and return the address."""
        wanted = max(512, -(-size // 512) * 512)
        stack = frames_at(line) if frames is None else frames
        segment, block = self._find(wanted, stream, pool) or self._add_segment(wanted, stream, pool, stack)
        rest = block["size"] - wanted
        if rest >= (512 if segment["segment_type"] == "small" else MIB + 1):
            tail = {**block, "address": block["address"] + wanted, "size": rest, "frames": []}
            segment["blocks"].insert(segment["blocks"].index(block) + 1, tail)
            block["size"] = wanted
        block |= {"state": "active_allocated", "requested_size": size, "frames": stack}
        self._note("alloc", block["address"], size, stream, stack)
        self.states[-1][block["address"]] = (size, len(self.trace) - 1)
        return block["address"]

    def free(self, address: int, is_complete: bool = True) -> None:
        """Free a block; one that is not complete still waits for another stream."""
        segment, block = next(
            (it, block) for it in self.segments for block in it["blocks"] if block["address"] == address
        )
        self._note("free_requested", address, block["requested_size"], segment["stream"], [])
        del self.states[-1][address]
        block["state"] = "active_pending_free"
        if is_complete:
            self._note("free_completed", address, block["requested_size"], segment["stream"], [])
            block |= {"state": "inactive", "requested_size": 0, "frames": []}
            self._merge(segment)

    def wait(self, us: int) -> int:
        """Let time pass and return the new time."""
        self.now_us += us
        return self.now_us

    def snapshot(self, cut: int = 0, others: tuple[Story, ...] = ()) -> dict[str, Any]:
        """Return the snapshot; the ring buffer has lost the first ``cut`` events, and other devices stand beside."""
        stories = sorted((self, *others), key=lambda it: it.device)
        segments = [self._sum_up(segment) for it in stories for segment in it.segments]
        traces: list[list[Any]] = [[] for _ in range(stories[-1].device + 1)]
        for it in stories:
            traces[it.device] = [dict(event) for event in it.trace[cut if it is self else 0 :]]
        segments.sort(key=lambda it: it["address"])
        return {"segments": segments, "device_traces": traces, "allocator_settings": {}, "external_annotations": []}

    def _find(self, wanted: int, stream: int, pool: Pool) -> tuple[dict[str, Any], dict[str, Any]] | None:
        key = (stream, pool, "small" if wanted <= MIB else "large")
        fits = [
            (block["size"], block["address"], it, block)
            for it in self.segments
            if (it["stream"], it["segment_pool_id"], it["segment_type"]) == key
            for block in it["blocks"]
            if block["state"] == "inactive" and block["size"] >= wanted
        ]
        return min(fits, key=lambda fit: fit[:2])[2:] if fits else None

    def _add_segment(
        self, wanted: int, stream: int, pool: Pool, stack: Frames
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        size = 2 * MIB if wanted <= MIB else 20 * MIB if wanted < 10 * MIB else -(-wanted // (2 * MIB)) * 2 * MIB
        base = next(self._next_base) + (self.device << 40)
        self._note("segment_alloc", base, size, stream, stack)
        block = {"address": base, "size": size, "requested_size": 0, "state": "inactive", "frames": []}
        segment = {
            "device": self.device,
            "address": base,
            "total_size": size,
            "stream": stream,
            "segment_type": "small" if wanted <= MIB else "large",
            "segment_pool_id": pool,
            "is_expandable": False,
            "frames": stack,
            "blocks": [block],
        }
        self.segments.append(segment)
        return segment, block

    def _merge(self, segment: dict[str, Any]) -> None:
        merged: list[dict[str, Any]] = []
        for block in segment["blocks"]:
            if merged and merged[-1]["state"] == block["state"] == "inactive":
                merged[-1]["size"] += block["size"]
            else:
                merged.append(block)
        segment["blocks"] = merged

    def _note(self, action: str, address: int, size: int, stream: int, frames: Frames) -> None:
        event = {"action": action, "addr": address, "size": size, "stream": stream, "time_us": self.wait(3)}
        self.trace.append({**event, "compile_context": "N/A", "user_metadata": "", "frames": frames})
        self.states.append(dict(self.states[-1]))

    @staticmethod
    def _sum_up(segment: dict[str, Any]) -> dict[str, Any]:
        blocks = [dict(block) for block in segment["blocks"]]
        allocated = sum(block["size"] for block in blocks if block["state"] == "active_allocated")
        active = sum(block["size"] for block in blocks if block["state"] != "inactive")
        requested = sum(block["requested_size"] for block in blocks if block["state"] != "inactive")
        sums = {"allocated_size": allocated, "active_size": active, "requested_size": requested}
        return {**segment, **sums, "blocks": blocks}


def tell(rng: Any, turns: int = 120, device: int = 0) -> Story:
    """Return a random story: sizes, lines, streams, pools and frees as they come, with a swell in the middle."""
    story = Story(device)
    for turn in range(turns):
        live = list(story.states[-1])
        if live and rng.random() < (0.35 if turn < turns // 2 else 0.6):
            story.free(rng.choice(live), is_complete=rng.random() < 0.9)
        else:
            size = rng.choice((rng.randrange(1, 4 * KIB), rng.randrange(KIB, MIB), rng.randrange(MIB, 24 * MIB)))
            pool = (1, 0) if rng.random() < 0.1 else (0, 0)
            frames = [] if rng.random() < 0.1 else None
            story.alloc(size, rng.randrange(10, 16), rng.choice((0, 0, 7)), pool, frames)
    return story
