"""Serve requests of any size with one CUDA graph for each bucket of sizes.

A request never reaches the graph: the runner binds a new tensor to its name for the input, and the graph goes on
reading the memory of the old one, which is free by then. Find the line with

    python practice/judge.py inspect examples/graph_runner.py

and compare with graph_runner_mended.py.
"""

from __future__ import annotations

import time

import torch
from torch import Tensor, nn
from torch.nn import functional

BUCKETS = (8, 4, 2, 1)
WIDTH = 256
REQUESTS = (3, 8, 1, 5, 2)


class GraphRunner:
    """Runs a model on up to 8 rows through captured graphs.

    Args:
        model: on the device, in evaluation mode.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.inputs: dict[int, Tensor] = {}
        self.outputs: dict[int, Tensor] = {}
        self.graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self.pool = torch.cuda.graph_pool_handle()
        self.side = torch.cuda.Stream()
        # The largest first: the smaller ones live in its memory.
        for size in BUCKETS:
            self.capture(size)

    def capture(self, size: int) -> None:
        """Capture the model for inputs of one size."""
        graph = torch.cuda.CUDAGraph()
        self.inputs[size] = torch.zeros(size, WIDTH, device="cuda")
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.model(self.inputs[size])  # warm up
            graph.capture_begin(pool=self.pool)
            self.outputs[size] = self.model(self.inputs[size])
            graph.capture_end()
        torch.cuda.current_stream().wait_stream(self.side)
        self.graphs[size] = graph

    def run(self, rows: Tensor) -> Tensor:
        """Return the model's output for rows, (n, width), n ≤ 8; it is overwritten by the next call."""
        count = len(rows)
        size = min(bucket for bucket in BUCKETS if bucket >= count)
        self.inputs[size] = functional.pad(rows, (0, 0, 0, size - count))
        self.graphs[size].replay()
        return self.outputs[size][:count]


def main() -> None:
    """Serve a few requests and print the sum of each answer."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).eval()
    with torch.inference_mode():
        runner = GraphRunner(model)
        sums = torch.zeros(len(REQUESTS), device="cuda")
        for number, count in enumerate(REQUESTS):
            rows = torch.randn(count, WIDTH, device="cuda")
            sums[number] = runner.run(rows).sum()
    answer = torch.empty(len(REQUESTS), pin_memory=True)
    answer.copy_(sums, non_blocking=True)
    arrived = torch.cuda.Event()
    arrived.record()
    while not arrived.query():
        time.sleep(0)
    print(*(f"{value:.2f}" for value in answer.tolist()))


if __name__ == "__main__":
    main()
