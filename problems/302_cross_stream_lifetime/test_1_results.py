"""What comes to the host, and what comes back: the right values in the right place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

LOGITS: dict[str, Callable[[Tensor], Tensor]] = {
    "float32": lambda logits: logits,
    "bfloat16": lambda logits: logits.bfloat16(),
    "float16": lambda logits: logits.half(),
    "transposed": lambda logits: logits.t().contiguous().t(),
    "every_other_column": lambda logits: logits.repeat_interleave(2, 1)[:, ::2],
}


def find_logprobs(logits: Tensor, tokens: Tensor) -> Tensor:
    """Return what should come, computed in float64 on the host."""
    scores = torch.log_softmax(logits.double(), -1)
    return scores.gather(1, tokens[:, None])[:, 0].float()


@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_saved_blocks_come_to_the_host(yard: Any, watch: Any, count: int) -> None:
    """The values of the saved blocks are those at the call, whatever is written to the cache later.

    zh: 保存下来的是调用那一刻各块的值，不论之后往缓存里写了什么。
    """
    with watch() as seen:
        for dtype in (torch.float32, torch.bfloat16):
            yard.open(33, dtype)
            blocks = yard.rng.sample(range(12), count)
            wanted = yard.model[blocks]
            yard.take(yard.save(blocks), wanted, "save().read()")
    yard.settle(seen)


def test_blocks_come_back_to_other_places(yard: Any, watch: Any) -> None:
    """Blocks are saved, overwritten, fetched, and placed elsewhere; all others are as before.

    zh: 块先保存、被改写，再取回，放到别处；其余的块保持原样。
    """
    yard.open()
    with watch() as seen:
        for _ in range(3):
            old, new = yard.rng.sample(range(12), 3), yard.rng.sample(range(12), 3)
            wanted = yard.model[old].clone()
            fetched = yard.call("fetch", yard.save(old))  # nobody keeps what save() returned
            yard.model[old] = -1
            yard.place(fetched, new, wanted)
    yard.settle(seen)
    yard.check_cache()


@pytest.mark.parametrize("kind", list(LOGITS))
def test_logprobs_are_those_of_the_softmax(yard: Any, watch: Any, kind: str) -> None:
    """Log-probabilities agree with float64, for every dtype and strides, also for no row.

    zh: 对数概率与 float64 的结果一致；dtype、步长任意，没有行也行。
    """
    yard.open()
    with watch() as seen:
        for rows in (5, 1, 0):
            logits = LOGITS[kind](yard.draw(rows, 97) / 8)
            tokens = torch.tensor([yard.rng.randrange(97) for _ in range(rows)], dtype=torch.int64)
            every_other = tokens.repeat_interleave(2).to("cuda")[::2]
            copy = yard.call("logprobs", logits.to("cuda"), every_other)
            yard.take(copy, find_logprobs(logits, tokens), f"logprobs().read() of {rows} rows")
    yard.settle(seen)


def test_a_vocabulary_of_one_is_certain(yard: Any) -> None:
    """With one word in the vocabulary every log-probability is 0.

    zh: 词表里只有一个词时，对数概率都是 0。
    """
    yard.open()
    logits, tokens = yard.draw(4, 1).to("cuda"), torch.zeros(4, dtype=torch.int64, device="cuda")
    yard.take(yard.call("logprobs", logits, tokens), torch.zeros(4), "logprobs().read()")
    yard.settle()
