"""Problem 303: a prefetcher. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torch import Tensor

Batch = Tensor | dict[str, Tensor]


class Prefetcher:
    """Hands out batches on the device; the next one is copied while the consumer works on the present one.

    Args:
        batches: host tensors, or dicts of them, each of any shape, dtype and strides, pinned or pageable. They are the
            caller's: they are only read. Batch ``i + 1`` is taken in the ``next()`` that hands out batch ``i``.
    """

    def __init__(self, batches: Iterable[Batch]) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[Batch]:
        """Return a new iterator over the batches, as contiguous tensors on the device.

        Each is complete for work on the stream that is current at the ``next()`` that hands it out, and belongs to the
        consumer. What ``batches`` raises, comes at its place in the order of the batches.

        Synchronises: at most once for each batch, until an earlier copy has ended; see the statement.
        """
        # TODO: queue the copy of a batch on a stream of its own. Which memory does it read, which does it write, and
        #  who may still use that?
        # TODO: hand a batch out. What has to wait for what? When does the copy of the next batch begin?
        # TODO: when may the next host batch be taken? What is still queued when the consumer stops half-way?
        raise NotImplementedError
