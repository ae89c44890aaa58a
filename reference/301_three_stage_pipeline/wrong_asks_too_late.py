"""The caller's stream is asked for in the generator's body, which runs at the first next(), not at the call.

Caught by: test_3_streams.py::test_the_stream_of_the_call_counts
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor


def run_pipeline(
    chunks: Iterable[Tensor],
    compute: Callable[[Tensor], Tensor],
    depth: int,
) -> Iterator[Tensor]:
    """Return an iterator over ``compute``'s results, in the order of the chunks.

    Args:
        chunks: host tensors of any shape, dtype and strides, pinned or pageable.
        compute: called once a chunk, with the chunk on the device; returns a device tensor of any shape and dtype.
        depth: how many chunks may be under way at once, 1 or more.

    Returns:
        Pinned host tensors, each complete when it is handed out.

    Raises:
        ValueError: ``depth`` is less than 1.

    Synchronises: no; each ``next()`` waits once, for the result that it hands out.
    """
    if depth < 1:
        raise ValueError(f"depth must be at least 1, not {depth}")
    return _hand_out(iter(chunks), compute, depth)


def _hand_out(source: Iterator[Tensor], compute: Callable[[Tensor], Tensor], depth: int) -> Iterator[Tensor]:
    lanes = Lanes(compute, torch.cuda.current_stream().record_event())
    flights: deque[Flight] = deque()
    try:
        while True:
            for chunk in islice(source, depth - len(flights)):
                flights.append(lanes.launch(chunk))
            if not flights:
                return
            flights[0].landed.synchronize()
            # Popped in the yield itself: a local name would keep this chunk's device memory until the next result.
            yield flights.popleft().result
    except BaseException:  # close() too: what is queued still reads the caller's chunks
        lanes.drain()
        raise


@dataclass(frozen=True, slots=True)
class Flight:
    """A chunk under way."""

    result: Tensor
    """Pinned, still being written until ``landed``."""
    landed: torch.cuda.Event
    """Recorded behind the copy into ``result``."""
    held: tuple[Tensor, ...]
    """What the three stages use. Held until ``landed``, so no stream needs to be recorded on it."""


class Lanes:
    """The three streams.

    Args:
        compute: the caller's.
        called: event on the caller's stream; what was queued before it comes before any compute.
    """

    def __init__(self, compute: Callable[[Tensor], Tensor], called: torch.cuda.Event) -> None:
        self.compute = compute
        self.copy_in = torch.cuda.Stream()
        self.work = torch.cuda.Stream()
        self.copy_out = torch.cuda.Stream()
        self.work.wait_event(called)

    def launch(self, chunk: Tensor) -> Flight:
        """Queue all three stages of a chunk. *Synchronises: no.*"""
        source = chunk if chunk.is_pinned() and chunk.is_contiguous() else _stage(chunk)
        with torch.cuda.stream(self.copy_in):
            given = torch.empty(chunk.shape, dtype=chunk.dtype, device="cuda")
            given.copy_(source, non_blocking=True)
        self.work.wait_stream(self.copy_in)
        with torch.cuda.stream(self.work):
            made = self.compute(given).detach()
        self.copy_out.wait_stream(self.work)
        with torch.cuda.stream(self.copy_out):
            result = torch.empty(made.shape, dtype=made.dtype, pin_memory=True)
            result.copy_(made, non_blocking=True)
        return Flight(result, self.copy_out.record_event(), (source, given, made))

    def drain(self) -> None:
        """Wait for everything that has been queued. *Synchronises: yes.*"""
        for stream in (self.copy_in, self.work, self.copy_out):
            stream.synchronize()


def _stage(chunk: Tensor) -> Tensor:
    """Return a pinned, contiguous copy: only from such memory does a copy to the device not hold the host."""
    return torch.empty(chunk.shape, dtype=chunk.dtype, pin_memory=True).copy_(chunk)
