"""Streams, events, pinned memory and loaders."""

from __future__ import annotations

import threading

import torch
from torch import nn

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("streams")


@TOPIC.snippet(expected=lambda: (torch.full((64, 64), 64.0), torch.full((64, 64), 65.0), True))
def side_stream(device: str) -> object:
    """Work on a stream of its own, ordered before and after."""
    side = torch.cuda.Stream()
    x = torch.ones(64, 64, device=device)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x @ x
        x.record_stream(side)
        is_current = torch.cuda.current_stream() == side
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    return y, y + 1, is_current


@TOPIC.snippet(expected=lambda: (torch.full((10,), 2.0), True, True, True))
def events(device: str) -> object:
    """Order by events, from both sides."""
    side, ready = torch.cuda.Stream(priority=-1), torch.cuda.Event()
    x = torch.zeros(10, device=device)
    x += 1
    ready.record()
    with torch.cuda.stream(side):
        ready.wait()
        y = x + 1
        done = side.record_event()
    done.synchronize()
    return y, done.query(), ready.query(), torch.cuda.current_stream() == torch.cuda.default_stream()


@TOPIC.snippet(expected=lambda: [True, True, True])
def timing(device: str) -> object:
    """Milliseconds between two events."""
    start, middle, end = (torch.cuda.Event(enable_timing=True) for _ in range(3))
    x = torch.ones(1024, 1024, device=device)
    x @ x
    torch.cuda.synchronize()
    start.record()
    x @ x
    middle.record()
    for _ in range(4):
        x = (x @ x).clamp(max=1)
    end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(middle) > 0, start.elapsed_time(end) > start.elapsed_time(middle), end.query()]


@TOPIC.snippet(expected=lambda: torch.tensor(32.0 * sum(range(6))))
def prefetcher(device: str) -> object:
    """Copies on a stream of their own run ahead of the work by one batch."""
    batches = [torch.full((32,), float(i)).pin_memory() for i in range(6)]
    copies, total = torch.cuda.Stream(), torch.zeros((), device=device)

    def fetch(index: int) -> torch.Tensor:
        with torch.cuda.stream(copies):
            return batches[index].to(device, non_blocking=True)

    following = fetch(0)
    for index in range(6):
        torch.cuda.current_stream().wait_stream(copies)
        batch = following
        batch.record_stream(torch.cuda.current_stream())
        if index < 5:
            following = fetch(index + 1)
        total += batch.sum()
    return total


@TOPIC.snippet(expected=lambda: [torch.arange(8.0) * 2, [2.0 * i for i in range(8)], True, True])
def pinned_round_trip(device: str) -> object:
    """Down into pinned memory, read after the wait."""
    host = torch.arange(8.0).pin_memory()
    there = host.to(device, non_blocking=True) * 2
    back = torch.empty(8, pin_memory=True)
    back.copy_(there, non_blocking=True)
    torch.cuda.current_stream().synchronize()
    return [there, back.tolist(), host.is_pinned(), back.is_pinned()]


@TOPIC.snippet(expected=lambda: [float(step) for step in range(5)])
def read_one_step_late(device: str) -> object:
    """The host reads a value of the step before, so that it never waits for the present one."""
    slots = [torch.empty(1, pin_memory=True) for _ in range(2)]
    marks = [torch.cuda.Event() for _ in range(2)]
    x, seen = torch.zeros(1, device=device), []
    for step in range(5):
        slots[step % 2].copy_(x, non_blocking=True)
        marks[step % 2].record()
        x = x + 1
        if step:
            marks[(step - 1) % 2].synchronize()
            seen.append(slots[(step - 1) % 2].item())
    marks[0].synchronize()
    return [*seen, slots[0].item()]


@TOPIC.snippet(expected=lambda: torch.arange(12.0).view(3, 4) + 1)
def ring_of_pinned_buffers(device: str) -> object:
    """Buffers are written again only after the copy out of them is done."""
    buffers = [torch.empty(4).pin_memory() for _ in range(2)]
    marks: list[torch.cuda.Event | None] = [None, None]
    rows = []
    for index in range(3):
        slot = index % 2
        if (mark := marks[slot]) is not None:
            mark.synchronize()
        buffers[slot].copy_(torch.arange(4.0) + 4 * index)
        rows.append(buffers[slot].to(device, non_blocking=True) + 1)
        marks[slot] = torch.cuda.current_stream().record_event()
    return torch.stack(rows)


@TOPIC.snippet(expected=lambda: [torch.full((8,), float(i + 1) * 2) for i in range(3)])
def pipeline_of_three_streams(device: str) -> object:
    """Up, work and down at the same time."""
    up, down, work = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.current_stream()
    sources = [torch.full((8,), float(i + 1)).pin_memory() for i in range(3)]
    results = [torch.empty(8).pin_memory() for _ in range(3)]
    for source, result in zip(sources, results, strict=True):
        with torch.cuda.stream(up):
            x = source.to(device, non_blocking=True)
        work.wait_stream(up)
        x.record_stream(work)
        y = x * 2
        down.wait_stream(work)
        with torch.cuda.stream(down):
            result.copy_(y, non_blocking=True)
            y.record_stream(down)
    torch.cuda.synchronize()
    return [result.to(device) for result in results]


@TOPIC.snippet(expected=lambda: [True, True, True, True, True, True, 0])
def questions_about_streams(device: str) -> object:
    """Identity, equality, priorities and contexts."""
    side = torch.cuda.Stream()
    low, high = torch.cuda.Stream.priority_range()
    with side:
        inside = torch.cuda.current_stream() == side
    with torch.cuda.stream(None):
        same = torch.cuda.current_stream() == torch.cuda.default_stream()
    with torch.cuda.device(0), torch.cuda.device_of(torch.ones(1, device=device)):
        pass
    side.synchronize()
    return [side != torch.cuda.default_stream(), isinstance(side.cuda_stream, int), low > high, inside, same,
            side.query(),
            torch.cuda.current_device()]  # fmt: skip


@TOPIC.snippet(expected=lambda: torch.tensor([3.0, 4.0]))
def generic_streams(device: str) -> object:
    """``torch.Stream``, ``torch.Event`` and ``torch.accelerator``."""
    x = torch.tensor([1.0, 2.0], device=device)
    side, event = torch.Stream(device), torch.Event(device)
    side.wait_stream(torch.accelerator.current_stream())
    with side:
        x = x + 2
        event.record()
    torch.accelerator.current_stream().wait_event(event)
    torch.accelerator.synchronize()
    return x


@TOPIC.snippet
def loader_with_pinned_memory(device: str) -> object:
    """Batches out of a loader's pinning thread."""
    data = torch.utils.data.TensorDataset(torch.arange(20.0).view(10, 2), torch.arange(10))
    loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=device == "cuda", drop_last=True)
    total, labels = torch.zeros(2, device=device), []
    for inputs, targets in loader:
        total += inputs.to(device, non_blocking=True).sum(0)
        labels.append(targets.to(device, non_blocking=True))
    return total, torch.cat(labels)


@TOPIC.snippet
def threads(device: str) -> object:
    """Worker threads use the device too, each in its part of the result."""
    results = torch.zeros(3, 4, device=device)

    def work(row: int) -> None:
        x = torch.full((4,), float(row), device=device)
        results[row] = (x * 2).exp().log()

    for row in range(3):
        thread = threading.Thread(target=work, args=(row,))
        thread.start()
        thread.join()
    return results


@TOPIC.snippet(expected=lambda: (torch.full((4, 4), 8.0), torch.full((4, 4), 4.0)))
def backward_on_a_side_stream(device: str) -> object:
    """Gradients of a forward that ran on another stream."""
    weight, side = torch.ones(4, 4, device=device, requires_grad=True), torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        output = (weight * 2) @ torch.ones(4, 4, device=device)
    torch.cuda.current_stream().wait_stream(side)
    output.record_stream(torch.cuda.current_stream())
    output.sum().backward()
    return weight.grad, output.detach() / 2


@TOPIC.snippet(expected=lambda: [["default", "warn", "default"], True, 1])
def sync_debug_mode(device: str) -> object:
    """A wait of the host is warned of."""
    import warnings

    names = {0: "default", 1: "warn", 2: "error"}
    modes = [names[torch.cuda.get_sync_debug_mode()]]
    x = torch.ones(2, device=device)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        modes.append(names[torch.cuda.get_sync_debug_mode()])
        value = x.sum().item()
        torch.cuda.set_sync_debug_mode("default")
    modes.append(names[torch.cuda.get_sync_debug_mode()])
    return [modes, value == 2.0, sum("called a synchronizing" in str(w.message) for w in caught)]


@TOPIC.snippet(expected=lambda: [True, True, (9, 0), True, True])
def device_properties(device: str) -> object:
    """What code asks before it chooses a kernel."""
    properties = torch.cuda.get_device_properties(0)
    return [
        torch.cuda.is_available() and torch.cuda.device_count() >= 1,
        isinstance(torch.cuda.get_device_name(), str) and properties.total_memory > 1 << 30,
        torch.cuda.get_device_capability(),
        torch.cuda.is_bf16_supported(),
        properties.multi_processor_count > 1 and properties.major == 9,
    ]


@TOPIC.snippet(expected=lambda: torch.tensor([[2.0, 4.0]]))
def model_spread_over_streams(device: str) -> object:
    """Two branches of a model on two streams, joined by their sum."""
    branches = [nn.Linear(2, 2, bias=False).to(device) for _ in range(2)]
    for branch in branches:
        nn.init.eye_(branch.weight)
    x, main = torch.tensor([[1.0, 2.0]], device=device), torch.cuda.current_stream()
    sides, parts = [torch.cuda.Stream() for _ in branches], []
    with torch.no_grad():
        for branch, side in zip(branches, sides, strict=True):
            side.wait_stream(main)
            with torch.cuda.stream(side):
                x.record_stream(side)
                parts.append(branch(x))
        for side, part in zip(sides, parts, strict=True):
            main.wait_stream(side)
            part.record_stream(main)
        return parts[0] + parts[1]
