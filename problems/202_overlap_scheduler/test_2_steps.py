"""Which step is queued when: one ahead of what the host has read, and no more."""

from __future__ import annotations

from random import Random
from typing import Any

import torch

LONG = 4_000_000
"""Cycles, some 2 ms: a step that is not over when the host has read the one before."""

LOOK_AHEAD: tuple[str, str] = (
    "First queue step n + 1, then wait for step n and give its tokens out: the device works meanwhile.",
    "先排入第 n + 1 步，再等第 n 步、给出它的 token：其间设备一直在工作。",
)

LOOK_ROWS: tuple[str, str] = (
    "Before each step the free rows, lowest first, get the next requests. Does a row wait for all the others to end?",
    "每一步之前，空闲的行从小到大依次接收下一个请求。是不是要等其他行都结束，才接收？",
)


def test_the_next_step_is_queued_before_a_token_is_given_out(bench: Any, expect: Any) -> None:
    """When a step's tokens are given out, the next step is queued already.

    zh: 给出一步的 token 时，下一步已经排入。
    """

    def check(model: Any, step: int | None) -> None:
        __tracebackhide__ = True
        if step is None:
            return  # nobody's token: told by the bench
        what = (
            f"Tokens of step {step} were given out when step {step + 1} was not queued yet",
            f"第 {step + 1} 步还没排入，就给出了第 {step} 步的 token",
        )
        expect.true(model.queued > step + 1, what, LOOK_AHEAD, expected=f"> {step + 1}", actual=model.queued)

    bench.decode(2, [3, 5, 2], work=check)


def test_the_host_wakes_while_the_next_step_runs(bench: Any, expect: Any) -> None:
    """The host gets a step's tokens as soon as they have landed, while the next step is still running.

    zh: 一步的 token 一落地，主机就拿到，此时下一步还在运行。
    """
    overs: list[bool] = []

    def look(model: Any, step: int | None) -> None:
        if step is not None:
            overs.append(model.ends[min(step + 1, len(model.ends) - 1)].query())

    bench.decode(1, [4, 3], cycles=LONG, work=look)
    expect.true(
        not any(overs),
        ("The host waited for the next step as well", "主机把下一步也一起等了"),
        (
            "synchronize() of a stream or of the device waits for all that is queued by now, and so does a copy into "
            "memory that is not pinned. That includes the next step. What waits for one point of a queue?",
            "流或设备的 synchronize() 等的是此刻排着的全部工作，下一步也在内；拷到可换页内存也一样。"
            "只等队列中的一点，用什么？",
        ),
        expected="the next step is running",
        actual=f"over at {sum(overs)} of {len(overs)} tokens",
    )


def test_never_two_steps_ahead(bench: Any, rng: Random, expect: Any, evidence: Any) -> None:
    """A finished request costs one step too many, not two; and without a request no step is queued.

    zh: 请求结束只多算一步，不是两步；没有请求就不再排入。
    """
    decoded = bench.decode(2, [rng.randrange(2, 6) for _ in range(3)])
    what = ("The number of steps that were queued", "排入的步数不对")
    look = (
        "At most one step is queued beyond the last one whose results the host has read.",
        "在主机已读过结果的最后一步之后，最多只再排入一步。",
    )
    expect.equal(decoded.model.queued, decoded.plan.steps, what, look)
    evidence.exact("steps", decoded.model.queued)


def test_a_free_row_is_taken_at_once(bench: Any, rng: Random, expect: Any, evidence: Any) -> None:
    """The next request sits in the row in the first step that is queued after the host has learnt of the end.

    zh: 主机一得知某行结束，下一个请求就在紧接着排入的那一步填入这一行。
    """
    decoded = bench.decode(3, [rng.randrange(1, 6) for _ in range(9)])
    what = (
        "Requests were admitted in other steps or rows: (step, row, request)",
        "请求进入的步或行不对：（步，行，请求）",
    )
    expect.equal(decoded.model.admitted, decoded.plan.admitted, what, LOOK_ROWS)
    labels = [f"request {at}" for at in range(len(decoded.plan.admitted))]
    evidence.exact("admitted", decoded.model.admitted, labels=labels)


def test_tokens_come_by_steps_and_rows(bench: Any, rng: Random, expect: Any, evidence: Any) -> None:
    """The tokens are given out by steps, and within a step from the lowest row up.

    zh: token 按步给出，同一步内按行从小到大。
    """
    decoded = bench.decode(3, [rng.randrange(1, 6) for _ in range(7)])
    entered = {request: (step, row) for step, row, request in decoded.model.admitted}
    given: dict[int, int] = {}
    places = []
    for request, _ in decoded.emitted:
        step, row = entered[request]
        places.append((step + given.get(request, 0), row))
        given[request] = given.get(request, 0) + 1
    what = (
        "The tokens were not given out in the order of steps and rows: (step, row)",
        "给出 token 没有按步和行的次序：（步，行）",
    )
    look = (
        "A step's tokens are given out when its results are read, from row 0 up, and the steps are read in turn.",
        "读到一步的结果，就从第 0 行起给出它的 token；各步依次读取。",
    )
    expect.equal(places, sorted(places), what, look)
    evidence.exact("places", places)


def test_another_stream_may_be_current(bench: Any) -> None:
    """The caller works on a stream of its own, and so does all of the loop.

    zh: 调用者用的是自己的流，整个循环也在这个流上。
    """
    side = torch.cuda.Stream(priority=-1)
    torch.cuda._sleep(LONG)
    with torch.cuda.stream(side):
        bench.decode(2, [3, 1, 4], cycles=LONG // 4)
