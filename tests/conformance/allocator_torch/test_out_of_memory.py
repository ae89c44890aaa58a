"""The text of an out-of-memory error, word for word."""

from __future__ import annotations

import re

from tests.conformance.edges.programs import run_real, run_simulated

PROGRAM = """
torch.cuda.set_per_process_memory_fraction(0.01)
kept = [torch.empty(300 << 20, dtype=torch.uint8, device="cuda") for _ in range(3)]
del kept[1]
torch.empty(1200 << 20, dtype=torch.uint8, device="cuda")
"""

H200_TEXT = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.17 GiB. GPU 0 has a total capacity of 139.80 GiB "
    "of which 137.38 GiB is free. Process 1066 has 730.00 MiB memory in use. Process 1064 has 612.00 MiB memory in "
    "use. Including non-PyTorch memory, this process has 1.09 GiB memory in use. 1.40 GiB allowed; Of the allocated "
    "memory 600.00 MiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated. If reserved but "
    "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  "
    "See documentation for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html"
    "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
)
"""Measured on one NVIDIA H200, driver 580.159, torch 2.11.0+cu130; two other processes used the device."""


def without_the_machine(text):
    """Return a text without what depends on who else uses the device, and on what its driver takes."""
    text = re.sub(r"Process \d+ has [\d.]+ \w+ memory in use\. ", "", text)
    return re.sub(r"of which [\d.]+ \w+ is free|this process has [\d.]+ \w+ memory in use", "…", text)


def test_the_text_is_that_of_the_h200(device_kind):
    """But for other processes, what they leave free, and what the driver counts as this one's."""
    run = run_simulated if device_kind == "sim" else run_real
    assert without_the_machine(H200_TEXT) == without_the_machine(run(PROGRAM).error)
