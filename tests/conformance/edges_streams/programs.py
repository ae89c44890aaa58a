"""Expressions about streams, events and the device, evaluated one after the other in one process.

The golden file holds what each gave on the H200; run there as ``python -m tests.conformance.edges_streams.programs``,
this prints a new one.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

SETTING = """
import torch
s = torch.cuda.Stream()
g = torch.Stream(device="cuda")
e = torch.cuda.Event()
def timed(kind, **options):
    return kind(enable_timing=True, **options)
def unfinished(kind, **options):
    start, end = timed(kind, **options), timed(kind, **options)
    start.record(); torch.cuda._sleep(100_000_000); end.record()
    return start.elapsed_time(end)
def attributes(x):
    return sorted(n for n in dir(x) if not n.startswith("_") and n != "is_capturing")
def inside(stream):
    with stream:
        return torch.cuda.current_stream()
def nested():
    with torch.cuda.stream(s):
        with torch.cuda.stream(None):
            inner = torch.cuda.current_stream()
        with s, s:
            pass
        after = torch.cuda.current_stream()
    return inner == s, after == s, torch.cuda.current_stream() == torch.cuda.default_stream()
def in_thread():
    import threading
    seen = []
    with torch.cuda.stream(s):
        t = threading.Thread(target=lambda: seen.append(torch.cuda.current_stream() == torch.cuda.default_stream()))
        t.start(); t.join()
    return seen
"""

PROGRAMS: dict[str, str] = {
    "number of a stream": "(s.stream_id, s.device_index, s.device_type, s.priority)",
    "number of a priority stream": "[torch.cuda.Stream(priority=p).stream_id for p in (-1, -9)]",
    "numbers go round": "[torch.cuda.Stream().stream_id for _ in range(33)]",
    "33rd is the 1st": "(lambda l: l[0] == l[32])([torch.cuda.Stream() for _ in range(33)])",
    "priorities": "[torch.cuda.Stream(priority=p).priority for p in (0, -1, -9, 3)]",
    "priority range": "torch.cuda.Stream.priority_range()",
    "priority of a generic stream": "torch.Stream(device='cuda', priority=-2).stream_id",
    "a generic stream prints": "repr(torch.Stream(stream_id=3, device_index=0, device_type=1))",
    "a generic stream without device": "torch.Stream().device",
    "a stream of the CPU": "torch.Stream(device='cpu')",
    "classes": "(isinstance(s, torch.Stream), isinstance(g, torch.cuda.Stream), type(g).__name__, type(g).__module__)",
    "line of ancestors": "[c.__name__ for c in torch.cuda.Stream.__mro__]",
    "line of ancestors of an event": "[c.__name__ for c in torch.cuda.Event.__mro__]",
    "equality": "(s == torch.cuda.Stream(stream_id=s.stream_id, device_index=0, device_type=1), s == 5, s == None)",
    "equality across classes": "torch.Stream(stream_id=s.stream_id, device_index=0, device_type=1) == s",
    "hash": "hash(s) == hash((s.cuda_stream, s.device))",
    "the default stream prints": "torch.cuda.default_stream()",
    "the current stream prints": "torch.cuda.current_stream()",
    "an external stream of handle 0": "torch.cuda.ExternalStream(0).cuda_stream != 0",
    "an external stream": "(lambda x: (x.stream_id == s.cuda_stream, x.priority, x == s, "
    "x.cuda_stream == s.cuda_stream))(torch.cuda.ExternalStream(s.cuda_stream))",
    "an external stream with priority": "torch.cuda.ExternalStream(s.cuda_stream, priority=-1)",
    "a stream from a handle": "torch.cuda.get_stream_from_external(s.cuda_stream) == s",
    "attributes of a stream": "attributes(s)",
    "attributes of a generic stream": "attributes(g)",
    "attributes of an event": "attributes(e)",
    "a stream as a context": "inside(s) == s",
    "a generic stream as a context": "inside(g).stream_id == g.stream_id",
    "contexts": "nested()",
    "a thread's current stream": "in_thread()",
    "a new event": "(e, e.device, e.event_id, e.cuda_event, e.query())",
    "a new generic event": "(lambda x: (x, x.device, x.event_id, x.query()))(timed(torch.Event, device='cuda'))",
    "a generic event without device": "torch.Event()",
    "an event of the CPU": "torch.Event(device='cpu')",
    "an unrecorded event waits for nothing": "(e.synchronize(), e.wait(), s.wait_event(e))",
    "a recorded event": "(lambda x: (x.record(), x.device, x.cuda_event == x.event_id != 0))(torch.cuda.Event())",
    "what a stream records": "(type(s.record_event()).__module__, type(g.record_event()).__module__)",
    "elapsed time of a number": "e.elapsed_time(3)",
    "elapsed time without timing": "e.elapsed_time(e)",
    "elapsed time unrecorded": "timed(torch.cuda.Event).elapsed_time(timed(torch.cuda.Event))",
    "elapsed time unfinished": "unfinished(torch.cuda.Event)",
    "elapsed time without timing, generic": "timed(torch.Event, device='cuda')"
    ".elapsed_time(torch.Event(device='cuda'))",
    "elapsed time unrecorded, generic": "(lambda x: x.elapsed_time(x))(timed(torch.Event, device='cuda'))",
    "elapsed time unfinished, generic": "unfinished(torch.Event, device='cuda')",
    "elapsed time of two kinds": "timed(torch.Event, device='cuda').elapsed_time(timed(torch.cuda.Event))",
    "waiting is over": "torch.cuda.synchronize()",
    "the accelerator": "(torch.accelerator.current_accelerator(), torch.accelerator.device_count(), "
    "torch.accelerator.current_device_index(), torch.accelerator.is_available(), torch.accelerator.current_stream())",
    "debug mode, first": "torch.cuda.set_sync_debug_mode('warn')",
    "debug mode, again": "torch.cuda.set_sync_debug_mode(1)",
    "debug mode is": "torch.cuda.get_sync_debug_mode()",
    "debug mode warns": "s.synchronize()",
    "debug mode warns, generic": "g.synchronize()",
    "debug mode does not see an event": "(e.record(), e.synchronize())",
    "debug mode does not see the device": "torch.cuda.synchronize()",
    "debug mode does not see the accelerator": "torch.accelerator.synchronize()",
    "debug mode 7": "torch.cuda.set_sync_debug_mode(7)",
    "debug mode x": "torch.cuda.set_sync_debug_mode('x')",
    "debug mode raises": "(torch.cuda.set_sync_debug_mode('error'), s.synchronize())",
    "debug mode off": "torch.cuda.set_sync_debug_mode('default')",
    "name": "(torch.cuda.get_device_name(), torch.cuda.get_device_capability(), torch.cuda.is_bf16_supported())",
    "properties": "(lambda p: (p.total_memory, p.multi_processor_count, p.L2_cache_size, p.warp_size, "
    "p.max_threads_per_block, p.shared_memory_per_block_optin))(torch.cuda.get_device_properties())",
    "properties of another device": "torch.cuda.get_device_properties(1)",
    "peers": "torch.cuda.can_device_access_peer(0, 0)",
    "cudart": "attributes(torch.cuda.cudart())",
    "switches": "(torch.version.cuda, torch.backends.cuda.is_built(), torch.backends.cudnn.version(), "
    "torch.backends.cudnn.is_available(), torch.backends.cudnn.enabled, torch.backends.cudnn.allow_tf32, "
    "torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.benchmark)",
    "plans": "(torch.backends.cuda.cufft_plan_cache.size, torch.backends.cuda.cufft_plan_cache.max_size)",
    "ranges": "(torch.cuda.nvtx.range_push('a'), torch.cuda.nvtx.range_pop(), torch.cuda.nvtx.mark('a'))",
}


def evaluate() -> dict[str, list[str]]:
    """Return of each expression its value or its exception, and the first lines of its warnings."""
    scope: dict[str, Any] = {}
    exec(SETTING, scope)
    return {name: [_evaluate(code, scope), *_collect()] for name, code in PROGRAMS.items()}


_warnings: list[str] = []


def _collect() -> list[str]:
    caught = list(_warnings)
    _warnings.clear()
    return caught


def _evaluate(code: str, scope: dict[str, Any]) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            shown = repr(eval(code, scope))
        except Exception as error:
            shown = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    _warnings.extend(str(warning.message).partition(" (Triggered internally")[0] for warning in caught)
    return shown


if __name__ == "__main__":
    import torch

    golden = {"torch": torch.__version__, "gpu": torch.cuda.get_device_name(), "results": evaluate()}
    json.dump(golden, sys.stdout, indent=1)
