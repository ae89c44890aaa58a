"""How a runner is built: warmed up and captured, on a side stream, once."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_model import WARM_UPS, Layers
from torch import Tensor


class Settling(Layers):
    """Sets itself up in its first three calls, and waits for the device meanwhile, as libraries do."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output; the first three calls must not be captured."""
        y = super().__call__(x)
        if len(self.calls) <= WARM_UPS:
            y.sum().item()
        return y


@pytest.mark.weight(2)
def test_the_model_has_settled_before_the_capture(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    rng: Random,
    device: str,
    evidence: Any,
) -> None:
    """A model that sets itself up in its first three calls is called three times before it is captured.

    zh: 模型在前三次调用里才完成初始化：捕获之前要先调用它三次。
    """
    model = Settling(rng, device)
    service = serve(rows(4), model)
    service.serve(rows(4), "call 1")
    service.record(evidence)


@pytest.mark.parametrize("stream", ["default_stream", "other_stream"])
def test_the_model_never_runs_on_the_callers_stream(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, expect: Any, stream: str
) -> None:
    """Warm-up and capture run on a side stream that is neither the caller's nor the default one, which stays current.

    zh: 预热和捕获所在的侧流既不是调用者的流，也不是默认流；调用者的当前流保持不变。
    """
    caller = torch.cuda.default_stream() if stream == "default_stream" else torch.cuda.Stream(priority=-1)
    example = rows(4)
    torch.cuda.synchronize()
    with torch.cuda.stream(caller):
        service = serve(example)
        current = torch.cuda.current_stream()
    look = (
        "What the first calls set up (workspaces, caches) belongs to the stream they ran on. Which one was it?",
        "头几次调用建立的东西（工作区、缓存）属于它们所在的流。当时是哪个流？",
    )
    kinds = {torch.cuda.default_stream().cuda_stream: "default stream", caller.cuda_stream: "caller's stream"}
    places = [(kinds.get(call.stream, "side stream"), call.is_captured) for call in service.model.calls]
    warm = [place for place, is_captured in places if not is_captured]
    captured = [place for place, is_captured in places if is_captured]
    expect.equal(
        sorted(set(warm)),
        ["side stream"],
        ("the warm-up ran elsewhere, or not at all", "预热不在侧流上，或者根本没有预热"),
        look,
    )
    expect.equal(captured, ["side stream"], ("the model was not captured once", "模型没有恰好被捕获一次"), look)
    what = ("another stream is current after the constructor", "构造之后，当前流变了")
    expect.true(current == caller, what, ("Who switches streams switches back.", "谁切换了流，谁就要切回来。"))
    service.serve(rows(4), "call 1")
    service.record(evidence)


def test_a_call_never_runs_the_model(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, expect: Any
) -> None:
    """Once it is captured, the model's code runs no more: a call is a replay, not another capture.

    zh: 捕获之后，模型的代码不再执行：调用是重放，不是再捕获一次。
    """
    service = serve(rows(4))
    before = len(service.model.calls)
    for number in range(1, 4):
        service.serve(rows(4), f"call {number}")
    again = service.model.calls[before:]
    look = (
        "The graph is captured in the constructor, once. What does a call still have to do?",
        "图在构造时捕获一次。调用时还剩什么要做？",
    )
    what = ("calls of the runner ran the model again", "调用运行器时又执行了模型")
    expect.equal([call.is_captured for call in again], [], what, look)
    service.record(evidence)
