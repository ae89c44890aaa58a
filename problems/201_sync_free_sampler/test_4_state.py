"""Who goes on and who has ended: state that never leaves the device."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from support_rules import CLEAR, PAD, Row, draw_row, race, rank_tokens
from torch import Tensor

INF = math.inf


def _state(batch: Any) -> dict[str, list[Any]]:
    return {"position": batch.position.tolist(), "finished": batch.finished.tolist()}


def test_the_last_token_finishes_its_row(bench: Any, expect: Any, evidence: Any) -> None:
    """A row that draws its own eos is finished, and has drawn it; another row's eos is a token like any other.

    zh: 抽到自己的 eos 的行就此结束，这个 eos 也算抽到了；别人的 eos 只是普通 token。
    """
    logits = bench.tensor([[0.0, 9.0, 0.0, 0.0], [0.0, 0.0, 9.0, 0.0], [0.0, 9.0, 0.0, 0.0], [9.0, 0.0, 0.0, 0.0]])
    batch = bench.batch([Row(0.0, eos=eos, position=5) for eos in (1, 1, -1, 0)])
    tokens = bench.sample(logits, batch).tolist()
    expect.equal(tokens, [1, 2, 1, 0], ("Greedy rows draw their best tokens", "贪心行应当取最大的 token"))
    expect.equal(
        _state(batch),
        {"position": [6, 6, 6, 6], "finished": [True, False, False, True]},
        ("After eos: position and finished are not right", "抽到 eos 之后，position 或 finished 不对"),
        look=("Compare the drawn token with the row's own eos.", "要与该行自己的 eos 比较。"),
    )
    evidence.exact("state", {"tokens": tokens, **_state(batch)})


@pytest.mark.parametrize("pad", [-7, 0, 2], ids=lambda value: f"pad{value}")
def test_a_finished_row_gets_pad(bench: Any, expect: Any, evidence: Any, pad: int) -> None:
    """A finished row gets pad, stays finished, and its position stands still; its neighbours go on.

    zh: 已结束的行得到 pad，保持结束，位置不动；其他行照常继续。
    """
    logits = bench.tensor([[0.0, 9.0, 0.0]] * 4)
    rows = [Row(0.0, finished=True, position=3), Row(0.0), Row(0.0, finished=True, eos=1), Row(0.0, eos=2)]
    batch = bench.batch(rows)
    tokens = bench.sample(logits, batch, pad).tolist()
    look = (
        "Which rows draw at all? Everything else follows from that mask.",
        "哪些行真的要抽？其余一切由这个掩码决定。",
    )
    expect.equal(tokens, [pad, 1, pad, 1], ("Finished rows must get pad", "已结束的行应当得到 pad"), look=look)
    expect.equal(
        _state(batch),
        {"position": [3, 1, 0, 1], "finished": [True, False, True, False]},
        ("A finished row's state moved, or a neighbour's did not", "已结束的行状态变了，或者其他行没有前进"),
        look=look,
    )
    evidence.exact("state", {"tokens": tokens, **_state(batch)})


def test_a_row_with_nothing_to_draw_ends(bench: Any, expect: Any, evidence: Any) -> None:
    """A row of minus infinities gets pad and is finished, and its position stands still.

    zh: 整行都是负无穷的行得到 pad 并结束，位置不动。
    """
    logits = bench.tensor([[-INF] * 5, [-INF, -INF, 0.0, -INF, -INF], [-INF] * 5, [1.0] * 5])
    batch = bench.batch([Row(top_p=0.5), Row(top_k=3), Row(0.0), Row(0.0)])
    tokens = bench.sample(logits, batch).tolist()
    look = (
        "argmax of a row of minus infinities is 0, and of NaN too: a token that nobody allowed.",
        "整行负无穷的 argmax 是 0，NaN 也一样：那是一个谁也没有允许的 token。",
    )
    expect.equal(
        tokens, [PAD, 2, PAD, 0], ("A row with nothing to draw must get pad", "无可抽取的行应当得到 pad"), look
    )
    expect.equal(
        _state(batch),
        {"position": [0, 1, 0, 1], "finished": [True, False, True, False]},
        ("A row with nothing to draw must be finished", "无可抽取的行应当结束"),
        look=look,
    )
    evidence.exact("state", {"tokens": tokens, **_state(batch)})


@pytest.mark.weight(2)
def test_a_loop_of_steps(bench: Any, expect: Any, evidence: Any, rng: Random, logits_of: Callable[..., Tensor]) -> None:
    """Eight steps of twelve random requests, each token and each flag as the rules have them.

    zh: 十二个随机请求走八步，每个 token、每个标志都合乎规则。
    """
    inputs = [logits_of(12, 19, 1.0) for _ in range(8)]
    rows = [draw_row(rng, values) for values in inputs[0].tolist()]
    rows = [Row(row.temperature, row.top_k, 1.0, 0.0, row.seed, eos=at % 5) for at, row in enumerate(rows)]
    batch = bench.batch(rows)
    positions, finished = [0] * 12, [False] * 12
    history, clear = [], True
    for step, logits in enumerate(inputs):
        tokens = bench.sample(logits, batch).tolist()
        wanted = []
        for at, values in enumerate(logits.tolist()):
            now = Row(rows[at].temperature, rows[at].top_k, seed=rows[at].seed, position=positions[at])
            winner = race(rank_tokens(values, now), now)
            clear = clear and (finished[at] or winner[1] > CLEAR)
            wanted.append(PAD if finished[at] else winner[0])
            positions[at] += not finished[at]
            finished[at] = finished[at] or wanted[-1] == rows[at].eos
        if not clear:
            break  # rounding may decide here, and all later steps hang on it
        look = ("Which of token, position and flag went wrong first?", "token、位置、标志，哪一个先出错？")
        what = (f"Step {step} differs from the rules", f"第 {step} 步与规则不符")
        actual = {"tokens": tokens, **_state(batch)}
        expect.equal(actual, {"tokens": wanted, "position": positions, "finished": finished}, what, look)
        history.append(actual)
    evidence.exact("steps", history)
