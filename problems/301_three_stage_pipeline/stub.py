"""Problem 301: a three-stage pipeline. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from torch import Tensor


def run_pipeline(
    chunks: Iterable[Tensor],
    compute: Callable[[Tensor], Tensor],
    depth: int,
) -> Iterator[Tensor]:
    """Return an iterator over ``compute``'s results, in the order of the chunks.

    Args:
        chunks: host tensors of any shape, dtype and strides, pinned or pageable. They are the caller's: they are only
            read. Chunk ``i + depth`` is asked for once result ``i`` has been handed out, not before.
        compute: called once for each chunk, in order, with a contiguous device tensor of the chunk's shape and dtype;
            returns a device tensor of any shape and dtype. It only queues work on the current stream.
        depth: how many chunks may be under way at once, 1 or more.

    Returns:
        An iterator of contiguous, pinned host tensors, each complete when it is handed out, and the caller's to keep.

    Raises:
        ValueError: ``depth`` is less than 1.

    Synchronises: once for each result that is handed out; never otherwise, unless the run is broken off.
    """
    # TODO: what must be known of the caller's stream when this is called, and not when the first result is asked for?
    # TODO: queue three stages for each chunk. Which stream waits for which, and what must stay alive until when?
    # TODO: hand results out. When may the host read one? When may the next chunk be taken?
    # TODO: what is still queued when compute raises, or when the caller stops half-way?
    raise NotImplementedError
