"""The copy of a batch is queued when the batch is asked for, behind the step beside which it should run.

Caught by: test_5_figures.py::test_copies_hide_behind_the_steps
Caught by: test_2_source.py::test_one_batch_is_ahead
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

Batch = Tensor | dict[str, Tensor]


class Prefetcher:
    """Hands out batches on the device; the next one is copied while the consumer works on the present one.

    Args:
        batches: host tensors, or dicts of them, pinned or pageable.
    """

    def __init__(self, batches: Iterable[Batch]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Batch]:
        """Return a new iterator over the batches, on the device.

        Synchronises: once for each batch, until the copy of the batch before the last has ended.
        """
        lane = Lane(iter(self.batches))
        try:
            lane.fetch()
            while lane.ahead is not None:
                # No local name: a generator that stands at its yield would keep the batch for the whole step.
                yield lane.hand_out()
                lane.fetch()
            if lane.error is not None:
                raise lane.error
        finally:  # close() and a dropped iterator come here, too
            lane.drain()


class Lane:
    """The copy stream, and the one batch that is ahead.

    Args:
        source: the host batches.
    """

    def __init__(self, source: Iterator[Batch]) -> None:
        self.source = source
        self.stream = torch.cuda.Stream()
        self.ahead: tuple[Batch, torch.cuda.Event] | None
        """A batch whose copy is queued, and the event behind it; ``None`` at the end. Set by ``fetch()``."""
        self.error: Exception | None = None
        """What the source raised in place of a batch."""
        self.reading: deque[tuple[torch.cuda.Event, list[Tensor]]] = deque()
        """The copies that may not have ended, at most two, each with the pinned memory that it reads."""

    def hand_out(self) -> Batch:
        """Return the batch that is ahead, for the current stream, and begin the next one."""
        assert self.ahead is not None
        batch, landed = self.ahead
        consumer = torch.cuda.current_stream()
        consumer.wait_event(landed)  # this copy alone: the next one is queued only now
        for tensor in _name(batch).values():
            tensor.record_stream(consumer)  # counts where the consumer has changed its stream since the last next()
        return batch

    def fetch(self) -> None:
        """Take a batch from the source, if there is one, and queue its copy."""
        self.ahead = None
        if len(self.reading) == 2:
            self.reading.popleft()[0].synchronize()
        try:
            batch = next(self.source)
        except StopIteration:
            return
        except Exception as error:  # the batch before it has not been handed out yet
            self.error = error
            return
        self.ahead = self.copy(batch)

    def copy(self, batch: Batch) -> tuple[Batch, torch.cuda.Event]:
        """Queue the copy of a batch. *Synchronises: no.*"""
        read = {name: _pin(tensor) for name, tensor in _name(batch).items()}
        # Allocated on the consumer's stream: what it does with a batch that it drops stands in order with the next
        # owner of the block, as for any tensor of its own. In return the copy has to wait for that stream.
        made = {name: torch.empty(tensor.shape, dtype=tensor.dtype, device="cuda") for name, tensor in read.items()}
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for name, tensor in read.items():
                made[name].copy_(tensor, non_blocking=True)
        landed = self.stream.record_event()
        self.reading.append((landed, list(read.values())))
        return made if isinstance(batch, dict) else made[""], landed

    def drain(self) -> None:
        """Wait for the copies that are queued. *Synchronises: yes.*"""
        while self.reading:
            self.reading.popleft()[0].synchronize()


def _name(batch: Batch) -> dict[str, Tensor]:
    """Return the batch as a dict, whatever it is."""
    return batch if isinstance(batch, dict) else {"": batch}


def _pin(tensor: Tensor) -> Tensor:
    """Return pinned, contiguous memory with the same values: only from such does a copy not hold the host."""
    if tensor.is_pinned() and tensor.is_contiguous():
        return tensor
    return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor)
