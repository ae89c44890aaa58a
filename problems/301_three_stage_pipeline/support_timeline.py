"""What the timeline of a run says about time that was lost."""

from __future__ import annotations

from typing import Any

Pair = tuple[str, str]


def explain_slowness(seen: Any, results: int) -> Pair:
    """Return where the time went, as far as the timeline shows it."""
    streams = {span.stream for span in seen.observation.spans}
    waits = explain_waits(seen.syncs, results)
    if waits is not None:
        return waits
    if len(streams) < 2:
        return (
            "All work ran on one stream, where it stands in one queue: each stage needs a stream of its own.",
            "所有工作都在同一个流上，只能一个接一个地排队：每一级都需要自己的流。",
        )
    if len(streams) < 3:
        return (
            "Two of the three stages share a stream, so they never overlap.",
            "三级之中有两级共用一个流，因此永远无法重叠。",
        )
    whole = next((sync for sync in seen.syncs if sync.kind in ("stream_synchronize", "device_synchronize")), None)
    if whole is not None:
        return (
            f"Line {whole.site.line} waits for everything that is queued there, the chunks behind this one included. "
            "One copy can be waited for by an event that is recorded behind it.",
            f"第 {whole.site.line} 行等的是那里排着的全部工作，连后面几块也在内。"
            "只等一次拷贝的话，在它之后记录一个事件，等那个事件就够了。",
        )
    return (
        "The streams wait for more than they need, or the next chunk is queued too late. When result i is handed "
        "out, how many chunks are already queued behind it?",
        "流等待了不必等的东西，或者下一块入队太晚。交出结果 i 的时候，它后面已经排了几块？",
    )


def explain_waits(syncs: Any, results: int) -> Pair | None:
    """Return what made the host wait more than once a result, or ``None``."""
    if len(syncs) <= results:
        return None
    kinds = [sync.kind for sync in syncs]
    line = next(sync.site.line for sync in syncs if sync.kind == max(kinds, key=kinds.count))
    if "copy_h2d" in kinds:
        line = next(sync.site.line for sync in syncs if sync.kind == "copy_h2d")
        return (
            f"Line {line} waits inside a copy to the device. non_blocking=True only works from memory that is pinned "
            "and contiguous; from any other the call itself waits.",
            f"第 {line} 行在拷往设备时停下来等待。只有源内存既锁页又连续，non_blocking=True 才真的不阻塞；"
            "否则调用本身就会等。",
        )
    if "copy_d2h" in kinds:
        line = next(sync.site.line for sync in syncs if sync.kind == "copy_d2h")
        return (
            f"Line {line} waits inside a copy to the host: .cpu(), a copy without non_blocking=True, or one into "
            "pageable memory.",
            f"第 {line} 行在拷回主机时停下来等待：用了 .cpu()、没有写 non_blocking=True，或者目标是可换页内存。",
        )
    return (
        f"The host waited {len(syncs)} times for {results} results, most often at line {line}. Which wait hands out "
        "a result, and which could be one stream waiting for another?",
        f"{results} 个结果，主机却等了 {len(syncs)} 次，最多的是第 {line} 行。哪一次等待是为了交出结果，"
        "哪些可以改成流等流？",
    )
