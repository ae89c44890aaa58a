"""Every request gets its tokens, all of them and no more."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("rows", "count"), [(1, 1), (1, 4), (3, 3), (3, 10), (4, 2)], ids=["one", "queue", "full", "refilled", "empty_rows"]
)
def test_each_request_gets_its_tokens(bench: Any, rng: Random, rows: int, count: int) -> None:
    """Requests of different lengths, fewer or more than rows, get the tokens of a loop that waits for each step.

    zh: 长短不一的请求，比行少或比行多，得到的 token 都与每步都等待的循环相同。
    """
    bench.decode(rows, [rng.randrange(1, 7) for _ in range(count)])


def test_no_request_no_step(bench: Any, expect: Any) -> None:
    """Without requests nothing is queued.

    zh: 没有请求，就什么也不排入。
    """
    decoded = bench.decode(2, [])
    what = ("A step was queued, though there is no request", "没有请求，却排入了一步")
    expect.equal(decoded.model.queued, 0, what)


def test_the_step_too_many_is_nobodys(bench: Any) -> None:
    """A request ends while its neighbour goes on: the token of the step that was queued already is not given out.

    zh: 一个请求结束，邻行还在继续：已经排入的那一步里它的 token 不给出去。
    """
    bench.decode(2, [2, 6])


def test_the_next_in_the_row_gets_only_its_own(bench: Any) -> None:
    """A row is taken over at once, and its new request gets nothing of what the old one left behind.

    zh: 一行立即被接手，新请求得不到旧请求留下的任何东西。
    """
    bench.decode(2, [1, 4, 3, 1, 2, 5])


def test_all_end_in_the_same_step(bench: Any) -> None:
    """All rows end at once, and all are taken again.

    zh: 所有行同时结束，又全部被接手。
    """
    bench.decode(3, [2, 2, 2, 1, 1, 1])


def test_requests_come_from_an_iterator(bench: Any) -> None:
    """The requests are an iterator, which has no length.

    zh: 请求来自没有长度的迭代器。
    """
    bench.decode(2, [3, 1, 2], pack=iter)
