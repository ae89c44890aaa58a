"""What the tests of this problem share: a bench that lets the solution decode, and checks what it gave out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_model import ScriptedModel, draw_scripts
from support_plan import Plan, make_plan
from support_races import explain_race

Pair = tuple[str, str]

LOOK_SURPLUS: Pair = (
    "When the host learns that a request is finished, the next step is queued already and decodes its row once more. "
    "How does the loop know, when that step's results come, that this token is nobody's?",
    "主机得知一个请求结束时，下一步已经排入，它的那一行会再解码一次。那一步的结果到来时，循环怎么知道这个 token "
    "谁的也不是？",
)
LOOK_OWNER: Pair = (
    "A step's results belong to those who sat in the rows when it was queued. By the time they are read, a row may "
    "have its next request.",
    "一步的结果，属于它排入时坐在各行里的请求。等到读取时，某一行可能已经换了下一个请求。",
)
LOOK_TOKENS: Pair = (
    "Which copy brings this token, what says that it is over, and when is that host memory written again?",
    "这个 token 由哪次拷贝带来？靠什么知道拷贝已经结束？那块主机内存又是什么时候被重写的？",
)
LOOK_INT: Pair = (
    "An element of a tensor is a tensor: it looks into the buffer, which a later step overwrites. .tolist() of a host "
    "tensor gives Python's numbers.",
    "张量的一个元素仍是张量：它看的是缓冲区，而缓冲区会被后面的步改写。对主机张量用 .tolist()，得到的是 Python 的数。",
)
LOOK_MISSING: Pair = (
    "finished[row] says that this token is the last one: it is given out, too. And is the last step that was queued "
    "read as well, where it still has tokens for somebody?",
    "finished[row] 表示这个 token 是最后一个：它也要给出。还有，最后排入的那一步如果还有谁的 token，读了吗？",
)
LOOK_STREAM: Pair = (
    "All of the model's work belongs on the stream that is current when decode() is called. For a stream of your own "
    "use with torch.cuda.stream(…), around the copies only.",
    "模型的全部工作都应在调用 decode() 时的当前流上。自己的流用 with torch.cuda.stream(…)，只包住拷贝。",
)


@dataclass
class Decoded:
    """One run of the solution."""

    model: ScriptedModel
    plan: Plan
    emitted: list[tuple[int, int]]
    """Request, token, in the order of the calls."""
    seen: Any
    """What ``watch()`` gave."""


def _sort_out(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return each request's tokens."""
    tokens: dict[int, list[int]] = {}
    for request, token in pairs:
        tokens.setdefault(request, []).append(token)
    return dict(sorted(tokens.items()))


class Bench:
    """Lets the solution decode.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        watch: the judge's fixture.
        rng: the judge's fixture.
        device: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, watch: Any, rng: Random, device: str) -> None:
        self.solution = solution
        self.expect = expect
        self.evidence = evidence
        self._watch = watch
        self._rng = rng
        self._device = device

    def make(self, rows: int, lengths: list[int], cycles: int) -> tuple[ScriptedModel, Plan]:
        """Return a model for requests of these lengths, and what has to happen."""
        scripts = draw_scripts(self._rng, lengths)
        return ScriptedModel(rows, scripts, cycles, self._device), make_plan(rows, scripts)

    def decode(
        self,
        rows: int,
        lengths: list[int],
        *,
        cycles: int = 100_000,
        work: Callable[[ScriptedModel, int | None], None] | None = None,
        pack: Callable[[range], Iterable[int]] = list,
    ) -> Decoded:
        """Let the solution decode requests of these lengths, and check all that it gave out.

        Args:
            rows: of the model.
            lengths: tokens of each request, the last one included.
            cycles: how long a step takes at least.
            work: called within ``emit``, with the model, and the step that the token comes from, if any does.
            pack: what the requests come in.
        """
        __tracebackhide__ = True
        model, plan = self.make(rows, lengths, cycles)
        emitted: list[tuple[int, int]] = []
        steps = {token: step for step, _, token in plan.emitted}

        def emit(request: int, token: int) -> None:
            __tracebackhide__ = True
            name = type(token).__name__
            what = (f"emit() was given a token of type {name}", f"emit() 收到的 token 类型是 {name}")
            self.expect.equal(name, "int", what, LOOK_INT)
            if work is not None:
                work(model, steps.get(token))
            emitted.append((request, token))

        caller = torch.cuda.current_stream()
        with self._watch() as seen:
            self.solution.decode(model, pack(range(len(lengths))), emit)
        torch.cuda.synchronize()
        decoded = Decoded(model, plan, emitted, seen)
        self._check(decoded, caller)
        return decoded

    def _check(self, decoded: Decoded, caller: Any) -> None:
        __tracebackhide__ = True
        self.expect.ordered(decoded.seen, *explain_race(decoded.seen.races))
        self._check_surplus(decoded)
        self._check_tokens(decoded)
        streams = {stream == caller for stream in decoded.model.asked_on} | {torch.cuda.current_stream() == caller}
        what = ("The model was asked on another stream than the caller's", "调用模型时，当前流不是调用者的流")
        self.expect.true(streams == {True}, what, LOOK_STREAM)
        tokens = {str(request): tokens for request, tokens in _sort_out(decoded.emitted).items()}
        self.evidence.exact("tokens", tokens)

    def _check_surplus(self, decoded: Decoded) -> None:
        """Fail if a token behind a request's last one was given out, to whomever."""
        __tracebackhide__ = True
        owner = {token: request for _, request, token in decoded.plan.emitted}
        for at, (request, token) in enumerate(decoded.emitted):
            if token in decoded.model.surplus:
                to = decoded.model.surplus[token]
                what = (
                    (
                        f"Token {at}: request {request} got a token behind its end",
                        f"第 {at} 个 token：请求 {request} 得到了它结束之后的 token",
                    )
                    if to == request
                    else (
                        f"Token {at}: request {request} got a token behind the end of request {to}",
                        f"第 {at} 个 token：请求 {request} 得到了请求 {to} 结束之后的 token",
                    )
                )
                self.expect.fail(what, "nothing", token, LOOK_SURPLUS if to == request else LOOK_OWNER)
            if owner.get(token, request) != request:
                what = (
                    f"Token {at}: request {request} got a token of request {owner[token]}",
                    f"第 {at} 个 token：请求 {request} 得到了请求 {owner[token]} 的 token",
                )
                self.expect.fail(what, f"to {owner[token]}", f"to {request}", LOOK_OWNER)

    def _check_tokens(self, decoded: Decoded) -> None:
        """Fail unless each request got its tokens, in their order."""
        __tracebackhide__ = True
        given = _sort_out(decoded.emitted)
        for request, wanted in _sort_out((request, token) for _, request, token in decoded.plan.emitted).items():
            actual = given.pop(request, [])
            is_cut = actual == wanted[: len(actual)]
            what = (
                (
                    f"Request {request} got only {len(actual)} of its {len(wanted)} tokens",
                    f"请求 {request} 有 {len(wanted)} 个 token，只得到了 {len(actual)} 个",
                )
                if is_cut
                else (
                    f"Request {request} got other tokens than a loop that waits for each step gives it",
                    f"请求 {request} 得到的 token 与每步都等待的循环不同",
                )
            )
            self.expect.equal(actual, wanted, what, LOOK_MISSING if is_cut else LOOK_TOKENS)
        what = ("Tokens were given to requests that do not exist", "把 token 给了不存在的请求")
        self.expect.equal(given, {}, what)


@pytest.fixture
def bench(solution: ModuleType, expect: Any, evidence: Any, watch: Any, rng: Random, device: str) -> Bench:
    """Return a bench for the solution's loop."""
    return Bench(solution, expect, evidence, watch, rng, device)
