"""Statistics of memory, snapshots and reuse."""

from __future__ import annotations

import gc
import pickle
import tempfile
from pathlib import Path

import torch

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("memory")
MIB = 1 << 20


@TOPIC.snippet(expected=lambda: [4 * MIB, True, 4 * MIB, 0])
def allocated_and_peak(device: str) -> object:
    """Bytes now and at most."""
    torch.cuda.empty_cache()
    start = torch.cuda.memory_allocated()
    x = torch.zeros(1024, 1024, device=device)
    grown = torch.cuda.memory_allocated() - start
    is_reserved = torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    y = x + 1
    del y
    peak = torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated()
    del x
    return [grown, is_reserved, peak, torch.cuda.memory_allocated() - start]


@TOPIC.snippet(expected=lambda: [True, 0, True, True])
def freed_block_is_reused(device: str) -> object:
    """The same bytes, aligned to 512, come back with what was in them."""
    x = torch.full((1000,), 7.0, device=device)
    address = x.data_ptr()
    del x
    y = torch.empty(1000, device=device)
    return [y.data_ptr() == address, address % 512, bool((y == 7).all()), y.is_cuda]


@TOPIC.snippet(expected=lambda: [True, True, True, True])
def statistics(device: str) -> object:
    """The dictionary, the summary and the device's free bytes."""
    kept = torch.empty(3 * MIB, device=device, dtype=torch.uint8)
    numbers = torch.cuda.memory_stats()
    free, total = torch.cuda.mem_get_info()
    return [
        numbers["allocated_bytes.all.current"] >= kept.numel(),
        numbers["allocation.all.allocated"] > 0 and numbers["num_ooms"] == 0,
        "Allocated memory" in torch.cuda.memory_summary(),
        0 < free < total,
    ]


@TOPIC.snippet(expected=lambda: [True, True, True])
def snapshot(device: str) -> object:
    """Segments and blocks, and the file that the viewer opens."""
    torch.cuda.memory._record_memory_history()
    kept = torch.empty(3 * MIB, device=device, dtype=torch.uint8)
    segments = torch.cuda.memory_snapshot()
    with tempfile.TemporaryDirectory() as folder:
        torch.cuda.memory._dump_snapshot(str(Path(folder) / "snapshot.pickle"))
        written = pickle.loads((Path(folder) / "snapshot.pickle").read_bytes())
    torch.cuda.memory._record_memory_history(enabled=None)
    blocks = [block for segment in segments for block in segment["blocks"]]
    return [
        any(block["state"] == "active_allocated" and block["size"] >= kept.numel() for block in blocks),
        {"segments", "device_traces"} <= set(written),
        any(entry["action"] == "alloc" for trace in written["device_traces"] for entry in trace),
    ]


@TOPIC.snippet(expected=lambda: [True, True, torch.ones(2)])
def out_of_memory_is_survived(device: str) -> object:
    """Code that halves its batch until it fits."""
    size, text = 1 << 46, ""
    while True:
        try:
            buffer = torch.empty(size, dtype=torch.uint8, device=device)
            break
        except torch.cuda.OutOfMemoryError as error:
            text = str(error)
            size //= 16
    del buffer
    torch.cuda.empty_cache()
    return ["CUDA out of memory. Tried to allocate" in text, size < 1 << 46, torch.ones(2, device=device)]


@TOPIC.snippet(expected=lambda: [0, True, 0])
def cache_given_back(device: str) -> object:
    """Reserved bytes fall when the cache is emptied, not when tensors die."""
    gc.collect()
    torch.cuda.empty_cache()
    start = torch.cuda.memory_reserved()
    x = torch.empty(64 * MIB, dtype=torch.uint8, device=device)
    del x
    is_cached = torch.cuda.memory_reserved() > start
    allocated = torch.cuda.memory_allocated()
    torch.cuda.empty_cache()
    return [torch.cuda.memory_reserved() - start, is_cached, torch.cuda.memory_allocated() - allocated]


@TOPIC.snippet(expected=lambda: [True, torch.full((4,), 3.0)])
def own_pool(device: str) -> object:
    """Memory of a pool apart."""
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        x = torch.full((4,), 3.0, device=device)
    y = torch.empty(4, device=device)
    is_apart = abs(x.data_ptr() - y.data_ptr()) >= 2 * MIB
    return [is_apart, x.clone()]
