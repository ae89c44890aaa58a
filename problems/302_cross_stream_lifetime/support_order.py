"""A race in this problem's words: who lost a block, or did not wait, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Pair = tuple[str, str]

REUSED: tuple[Pair, Pair] = (
    (
        "A block of memory got a new owner while a stream may still read it",
        "还有流可能在读，这块内存就换了主人",
    ),
    (
        "The allocator orders a block's owners by one stream only, the one that was current when it was allocated. "
        "Which other stream reads the tensor, and who tells the allocator? The mark belongs on the tensor that is read "
        "there itself, and names that other stream: a mark for its own stream does nothing.",
        "分配器只按一个流给一块内存的先后主人排次序，就是分配时的当前流。还有哪个流在读这个张量？谁来告诉分配器？"
        "标记要打在那里真正被读的张量上，写明那另一个流：标记它自己的流，什么也不做。",
    ),
)

NOT_WRITTEN: tuple[Pair, Pair] = (
    (
        "A stream may read memory before another stream has written it",
        "另一个流还没写好，这个流就可能去读",
    ),
    (
        "The stream that reads waits for the stream that writes: reader.wait_stream(writer), or reader.wait_event() "
        "with an event recorded behind the write. Which stream writes is decided by who is current at the call, and "
        "that is not always the default stream.",
        "由读的流去等写的流：reader.wait_stream(writer)，或者用 reader.wait_event() 等写入之后记录的事件。"
        "写的是哪个流，取决于调用时的当前流，它不一定是默认流。",
    ),
)

READ_EARLY: tuple[Pair, Pair] = (
    ("The host read a copy before it had ended", "拷贝还没结束，主机就读了"),
    (
        "HostCopy.done must be recorded behind the copy, on the stream of the copy.",
        "HostCopy.done 要在拷贝之后、在拷贝所在的流上记录。",
    ),
)


def explain_race(races: Sequence[Any]) -> tuple[Pair | None, Pair | None]:
    """Return what the first race broke and what to look at, as far as this problem knows better than the judge."""
    if not races:
        return None, None
    told = {
        "reused-block": REUSED,
        "unordered-block": REUSED,
        "read-after-write": NOT_WRITTEN,
        "host-read-early": READ_EARLY,
    }
    return told.get(races[0].kind, (None, None))
