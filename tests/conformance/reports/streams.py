"""Reports about streams and the memory that they share."""

from __future__ import annotations

import torch

from tests.conformance.reports.report import BUSY_CYCLES, Report


def multiply_early(is_mended: bool) -> bool:
    """Multiply a matrix that another stream still copies.

    Cause: streams of the pool run past each other; nothing joined the copy stream.
    Right fix: ``consumer.wait_stream(copy)`` between the copy and its use.
    """
    copy = torch.cuda.Stream()
    source = torch.ones(64, 64, pin_memory=True)
    weights = torch.zeros(64, 64, device="cuda")
    torch.mm(weights, weights)  # loads the library
    torch.cuda.synchronize()
    with torch.cuda.stream(copy):
        torch.cuda._sleep(BUSY_CYCLES)
        weights.copy_(source, non_blocking=True)
    if is_mended:
        torch.cuda.current_stream().wait_stream(copy)
    product = weights @ weights
    return product[0, 0].item() != 64.0


def free_bucket(is_mended: bool) -> bool:
    """Free a bucket that a second stream still reads.

    Cause: the allocator knows only the stream of allocation, and hands the block out at once.
    Right fix: ``record_stream``, or join the stream before the bucket dies.
    """
    compute = torch.cuda.Stream()
    torch.zeros(1 << 20, device="cuda").sum()  # loads the kernels, which may wait for the device
    bucket = torch.ones(1 << 20, device="cuda")
    compute.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(compute):
        torch.cuda._sleep(BUSY_CYCLES)
        total = bucket.sum()
    if is_mended:
        bucket.record_stream(compute)
    del bucket
    other = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    return total.item() != float(other.numel())


def record_shifted_view(is_mended: bool) -> bool:
    """Keep memory alive through a view that does not begin where its block does.

    Cause: a recording found its block by the view's own pointer, and missed it. Fixed since; with the recording left
    out, the symptom is the same.
    Right fix: ``record_stream`` on any view of the storage.
    """
    side = torch.cuda.Stream()
    block = torch.ones(1 << 20, device="cuda")
    view = block[4096:]
    address = block.data_ptr()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(BUSY_CYCLES)
        view.sum()
    if is_mended:
        view.record_stream(side)
    del block, view
    other = torch.zeros(1 << 20, device="cuda")
    is_reused = other.data_ptr() == address
    torch.cuda.synchronize()
    return is_reused


def never_reuse(is_mended: bool) -> bool:
    """Take memory for a second time while a graph is captured.

    Cause: a freed block with a recorded stream waits for an event, which a capture cannot ask for: its bytes stay lost
    until the capture ends. Before 2.13 any allocation under ``use_mem_pool`` counted as one of a capture.
    Right fix: join the side stream before the tensor dies; then no recording is needed.
    """
    side = torch.cuda.Stream()
    warm = torch.ones(1 << 20, device="cuda") + 1
    del warm
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        main = torch.cuda.current_stream()
        scratch = torch.ones(1 << 20, device="cuda")
        address = scratch.data_ptr()
        side.wait_stream(main)
        with torch.cuda.stream(side):
            scratch.add_(1)
        if not is_mended:
            scratch.record_stream(side)
        main.wait_stream(side)
        del scratch
        other = torch.ones(1 << 20, device="cuda")
    return other.data_ptr() != address


REPORTS = (
    Report(
        "copy_stream_not_joined",
        "ROCm/pytorch#3194",
        lambda: multiply_early(False),
        lambda: multiply_early(True),
        races=("read-after-write",),
        is_wrong_on_sim=False,
    ),
    Report(
        "bucket_freed_without_recording",
        "NVIDIA/Megatron-LM#5788",
        lambda: free_bucket(False),
        lambda: free_bucket(True),
        races=("reused-block",),
        is_wrong_on_sim=False,
    ),
    Report(
        "shifted_view_recorded",
        "pytorch/pytorch#27366",
        lambda: record_shifted_view(False),
        lambda: record_shifted_view(True),
        races=("reused-block",),
    ),
    Report(
        "block_not_reused_in_a_capture",
        "pytorch/pytorch#175015",
        lambda: never_reuse(False),
        lambda: never_reuse(True),
    ),
)
