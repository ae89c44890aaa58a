"""What each part returns, called eagerly, a part at a time."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest
import torch
from support_rules import PAD, Draw

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
NAMES = ["float32", "float16", "bfloat16"]
ROWS = [0, 1, 7]


@pytest.mark.parametrize("dtype", FLOATS, ids=NAMES)
def test_a_token_goes_through_its_expert(bench: Callable[..., Any], draw: Draw, dtype: torch.dtype) -> None:
    """route: each token meets its own expert's weight, in any mixture, and padding gives zeros.

    zh: route：每个 token 只经过自己专家的权重，怎样混合都行；填充行得到零。
    """
    one = bench(dtype=dtype)
    for count in (0, 1, 9):
        x = draw.numbers(count, 6, dtype=dtype, least=-3, most=3)
        one.run("route", f"{count} tokens", x=x, expert=draw.numbers(count, least=PAD, most=3))
    x = draw.numbers(5, 12, dtype=dtype, least=-3, most=3)[:, ::2]
    one.run("route", "every second column of a larger tensor", x=x, expert=draw.tensor([2] * 5, torch.int64))


@pytest.mark.parametrize("dtype", FLOATS, ids=NAMES)
def test_tokens_of_the_window_are_penalised(bench: Callable[..., Any], draw: Draw, dtype: torch.dtype) -> None:
    """penalise: only tokens of the window, each once, positive logits divided and others multiplied.

    zh: penalise：只惩罚窗口里的 token，每个一次；正的 logits 除，其余乘。
    """
    one = bench(window=4)
    penalty = draw.tensor([2.0, 4.0, 0.5, 0.0, 2.0], torch.float32)
    one.run("penalise", "nothing remembered yet", logits=draw.logits(5, 11, dtype), penalty=penalty)
    for _ in range(2):
        one.run("remember", tokens=draw.tensor([4, 0, 9, 1, 10], torch.int64))
    one.run("penalise", "the same token twice", logits=draw.logits(5, 11, dtype), penalty=penalty)
    one.run("remember", tokens=draw.tensor([5, PAD, 3, 2, PAD], torch.int64))
    one.run("penalise", "with PAD in the window", logits=draw.logits(5, 11, dtype), penalty=penalty)
    wide = draw.logits(5, 22, dtype)[:, 1::2]
    one.run("penalise", "every second column of a larger tensor", logits=wide, penalty=penalty)


@pytest.mark.parametrize("window", [1, 4], ids=["window_1", "window_4"])
def test_the_oldest_token_makes_room(bench: Callable[..., Any], draw: Draw, window: int) -> None:
    """remember: only the last tokens are in the window, however many came before.

    zh: remember：窗口里只有最近的那些 token，不论之前来过多少。
    """
    one = bench(window=window)
    penalty = draw.tensor([2.0] * 5, torch.float32)
    for number in range(1, 8):
        one.run("remember", tokens=draw.numbers(5, least=PAD, most=10))
        one.run("penalise", f"after {number} tokens, window {window}", logits=draw.logits(5, 11), penalty=penalty)


@pytest.mark.parametrize("stop_tokens", [[], [6], [0, 5, 10]], ids=["no_stop", "one_stop", "three_stops"])
def test_young_requests_do_not_stop(bench: Callable[..., Any], draw: Draw, stop_tokens: list[int]) -> None:
    """hold_stops: stop tokens are ruled out in rows that are too young, and nowhere else.

    zh: hold_stops：只在还太短的行里禁掉停止 token，别处不动。
    """
    one = bench(stop_tokens=stop_tokens)
    for dtype, name in zip(FLOATS, NAMES, strict=True):
        generated = draw.tensor([0, 1, 2, 3, 100], torch.int64)
        one.run("hold_stops", name, logits=draw.logits(5, 11, dtype), generated=generated)


@pytest.mark.parametrize("drafts", [0, 1, 4], ids=lambda count: f"{count}_drafts")
def test_drafts_are_accepted_up_to_the_first_wrong_one(bench: Callable[..., Any], draw: Draw, drafts: int) -> None:
    """accept: what comes behind the first wrong draft is rejected, right or not; PAD is never right.

    zh: accept：第一个猜错的之后一律不收，猜对也不收；PAD 永远不算猜对。
    """
    rows = max(5, 2**drafts)
    one = bench(rows=rows)
    target = draw.numbers(rows, drafts + 1, most=10)
    right = draw.tensor([[row >> at & 1 for at in range(drafts)] for row in range(rows)], torch.bool)
    right = right.reshape(rows, drafts)
    wrong = (target[:, :-1] + 1) % 11
    one.run("accept", "every pattern", target=target, draft=torch.where(right, target[:, :-1], wrong))
    padded = torch.where(right, target[:, :-1], torch.full_like(wrong, PAD))
    one.run("accept", "PAD for a guess", target=target, draft=padded)


def test_finished_requests_are_silent(bench: Callable[..., Any], draw: Draw) -> None:
    """close: a request emits its stop token, and PAD from then on; finished is changed in place.

    zh: close：请求输出停止 token，此后只输出 PAD；finished 原地更新。
    """
    one = bench(stop_tokens=[3, 7])
    finished = draw.tensor([False, True, False, True, False], torch.bool)
    for number, tokens in enumerate(([3, 3, 0, 1, 7], [0, 1, 10, 3, 5], [2, 2, 7, 2, 2], [0, 3, 7, 0, 1]), 1):
        one.run("close", f"call {number}", tokens=draw.tensor(tokens, torch.int64), finished=finished)
    no_stop = bench(stop_tokens=[])
    no_stop.run("close", "without stop tokens", tokens=draw.numbers(5), finished=draw.tensor([True] * 5, torch.bool))


@pytest.mark.parametrize("rows", ROWS, ids=lambda rows: f"{rows}_rows")
def test_a_batch_may_have_any_size(bench: Callable[..., Any], draw: Draw, rows: int) -> None:
    """A batch of no, one or an odd number of rows works like any other, and so does a vocabulary of one token.

    zh: 零行、一行或奇数行的批与别的批一样工作，只有一个 token 的词表也一样。
    """
    for vocab in (1, 11):
        one = bench(rows=rows, vocab=vocab, stop_tokens=[0])
        logits, tokens = draw.logits(rows, vocab), draw.numbers(rows, most=vocab - 1)
        one.run("remember", tokens=tokens)
        one.run("penalise", f"{rows} x {vocab}", logits=logits, penalty=draw.penalty(rows))
        one.run("hold_stops", f"{rows} x {vocab}", logits=logits, generated=draw.numbers(rows, most=3))
        one.run("close", f"{rows} x {vocab}", tokens=tokens, finished=draw.numbers(rows, dtype=torch.bool, most=1))
        one.run("accept", f"{rows} rows", target=draw.numbers(rows, 3, most=1), draft=draw.numbers(rows, 2, most=1))


@pytest.mark.weight(2)
def test_what_is_ruled_out_leaks_nothing(bench: Callable[..., Any], draw: Draw) -> None:
    """penalise: no NaN comes of -inf logits or of a penalty of 0, remembered or not.

    zh: penalise：不论在不在窗口里，-inf 的 logits 和为 0 的惩罚都不会产生 NaN。
    """
    one = bench(rows=3)
    one.run("remember", tokens=draw.tensor([2, 2, 4], torch.int64))
    logits = draw.logits(3, 11)
    logits[:, 1:3] = -inf
    one.run("penalise", "-inf and 0", logits=logits, penalty=draw.tensor([2.0, 0.0, 0.0], torch.float32))
    logits[:, 2] = 0
    one.run("penalise", "a logit of 0", logits=logits, penalty=draw.tensor([2.0, 0.0, 4.0], torch.float32))


@pytest.mark.weight(2)
@pytest.mark.parametrize("case", ["rows_of_padding", "experts_without_tokens"])
def test_what_is_not_chosen_leaks_nothing(bench: Callable[..., Any], draw: Draw, case: str) -> None:
    """route: NaN and inf in rows of padding, and in experts that have no token, stay there.

    zh: route：填充行里、没有分到 token 的专家里，NaN 和 inf 都漏不出来。
    """
    experts = draw.numbers(4, 6, 6, dtype=torch.float32, least=-2, most=2)
    x = draw.numbers(5, 6, dtype=torch.float32, least=-3, most=3)
    if case == "rows_of_padding":
        x[1], x[4] = nan, inf
    else:
        experts[0], experts[2] = nan, inf
    expert = draw.tensor([3, PAD, 1, 3, PAD], torch.int64)
    bench(experts=experts).run("route", case.replace("_", " "), x=x, expert=expert)
