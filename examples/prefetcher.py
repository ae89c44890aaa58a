"""Train on batches that a side stream copies to the device ahead of time.

The memory of a batch may be filled with a later one while the model still reads it. Find the line with

    python practice/judge.py inspect examples/prefetcher.py

and compare with prefetcher_mended.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

BATCHES, BATCH, WIDTH = 8, 256, 512


class Prefetcher:
    """Yields batches on the device; the copy of the next one runs beside the work on the present one.

    Args:
        batches: pinned tensors.
    """

    def __init__(self, batches: Sequence[Tensor]) -> None:
        self.batches = batches
        self.copies = torch.cuda.Stream()

    def __iter__(self) -> Iterator[Tensor]:
        """Yield each batch when the current stream may use it."""
        ahead = self.fetch(0)
        for number in range(1, len(self.batches) + 1):
            compute = torch.cuda.current_stream()
            compute.wait_stream(self.copies)
            batch = ahead
            if number < len(self.batches):
                ahead = self.fetch(number)
            yield batch

    def fetch(self, number: int) -> Tensor:
        """Begin to copy a batch; its memory belongs to the side stream."""
        with torch.cuda.stream(self.copies):
            return self.batches[number].to("cuda", non_blocking=True)


def train(model: nn.Module, prefetcher: Prefetcher) -> Tensor:
    """Return the sum of the losses, on the device."""
    total = torch.zeros((), device="cuda")
    for batch in prefetcher:
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.01 * parameter.grad
                parameter.grad = None
            total += loss
    return total


def main() -> None:
    """Train for one epoch and print the loss."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
    batches = [torch.randn(BATCH, WIDTH).pin_memory() for _ in range(BATCHES)]
    total = train(model, Prefetcher(batches))
    answer = torch.empty((), pin_memory=True)
    answer.copy_(total, non_blocking=True)
    arrived = torch.cuda.Event()
    arrived.record()
    while not arrived.query():
        time.sleep(0)
    print(f"{answer.item() / BATCHES:.3f}")


if __name__ == "__main__":
    main()
