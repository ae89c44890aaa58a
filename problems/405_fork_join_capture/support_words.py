"""What a learner is told, in both languages: what broke, and where to look."""

from __future__ import annotations

from typing import Any

Pair = tuple[str, str]

LOOK_JOIN: Pair = (
    "A side stream that the capture was led into must be led back: the stream that captures waits for each of them, "
    "behind their last work, before the capture ends.",
    "捕获分叉到了侧流，就必须回来：捕获结束之前，主捕获流要等待每一个侧流，等在它们最后的工作之后。",
)
LOOK_FORK: Pair = (
    "The stream that captures waits for a stream, or an event, that is no part of the capture. A side stream becomes "
    "one by waiting for the capturing stream, in this very call, before its first work.",
    "主捕获流在等一个不属于这次捕获的流或事件。侧流要先等待主捕获流（就在这次调用里，在它的第一项工作之前），才会进入捕获。",
)
LOOK_WAIT: Pair = (
    "The host waited in the capture. Streams wait for streams by events: wait_stream, wait_event. What a model does "
    "in its first calls belongs in the warm-up.",
    "捕获期间主机等待了。流等流靠事件：wait_stream、wait_event。模型头几次调用里做的事，应当在预热中做完。",
)
LOOKS: dict[str, Pair] = {"unjoined work": LOOK_JOIN, "uncaptured work": LOOK_FORK, "stream is capturing": LOOK_WAIT}
"""By the words of CUDA's error."""

LOOK_VALUE: Pair = (
    "combine gets one result a branch, in the order of the branches, each of this very input.",
    "combine 得到每个分支的一个结果，按分支的次序，都来自这次的输入。",
)
LOOK_REPLAY: Pair = (
    "Is each branch part of the graph? Work on a stream that was not forked from the capture runs once, at once, and "
    "no replay repeats it. And does the graph read its own input?",
    "每个分支都进了图吗？没有从捕获分叉出去的流，上面的工作当场执行一次，重放不会重做。另外，图读的是它自己的输入吗？",
)


NO_FORK: Pair = (
    "no fork: a branch starts on its side stream before the current stream has made x",
    "没有分叉：当前流还没有算出 x，分支就在侧流上开始了",
)
NO_JOIN: Pair = (
    "no join: the current stream goes on, to combine or to the caller, before a side stream has ended its branch",
    "没有汇合：侧流上的分支还没结束，当前流就往下走了，去执行 combine，或者回到调用者",
)
LOOK_WAITS: Pair = (
    "Fork: each side stream waits for the current one, before its branch. Join: the current one waits for each side "
    "stream, after its branch and before combine, on every way out.",
    "分叉：每个侧流在分支之前等当前流。汇合：当前流在分支之后、combine 之前等每一个侧流，无论从哪条路离开。",
)


def explain_order(seen: Any) -> tuple[Pair, Pair]:
    """Return what is missing where a call from one stream has a race: who came first, the caller or a side stream?"""
    spans = sorted(seen.observation.spans, key=lambda span: span.launched_us)
    is_forked = not seen.races or seen.races[0].first.stream != spans[0].stream
    return (NO_JOIN if is_forked else NO_FORK), LOOK_WAITS
