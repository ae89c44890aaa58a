"""What comes back: kind, dtype, shape and device; and what must stay as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support_rules import Row
from torch import Tensor

SHAPES = pytest.mark.parametrize(
    ("rows", "vocabulary"), [(0, 5), (1, 1), (1, 7), (3, 1), (5, 33)], ids=lambda value: str(value)
)


@SHAPES
def test_allowed_tokens_returns_a_mask(
    bench: Any, evidence: Any, logits_of: Callable[..., Tensor], rows: int, vocabulary: int
) -> None:
    """allowed_tokens returns a bool tensor of the logits' shape, on their device; also without rows.

    zh: allowed_tokens 返回与 logits 同形状、同设备的 bool 张量，没有任何行时也一样。
    """
    logits = logits_of(rows, vocabulary)
    look = (
        "With nothing to filter, every token with a finite logit is allowed.",
        "不过滤时，logit 有限的 token 都允许。",
    )
    evidence.exact("masks", bench.compare_masks(logits, [Row(seed=row) for row in range(rows)], look))


@SHAPES
def test_sample_returns_tokens(
    bench: Any, expect: Any, evidence: Any, logits_of: Callable[..., Tensor], rows: int, vocabulary: int
) -> None:
    """Sample returns one int64 token a row, on the device of the logits; also without rows.

    zh: sample 每行返回一个 int64 的 token，与 logits 在同一设备上，没有任何行时也一样。
    """
    logits = logits_of(rows, vocabulary)
    batch = bench.batch([Row(temperature=0.0, seed=row) for row in range(rows)])
    tokens = bench.sample(logits, batch)
    best = logits.argmax(dim=1)
    expect.equal(
        tokens.tolist(),
        best.tolist(),
        ("A greedy row must draw its best token", "贪心行应当取最大的 token"),
        look=(
            "A row of temperature 0 allows one token (rule 2): did another one win the race? Or is the answer a rank "
            "rather than a token?",
            "温度为 0 的行只允许一个 token（规则 2）：是不是别的 token 赢了竞赛？还是结果是名次，而不是 token？",
        ),
    )
    evidence.exact("tokens", tokens)
    evidence.exact("positions", batch.position)


def test_tokens_are_a_new_tensor(bench: Any, expect: Any, evidence: Any, logits_of: Callable[..., Tensor]) -> None:
    """What one call has returned is not overwritten by the next.

    zh: 上一次调用返回的结果不会被下一次调用覆盖。
    """
    batch = bench.batch([Row(temperature=0.0)] * 4)
    first = bench.sample(logits_of(4, 50), batch)
    before = first.tolist()
    bench.sample(logits_of(4, 50), batch)
    expect.equal(
        first.tolist(),
        before,
        ("The tokens of the first call changed during the second", "第二次调用改动了第一次返回的 token"),
        look=("Is one buffer handed out twice?", "是不是把同一块缓冲区交出去了两次？"),
    )
    evidence.exact("tokens", before)
