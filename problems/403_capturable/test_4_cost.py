"""What a part costs the host: no wait, and few launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support_rules import Draw, read
from torch import Tensor

MOST_LAUNCHES = 16
PARTS = ["route", "penalise", "hold_stops", "accept", "close", "remember"]


def draw_arguments(draw: Draw, rows: int, name: str) -> dict[str, Tensor]:
    """Return arguments of a part, for a vocabulary of 11."""
    made: dict[str, Callable[[], dict[str, Tensor]]] = {
        "route": lambda: {
            "x": draw.numbers(rows, 6, dtype=torch.float32, most=3),
            "expert": draw.numbers(rows, least=-1, most=15),
        },
        "penalise": lambda: {"logits": draw.logits(rows, 11), "penalty": draw.penalty(rows)},
        "hold_stops": lambda: {"logits": draw.logits(rows, 11), "generated": draw.numbers(rows, most=4)},
        "accept": lambda: {"target": draw.numbers(rows, 5, most=1), "draft": draw.numbers(rows, 4, most=1)},
        "close": lambda: {
            "tokens": draw.numbers(rows, most=10),
            "finished": draw.numbers(rows, dtype=torch.bool, most=1),
        },
        "remember": lambda: {"tokens": draw.numbers(rows, least=-1, most=10)},
    }
    return made[name]()


@pytest.fixture
def large(bench: Callable[..., Any], draw: Draw) -> Any:
    """Return a bench with 33 rows, 16 experts and 9 stop tokens."""
    experts = draw.numbers(16, 6, 6, dtype=torch.float32, least=-2, most=2)
    return bench(rows=33, stop_tokens=list(range(9)), window=8, experts=experts)


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=0)
def test_no_part_waits(
    large: Any, draw: Draw, watch: Callable[..., Any], evidence: Any, expect: Any, measure: Any
) -> None:
    """The host waits in no part, in eager calls neither.

    zh: 任何一部分都不让主机等待，eager 调用也不例外。
    """
    calls = [(name, draw_arguments(draw, 33, name)) for name in PARTS for _ in range(2)]
    for name, arguments in calls[::2]:
        getattr(large.step, name)(**arguments)
    torch.cuda.synchronize()
    with watch() as seen:
        answers = [getattr(large.step, name)(**arguments) for name, arguments in calls[1::2]]
    measure("syncs", len(seen.syncs), "host waits", places=seen.places)
    expect.waits(seen, what=("a part makes the host wait", "有一部分让主机等待了"))
    evidence.exact("routed", read(answers[0]))


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_a_few_launches(large: Any, draw: Draw, watch: Callable[..., Any], expect: Any, name: str) -> None:
    """A part launches sixteen kernels at most, however many rows, experts, tokens or stop tokens there are.

    zh: 不论有多少行、多少专家、多少 token 或停止 token，每一部分最多启动十六个 kernel。
    """
    arguments = draw_arguments(draw, 33, name)
    large.run(name, "33 rows", **arguments)
    torch.cuda.synchronize()
    with watch() as seen:
        getattr(large.step, name)(**arguments)
    what = (f"{name}: too many launches", f"{name}：启动次数太多")
    look = (
        "A launch for each row, expert or stop token: which operation takes them all at once?",
        "每行、每个专家、每个停止 token 各启动一次：有没有一个操作能一次处理全部？",
    )
    expect.true(seen.launches <= MOST_LAUNCHES, what, look, None, f"<= {MOST_LAUNCHES}", seen.launches)
