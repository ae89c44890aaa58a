"""Reports about CUDA graphs: what a replay repeats, and what it does not."""

from __future__ import annotations

import torch

from tests.conformance.reports.report import Report


def count_replays(is_mended: bool) -> bool:
    """Count steps inside a captured function.

    Cause: a replay runs kernels; Python ran once, at the capture.
    Right fix: keep the state in a tensor that the graph itself changes.
    """
    steps = 0
    counter = torch.zeros((), device="cuda")
    values = torch.zeros(8, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        values += 1
        counter += 1
        steps += 1
    for _ in range(3):
        graph.replay()
    return (counter.item() if is_mended else steps) != values[0].item()


def rebind_input(is_mended: bool) -> bool:
    """Feed a captured step through a dictionary.

    Cause: the step stored its result under the input's key, so the new input goes into the result's memory.
    Right fix: copy into the very tensor that was captured.
    """
    data = {"x": torch.zeros(8, device="cuda")}
    static = data["x"]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        data["x"] = data["x"] + 1
    (static if is_mended else data["x"]).copy_(torch.full((8,), 10.0, device="cuda"))
    graph.replay()
    return data["x"][0].item() != 11.0


def free_input(is_mended: bool) -> bool:
    """Drop a tensor that a graph reads.

    Cause: the graph holds an address and not the tensor; the block goes to somebody else.
    Right fix: hold a reference as long as the graph.
    """
    source = torch.zeros(1000, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = source + 1
    held = source if is_mended else None
    del source
    other = torch.full((1000,), 41.0, device="cuda")
    graph.replay()
    torch.cuda.synchronize()
    del held, other
    return result[0].item() != 1.0


REPORTS = (
    Report(
        "python_state_not_replayed",
        "pytorch/pytorch#114844",
        lambda: count_replays(False),
        lambda: count_replays(True),
    ),
    Report(
        "input_rebound_to_output",
        "pytorch/tensordict#1788",
        lambda: rebind_input(False),
        lambda: rebind_input(True),
    ),
    Report(
        "captured_input_freed",
        "pytorch/pytorch#167885",
        lambda: free_input(False),
        lambda: free_input(True),
        races=("stale-graph-input",),
    ),
)
