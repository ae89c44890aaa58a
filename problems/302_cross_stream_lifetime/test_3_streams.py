"""Who waits for whom: what is needed, and no more."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from test_1_results import find_logprobs


@pytest.mark.parametrize("method", ["save", "logprobs"])
def test_the_stream_of_the_call_counts(yard: Any, watch: Any, busy: Any, side_stream: Any, method: str) -> None:
    """The caller works on a stream of its own, whose work has still to run at the call.

    zh: 调用者在自己的流上工作，调用时那里的工作还没执行。
    """
    lane = yard.open()
    fresh, tokens = yard.draw(12, 1 << 10), yard.draw(12, dtype=torch.int64)
    pinned, tokens_there = fresh.pin_memory(), tokens.to("cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side_stream), watch() as seen:
        busy()
        there = pinned.to("cuda", non_blocking=True)
        if method == "save":
            lane.cache.copy_(there)
            copy, wanted = yard.save([3, 1]), fresh[[3, 1]]
        else:
            copy, wanted = yard.call("logprobs", there, tokens_there), find_logprobs(fresh, tokens)
        del there
        yard.reuse(fresh)
        yard.take(copy, wanted, f"{method}().read()")
    yard.settle(seen)


def test_blocks_are_placed_on_the_stream_of_the_call(yard: Any, watch: Any, busy: Any, side_stream: Any) -> None:
    """Blocks that are fetched on one stream are placed on another one, before they have arrived.

    zh: 在一个流上取回的块，还没到，就在另一个流上放进缓存。
    """
    lane = yard.open()
    saved = [yard.save([number]) for number in range(3)]
    wanted = yard.model.clone()
    yard.model[:3] = -1
    torch.cuda.synchronize()
    with watch() as seen:
        for number, copy in enumerate(saved):
            busy(lane.back)
            fetched = yard.call("fetch", copy)
            with torch.cuda.stream(side_stream):
                busy()
                yard.place(fetched, [5 + number], wanted[number : number + 1])
            del fetched
    yard.settle(seen)
    yard.check_cache()


def test_a_fetch_comes_behind_its_save(yard: Any, watch: Any, busy: Any) -> None:
    """A request comes back while the copy of its blocks to the host has still to run.

    zh: 请求回来的时候，它的块拷往主机的拷贝还没执行。
    """
    lane = yard.open()
    wanted = yard.model[:2].clone()
    with watch() as seen:
        busy(lane.out)
        saved = yard.save([0, 1])
        yard.model[:2] = -1
        yard.place(yard.call("fetch", saved), [8, 9], wanted)
    yard.settle(seen)
    yard.check_cache()


@pytest.mark.parametrize("method", ["save", "logprobs"])
def test_the_caller_does_not_wait_for_the_lane(yard: Any, expect: Any, busy: Any, is_beside: Any, method: str) -> None:
    """What the caller queues after a call runs at once, though the copy of the call has still to run.

    zh: 调用之后调用者排入的工作立即执行，尽管这次调用的拷贝还没执行。
    """
    lane = yard.open()
    logits, tokens = yard.draw(5, 64), yard.draw(5, dtype=torch.int64)
    logits_there, tokens_there = logits.to("cuda"), tokens.to("cuda")
    for turn in range(2):  # the first one sets memory up, and loads kernels
        blocks = [turn, 5 + turn]
        torch.cuda.synchronize()
        busy(lane.out, 50)
        copy = yard.save(blocks) if method == "save" else yard.call("logprobs", logits_there, tokens_there)
        wanted = yard.model[blocks] if method == "save" else find_logprobs(logits, tokens)
        yard.reuse(logits)
        torch.cuda.current_stream().record_event().synchronize()
        is_under_way = not copy.done.query()
        yard.take(copy, wanted, f"{method}().read()")
    yard.settle()
    expect.true(
        is_under_way or not is_beside(lane.out, torch.cuda.current_stream()),
        (f"The caller's stream waited for what {method}() had queued", f"调用者的流等了 {method}() 排入的工作"),
        (
            "A wait of the caller's stream keeps the memory safe, too, and stops the decode step for the length of "
            "the copy. Does something run on the caller's stream, or does it wait for `out`?",
            "让调用者的流等待，也能保住内存，可是 decode 会停上一次拷贝那么久。是不是有什么跑在了调用者的流上，"
            "或者它等了 `out`？",
        ),
        expected="the caller's later work is over while the copy is under way",
        actual="the copy had to end first, or was not queued behind the work of `out`",
    )


def test_a_fetch_does_not_wait_for_the_caller(yard: Any, expect: Any, busy: Any, is_beside: Any) -> None:
    """Blocks arrive while the caller's stream is busy: a fetch is queued ahead of the step that needs them.

    zh: 调用者的流正忙时块就能到：取回要赶在需要它的那一步之前。
    """
    lane = yard.open()
    wanted = yard.model[:1].clone()
    saved = yard.save([0])
    yard.model[:1] = -1
    for _ in range(2):
        torch.cuda.synchronize()
        busy(None, 50)
        still = torch.cuda.current_stream().record_event()
        fetched = yard.call("fetch", saved)
        fetched.landed.synchronize()
        has_overtaken = not still.query()
        yard.place(fetched, [4], wanted)
        del fetched
    yard.settle()
    yard.check_cache()
    expect.true(
        has_overtaken or not is_beside(torch.cuda.current_stream(), lane.back),
        ("fetch() waited for work of the caller's stream", "fetch() 等了调用者的流的工作"),
        (
            "Only place() needs both streams. Does `back` wait for the caller's stream, or is the copy queued there?",
            "只有 place() 才同时需要两个流。是不是 `back` 等了调用者的流，或者拷贝排进了那里？",
        ),
        expected="the blocks arrive while the caller's stream is busy",
        actual="the caller's stream had to end first",
    )


def test_logprobs_are_computed_beside_the_caller(yard: Any, expect: Any, watch: Any) -> None:
    """No kernel of logprobs() runs on the caller's stream.

    zh: logprobs() 没有一个 kernel 跑在调用者的流上。
    """
    yard.open()
    logits, tokens = yard.draw(5, 64), yard.draw(5, dtype=torch.int64)
    there, tokens_there = logits.to("cuda"), tokens.to("cuda")
    for _ in range(2):
        with watch() as seen:
            torch.zeros(1, device="cuda")  # tells which stream is the caller's
            copy = yard.call("logprobs", there, tokens_there)
        yard.take(copy, find_logprobs(logits, tokens), "logprobs().read()")
    yard.settle(seen)
    spans = sorted(seen.observation.spans, key=lambda span: span.launched_us)
    expect.true(
        len(spans) > 1 and all(span.stream != spans[0].stream for span in spans[1:]),
        ("Part of logprobs() ran on the caller's stream", "logprobs() 有一部分跑在了调用者的流上"),
        (
            "A softmax over the vocabulary is as long as a layer: it belongs under with torch.cuda.stream(self.out).",
            "对整个词表做 softmax，要花一层那么久：它应当放在 with torch.cuda.stream(self.out) 之下。",
        ),
        picture=seen.draw(),
    )
