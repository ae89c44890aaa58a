"""Reports about asynchronous copies."""

from __future__ import annotations

import torch

from tests.conformance.reports.report import BUSY_CYCLES, Report


def overwrite_source(is_mended: bool) -> bool:
    """Send pinned values to the device, then overwrite them.

    Cause: the copy reads its pinned source when it runs, not when it is called.
    Right fix: record an event after the copy, and wait for it before the buffer is used again.
    """
    source = torch.ones(1 << 16, pin_memory=True)
    torch.cuda._sleep(BUSY_CYCLES)
    sent = source.to("cuda", non_blocking=True)
    copied = torch.cuda.Event()
    copied.record()
    if is_mended:
        copied.synchronize()
    source.fill_(7)
    return sent.cpu()[0].item() != 1.0


def read_early(is_mended: bool) -> bool:
    """Fetch a result without blocking, and look at it.

    Cause: ``.to("cpu", non_blocking=True)`` returns pinned memory that the copy has yet to fill.
    Right fix: wait for an event that was recorded after the copy.
    """
    result = torch.full((1 << 16,), 3.0, device="cuda")
    torch.cuda._sleep(BUSY_CYCLES)
    fetched = result.to("cpu", non_blocking=True)
    copied = torch.cuda.Event()
    copied.record()
    if is_mended:
        copied.synchronize()
    seen = fetched[0].item()
    torch.cuda.synchronize()
    return seen != 3.0


def reuse_staging_buffer(is_mended: bool) -> bool:
    """Stage the inputs of several steps in pinned memory.

    Cause: one staging buffer is filled for the next step while this step's copy still waits for its turn.
    Right fix: two buffers, each with the event of its last copy.
    """
    staging = [torch.empty(1 << 12, pin_memory=True) for _ in range(2 if is_mended else 1)]
    copied = [torch.cuda.Event() for _ in staging]
    inputs = []
    for step in range(4):
        turn = step % len(staging)
        if is_mended:
            copied[turn].synchronize()
        staging[turn].fill_(float(step))
        torch.cuda._sleep(BUSY_CYCLES // 4)
        inputs.append(staging[turn].to("cuda", non_blocking=True))
        copied[turn].record()
    return [batch[0].item() for batch in inputs] != [0.0, 1.0, 2.0, 3.0]


REPORTS = (
    Report(
        "pinned_source_overwritten",
        "pytorch/pytorch#127612",
        lambda: overwrite_source(False),
        lambda: overwrite_source(True),
        races=("host-write-early",),
    ),
    Report(
        "download_read_early",
        "pytorch/pytorch#140296, #86264",
        lambda: read_early(False),
        lambda: read_early(True),
        races=("host-read-early",),
    ),
    Report(
        "staging_buffer_reused",
        "pytorch/pytorch#126946, vllm-project/vllm-ascend#16428",
        lambda: reuse_staging_buffer(False),
        lambda: reuse_staging_buffer(True),
        races=("host-write-early",),
    ),
)
