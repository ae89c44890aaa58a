"""Problem 302: cross-stream lifetime. Mend three methods, and write the fourth; the rules stand in the statement."""

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
        self._alive: list[Tensor] = []

    def save(self, blocks: Tensor) -> HostCopy:
        """Queue the copy of some blocks of the cache to the host; then they are the caller's to overwrite.

        Args:
            blocks: int64, on the device: which blocks.

        Returns:
            The blocks' values, ``[len(blocks), elements]``, contiguous and pinned.

        Synchronises: never.
        """
        # TODO: garbage in some saved blocks, once or twice a day. Who may have the memory of `picked` next, and when?
        picked = self.cache[blocks]  # a copy: from here on the cache may change
        host = torch.empty(picked.shape, dtype=picked.dtype, pin_memory=True)
        self.out.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.out):
            host.copy_(picked, non_blocking=True)
        return HostCopy(host, self.out.record_event())

    def fetch(self, saved: HostCopy) -> Fetched:
        """Queue the copy of saved blocks to the device, ahead of the step that needs them.

        Args:
            saved: what :meth:`save` returned; its copy need not have ended. The caller may drop it after the call.

        Synchronises: never.
        """
        # TODO: the decode loop stands still here whenever a request comes back right after it was put out.
        saved.done.synchronize()  # mend of last week: without it, the blocks came back half written
        with torch.cuda.stream(self.back):
            staged = saved.tensor.to("cuda", non_blocking=True)
        return Fetched(staged, self.back.record_event())

    def place(self, fetched: Fetched, blocks: Tensor) -> None:
        """Queue the write of fetched blocks into the cache, on the current stream.

        Args:
            fetched: what :meth:`fetch` returned; the caller may drop it after the call.
            blocks: int64, on the device: where the blocks go, each to another place.

        Synchronises: never.
        """
        # TODO: memory_allocated() grows and grows since this was mended; but without the list there is garbage again.
        torch.cuda.current_stream().wait_event(fetched.landed)
        self.cache.index_copy_(0, blocks, fetched.staged)
        self._alive.append(fetched.staged)  # mend of last month

    def logprobs(self, logits: Tensor, tokens: Tensor) -> HostCopy:
        """Queue the log-probabilities of sampled tokens: computed on ``out``, beside the next decode step.

        Args:
            logits: ``[rows, vocabulary]``, on the device, any floating dtype and strides. After the call the caller
                drops it, and never writes into it.
            tokens: ``[rows]``, int64, on the device, any strides; likewise.

        Returns:
            The natural logarithms of the softmax at the tokens, ``[rows]``, float32, computed in float32, pinned.

        Synchronises: never.
        """
        # TODO: who waits for whom, and whose memory has now a user that the allocator doesn't know?
        raise NotImplementedError
