"""`out` reads a clone. But to make the clone it reads the block that is lost, just as late.

Caught by: test_2_lifetime.py::test_saved_blocks_are_not_overwritten
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class HostCopy:
    """A tensor on its way to the host. Given, and right."""

    tensor: Tensor
    """Pinned; complete once ``done`` has passed."""
    done: torch.cuda.Event

    def read(self) -> Tensor:
        """Return the tensor, complete. *Synchronises: yes, for this copy only.*"""
        self.done.synchronize()
        return self.tensor


@dataclass(frozen=True)
class Fetched:
    """Saved blocks on their way back. Given, and right."""

    staged: Tensor
    """On the device; complete once ``landed`` has passed."""
    landed: torch.cuda.Event


class SideLane:
    """What an engine does beside its decode stream: KV blocks go to the host and come back, logprobs are fetched.

    Args:
        cache: ``[blocks, elements]``, on the device. Only the callers' streams touch it.

    Attributes:
        out: the stream of all that goes to the host.
        back: the stream of all that comes back.
    """

    def __init__(self, cache: Tensor) -> None:
        self.cache = cache
        self.out = torch.cuda.Stream()
        self.back = torch.cuda.Stream()

    def save(self, blocks: Tensor) -> HostCopy:
        """Queue the copy of some blocks of the cache to the host. *Synchronises: never.*

        Args:
            blocks: int64, on the device: which blocks.
        """
        picked = self.cache[blocks]  # a copy: from here on the cache may change
        self.out.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.out):
            return self._bring(picked.clone())

    def fetch(self, saved: HostCopy) -> Fetched:
        """Queue the copy of saved blocks to the device. *Synchronises: never.*

        Args:
            saved: what :meth:`save` returned. Pinned memory needs no mark: its allocator notes each copy by itself.
        """
        self.back.wait_event(saved.done)
        with torch.cuda.stream(self.back):
            staged = saved.tensor.to("cuda", non_blocking=True)
        return Fetched(staged, self.back.record_event())

    def place(self, fetched: Fetched, blocks: Tensor) -> None:
        """Queue the write of fetched blocks into the cache, on the current stream. *Synchronises: never.*

        Args:
            fetched: what :meth:`fetch` returned.
            blocks: int64, on the device: where the blocks go.
        """
        caller = torch.cuda.current_stream()
        caller.wait_event(fetched.landed)
        self.cache.index_copy_(0, blocks, fetched.staged)
        fetched.staged.record_stream(caller)  # allocated on `back`, and read on the caller's stream

    def logprobs(self, logits: Tensor, tokens: Tensor) -> HostCopy:
        """Queue the log-probabilities of sampled tokens. *Synchronises: never.*

        Args:
            logits: ``[rows, vocabulary]``, on the device, any floating dtype.
            tokens: ``[rows]``, int64, on the device.
        """
        self.out.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.out):
            for lent in (logits, tokens):  # themselves: what is made of them here belongs to `out` anyway
                lent.record_stream(self.out)
            scores = torch.log_softmax(logits, 1, dtype=torch.float32)
            return self._bring(scores.gather(1, tokens[:, None]).flatten())

    def _bring(self, tensor: Tensor) -> HostCopy:
        """Queue a copy to the host on the current stream, which is ``out``."""
        host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        host.copy_(tensor, non_blocking=True)
        return HostCopy(host, self.out.record_event())
