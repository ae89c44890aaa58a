"""Each part alone in a graph: captured, and replayed through all of its branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support_rules import PAD, Draw

LOOK = (
    "Each replay does again what the graph holds. Where does it read which place of the window is the next?",
    "每次重放都重做图里的事。下一个位置是窗口的第几格，重放从哪里得知？",
)


@pytest.mark.weight(2)
def test_route_is_captured(bench: Callable[..., Any], draw: Draw) -> None:
    """route: replays follow any routing: one expert for all, one for each, none.

    zh: route：重放时怎样分派都行：全归一个专家、各归一个、谁都不归。
    """
    x, expert = draw.numbers(6, 6, dtype=torch.float32, most=3), draw.tensor([0, 0, 1, 1, PAD, 2], torch.int64)
    replay = bench().capture("route", x=x, expert=expert)
    for routing in ([3] * 6, [0, 1, 2, 3, 0, 1], [PAD] * 6, [2, PAD, 2, PAD, 2, 3]):
        x = draw.numbers(6, 6, dtype=torch.float32, least=-3, most=3)
        replay.run(x=x, expert=draw.tensor(routing, torch.int64))


@pytest.mark.weight(2)
def test_penalise_is_captured(bench: Callable[..., Any], draw: Draw) -> None:
    """penalise: replays follow the penalties and the window of their moment, where no row had any at the capture.

    zh: penalise：捕获时没有任何一行带惩罚，重放时仍以当时的惩罚和窗口为准。
    """
    one = bench()
    zeros = torch.zeros(5, device=draw.device)
    one.run("remember", tokens=draw.numbers(5, most=10))
    replay = one.capture("penalise", logits=draw.logits(5, 11), penalty=zeros.clone())
    for penalty in (draw.tensor([2.0] * 5, torch.float32), draw.penalty(5), zeros, draw.penalty(5)):
        one.run("remember", tokens=draw.numbers(5, least=PAD, most=10))
        replay.run(logits=draw.logits(5, 11), penalty=penalty)


@pytest.mark.weight(2)
def test_hold_stops_is_captured(bench: Callable[..., Any], draw: Draw) -> None:
    """hold_stops: replays follow the ages of their moment, where all rows were young at the capture.

    zh: hold_stops：捕获时每一行都还太短，重放时仍以当时的长度为准。
    """
    generated = torch.zeros(5, dtype=torch.int64, device=draw.device)
    replay = bench().capture("hold_stops", logits=draw.logits(5, 11), generated=generated.clone())
    for ages in ([1, 2, 3, 1, 2], [5, 5, 5, 5, 5], [0, 9, 0, 9, 1]):
        replay.run(logits=draw.logits(5, 11), generated=draw.tensor(ages, torch.int64))


@pytest.mark.weight(2)
def test_accept_is_captured(bench: Callable[..., Any], draw: Draw) -> None:
    """accept: replays accept none, some or all of the drafts.

    zh: accept：重放时可以一个不收、收一部分、全收。
    """
    target, draft = draw.numbers(5, 5, most=2), draw.numbers(5, 4, most=2)
    replay = bench().capture("accept", target=target, draft=draft)
    right = draw.numbers(5, 5, most=10)
    for drafted in (right[:, :-1], right[:, :-1] + 1, torch.full_like(draft, PAD)):
        replay.run(target=right, draft=drafted)
    replay.run(target=draw.numbers(5, 5, most=1), draft=draw.numbers(5, 4, most=1))


@pytest.mark.weight(2)
def test_close_is_captured(bench: Callable[..., Any], draw: Draw) -> None:
    """close: replays finish rows one by one, until all have, and go on when the caller clears the flags.

    zh: close：重放时逐行结束，直到全部结束；调用者清掉标志后又照常继续。
    """
    finished = torch.zeros(5, dtype=torch.bool, device=draw.device)
    replay = bench().capture("close", tokens=draw.numbers(5, most=2), finished=finished)
    for tokens in ([3, 0, 1, 2, 4], [1, 7, 2, 2, 4], [3, 3, 3, 0, 3], [0, 0, 0, 7, 0], [0, 1, 2, 4, 5]):
        replay.run(tokens=draw.tensor(tokens, torch.int64))
    replay.run(tokens=draw.numbers(5, most=10), finished=torch.zeros_like(finished))


@pytest.mark.weight(2)
def test_remember_is_captured(bench: Callable[..., Any], draw: Draw) -> None:
    """remember: each replay takes the next place of the window, and the call that is captured takes none.

    zh: remember：每次重放占用窗口的下一个位置；被捕获的那次调用不占。
    """
    one = bench()
    penalty = draw.tensor([2.0] * 5, torch.float32)
    replay = one.capture("remember", tokens=draw.numbers(5, most=10))
    for number in range(1, 8):
        replay.run(tokens=draw.numbers(5, least=PAD, most=10))
        label = f"after {number} replays of remember()"
        one.run("penalise", label, LOOK, logits=draw.logits(5, 11), penalty=penalty)
