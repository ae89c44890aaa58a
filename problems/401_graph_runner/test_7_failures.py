"""A model that can't be warmed up or captured: the caller learns why, and the device goes on."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_model import Layers
from torch import Tensor


class Broken(Layers):
    """Fails, or waits for the device, in its warm-up or while it is captured.

    Args:
        when: ``warm-up`` or ``capture``.
        how: ``raises`` or ``waits``.
    """

    def __init__(self, rng: Random, device: str, when: str, how: str) -> None:
        super().__init__(rng, device)
        self.when, self.how = when, how

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output, unless it is time to fail."""
        y = super().__call__(x)
        if self.calls[-1].is_captured == (self.when == "capture"):
            if self.how == "raises":
                raise LookupError("no weights for layer 7")
            y.sum().item()
        return y


def expect_no_capture(expect: Any, look: tuple[str, str]) -> None:
    """Fail where a capture is under way on any stream: the device can't be waited for then."""
    __tracebackhide__ = True
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        what = ("a capture was left open: the device can't be waited for", "捕获没有结束：无法等待设备")
        expect.fail(what, actual=str(error).splitlines()[0], look=look)


@pytest.mark.weight(2)
@pytest.mark.parametrize("case", ["warm-up_raises", "capture_raises", "capture_waits", "capture_waits_default_stream"])
def test_a_failure_reaches_the_caller(
    solution: ModuleType,
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    rng: Random,
    device: str,
    evidence: Any,
    expect: Any,
    case: str,
) -> None:
    """What the model raises reaches the caller as it is; stream and device are as before, and another runner works.

    zh: 模型抛出的异常原样交给调用者；当前流和设备与之前一样，还能再建别的运行器。
    """
    when, how, *place = case.split("_")
    model, example = Broken(rng, device, when, how), rows(4)
    # The other pool: a runner's stream, or that of torch.cuda.graph, may be any of the usual one.
    caller = torch.cuda.default_stream() if place else torch.cuda.Stream(priority=-1)
    error = LookupError if how == "raises" else RuntimeError
    wanted = "no weights for layer 7" if how == "raises" else "operation not permitted when stream is capturing"
    torch.cuda.synchronize()
    with torch.cuda.stream(caller):
        look = (
            "A capture must be ended on every way out, and what its end complains of must not hide the model's error.",
            "无论从哪条路离开，捕获都要结束；结束捕获时的报错不能盖住模型自己的异常。",
        )
        what = (
            f"{when}: the model's own error must reach the caller",
            f"{'预热' if when == 'warm-up' else '捕获'}时：模型自己的异常应当交给调用者",
        )
        raised = expect.raises(error, lambda: solution.GraphRunner(model, example), what, look)
        shown = str(raised).splitlines()[0]
        expect.true(wanted in shown, what, look, expected=wanted, actual=shown)
        current, is_capturing = torch.cuda.current_stream(), torch.cuda.is_current_stream_capturing()
    switched = (
        "Who switches streams switches back, on every way out. "
        "torch.cuda.graph does not where the end of its capture raises.",
        "谁切换了流，谁就要切回来，无论从哪条路离开。torch.cuda.graph 结束捕获时一旦报错，就不会切回来。",
    )
    what = ("after the failure another stream is current", "失败之后，当前流变了")
    now = "the default stream" if current == torch.cuda.default_stream() else "another stream"
    expect.true(current == caller, what, switched, None, "the default stream" if place else "the caller's stream", now)
    expect_no_capture(expect, look)
    expect.true(
        not is_capturing, ("after the failure the stream is still being captured", "失败之后，流仍处在捕获之中"), look
    )
    del raised
    service = serve(rows(4))
    service.serve(rows(4), "a call of another runner")
    service.record(evidence)
    evidence.exact("raised", [error.__name__, shown])
