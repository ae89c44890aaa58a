"""Reports about captures that fail, or capture nothing."""

from __future__ import annotations

import threading
from contextlib import suppress

import torch

from tests.conformance.reports.report import Report


def capture_elsewhere(is_mended: bool) -> bool:
    """Capture work that runs on a stream that is not captured.

    Cause: the wrong stream (in the report, the wrong device) was current; the work ran at once, and the graph is empty.
    Right fix: make the captured stream (device) current, or fork from it by ``wait_stream``.
    """
    side = torch.cuda.Stream()
    values = torch.zeros(8, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.cuda.stream(None if is_mended else side):
        values += 1
    torch.cuda.synchronize()
    before = values[0].item()
    graph.replay()
    return values[0].item() != before + 1


def keep_loss(is_mended: bool) -> bool:
    """Capture a backward pass after a warm-up on the default stream.

    Cause: the loss that is left over keeps the graph of the warm-up, whose gradient accumulation belongs to stream 0.
    Right fix: drop the loss, or warm up on a side stream.
    """
    weight = torch.ones(8, device="cuda", requires_grad=True)
    values = torch.ones(8, device="cuda")
    loss = (weight * values).sum()
    loss.backward()
    if is_mended:
        del loss
    weight.grad = None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (weight * values).sum().backward()
    graph.replay()
    return weight.grad[0].item() != 1.0


def query_beside(is_mended: bool) -> bool:
    """Let another thread ask for an event while a graph is captured.

    Cause: a watchdog queries events; a capture in mode ``global`` fails by unsafe calls of any thread.
    Right fix: ``capture_error_mode="thread_local"``, or keep the other thread from asking meanwhile.
    """
    event = torch.cuda.Event()
    event.record()
    torch.cuda.synchronize()
    values = torch.zeros(8, device="cuda")

    def watch() -> None:
        with suppress(RuntimeError):  # the watchdog's own error goes unseen; the capture's does not
            event.query()

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local" if is_mended else "global"):
        values += 1
        watchdog = threading.Thread(target=watch)
        watchdog.start()
        watchdog.join()
    graph.replay()
    return values[0].item() != 1.0


def seed_replay(is_mended: bool) -> bool:
    """Seed a generator anew before each replay, and expect the same numbers.

    Cause: the graph draws from another generator than the one that is seeded; the old fault, a seed baked in at the
    capture, looked the same.
    Right fix: register the generator with the graph, and draw from it.
    """
    own = torch.Generator(device="cuda")
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(own)
    with torch.cuda.graph(graph):
        drawn = torch.rand(64, device="cuda", generator=own if is_mended else None)
    results = []
    for _ in range(2):
        own.manual_seed(5)
        graph.replay()
        results.append(drawn.clone())
    return not torch.equal(*results)


def step_adam(is_mended: bool) -> bool:
    """Capture a step of Adam.

    Cause: Adam counts its steps on the CPU, which a replay would not repeat.
    Right fix: ``capturable=True``, and a learning rate in a tensor if it changes.
    """
    weight = torch.ones(8, device="cuda", requires_grad=True)
    weight.grad = torch.ones(8, device="cuda")
    optimizer = torch.optim.Adam([weight], lr=0.1, capturable=is_mended, foreach=False)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        optimizer.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        optimizer.step()
    graph.replay()
    return abs(weight[0].item() - 0.8) > 1e-4


REPORTS = (
    Report(
        "captured_on_the_wrong_stream",
        "pytorch/pytorch#87794",
        lambda: capture_elsewhere(False),
        lambda: capture_elsewhere(True),
    ),
    Report(
        "loss_kept_from_warm_up",
        "pytorch/pytorch#180090",
        lambda: keep_loss(False),
        lambda: keep_loss(True),
        error="stale reference to the default stream|CUDA error: operation",  # the latter before torch 2.13
    ),
    Report(
        "event_queried_by_another_thread",
        "pytorch/pytorch#104555, #148594",
        lambda: query_beside(False),
        lambda: query_beside(True),
        error="CUDA error: operation",
    ),
    Report(
        "seed_ignored_by_replay",
        "pytorch/pytorch#84614",
        lambda: seed_replay(False),
        lambda: seed_replay(True),
    ),
    Report(
        "adam_counts_on_the_cpu",
        "pytorch/pytorch#77862",
        lambda: step_adam(False),
        lambda: step_adam(True),
        error="Attempting CUDA graph capture of step\\(\\)",
    ),
)
