"""Random programs on four streams: no block is handed out while somebody uses it, and all figures agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MIB = 1 << 20
STREAMS = range(4)


@pytest.mark.weight(2)
@pytest.mark.parametrize("capacity", [1 << 40, 96 * MIB], ids=["enough memory", "little memory"])
def test_no_block_is_handed_out_while_it_is_used(play: Callable[..., Any], rng: Any, capacity: int) -> None:
    """Blocks of random sizes are used, recorded and freed in any order, while the streams go on in fits and starts.

    zh: 随机大小的块以任意次序使用、登记、释放，各个流走走停停。
    """
    for number in range(3):
        game = play(capacity=capacity, may_be_refused=True)
        live: dict[Any, int] = {}
        for _ in range(160):
            play_turn(game, live, rng)
        game.snapshot()
        game.call("empty_cache")
        game.snapshot()
        game.record(f"decisions of program {number + 1}")


def play_turn(game: Any, live: dict[Any, int], rng: Any) -> None:
    """Do one random thing."""
    step = rng.random()
    if step < 0.35 or not live:
        stream = rng.choice(STREAMS)
        size = rng.choice((rng.randrange(1, 5000), rng.randrange(1 << 19, 3 * MIB), rng.randrange(MIB, 24 * MIB)))
        try:
            live[game.malloc(size, stream)] = stream
        except MemoryError:
            game.note(f"malloc({size}, stream={stream})", {"raises": "MemoryError"})
    elif step < 0.6:
        block, stream = rng.choice(list(live)), rng.choice(STREAMS)
        if stream != live[block] or rng.random() < 0.2:
            game.call("record_stream", block, stream)
        game.launch(stream, block, "use")
    elif step < 0.85:
        block = rng.choice(list(live))
        del live[block]
        game.call("free", block)
    else:
        game.device.finish(rng.choice(STREAMS), rng.randrange(1, 4))
