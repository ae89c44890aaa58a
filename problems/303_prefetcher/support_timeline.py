"""What the timeline of a run says about time that was lost."""

from __future__ import annotations

from typing import Any

Pair = tuple[str, str]


def explain_slowness(seen: Any, batches: int) -> Pair:
    """Return where the time went, as far as the timeline shows it."""
    waits = explain_waits(seen.syncs, batches)
    if waits is not None:
        return waits
    spans = seen.observation.spans
    if len({span.stream for span in spans}) < 2:
        return (
            "The copies stand in the queue of the consumer's stream, between its steps: they need a stream of their "
            "own.",
            "拷贝排在消费者的流里，夹在它的各步之间：拷贝需要自己的流。",
        )
    copies = sorted((span for span in spans if span.engine == "h2d"), key=lambda span: span.started_us)
    steps = sorted((span for span in spans if span.engine == "sm"), key=lambda span: span.started_us)
    if len(copies) > 1 and steps and steps[0].started_us >= copies[1].ended_us:
        return (
            "The first step began when two batches had arrived. wait_stream(copies) waits for all that the copy stream "
            "holds: is the copy of the next batch queued already when the consumer's stream begins to wait?",
            "第一步要等两个 batch 都到了才开始。wait_stream(拷贝流) 等的是那个流里现有的全部工作："
            "消费者的流开始等的时候，下一个 batch 的拷贝是不是已经排进去了？",
        )
    return (
        "When next() hands out batch i, the copy of batch i + 1 must be queued already, and wait for no more than the "
        "steps before. Is it queued only when it is asked for?",
        "next() 交出第 i 个 batch 时，第 i + 1 个的拷贝必须已经入队，而且只等前面的步骤。是不是等到有人要了才入队？",
    )


def explain_waits(syncs: Any, batches: int) -> Pair | None:
    """Return what made the host wait more than once a batch, or ``None``."""
    inside = next((sync for sync in syncs if sync.kind == "copy_h2d"), None)
    if inside is not None:
        return (
            f"Line {inside.site.line} waits inside a copy to the device. non_blocking=True only works from memory that "
            "is pinned and contiguous; from any other the call itself waits.",
            f"第 {inside.site.line} 行在拷往设备时停下来等待。只有源内存既锁页又连续，non_blocking=True 才真的不阻塞；"
            "否则调用本身就会等。",
        )
    whole = next((sync for sync in syncs if sync.kind in ("stream_synchronize", "device_synchronize")), None)
    if whole is not None:
        return (
            f"Line {whole.site.line} holds the host until everything that is queued there has ended. For a batch to be "
            "read, one stream waits for another; for host memory to be free, the host waits for the event of one "
            "earlier copy.",
            f"第 {whole.site.line} 行让主机一直等到那里排着的工作全部结束。要读 batch，流等流就够了；"
            "要腾出主机内存，主机只需等先前某一次拷贝的事件。",
        )
    if len(syncs) <= batches:
        return None
    return (
        f"The host waited {len(syncs)} times for {batches} batches. It has to wait only for a copy whose host memory "
        "may be written again.",
        f"{batches} 个 batch，主机却等了 {len(syncs)} 次。只有主机内存可能被重写的那次拷贝，才需要等。",
    )
