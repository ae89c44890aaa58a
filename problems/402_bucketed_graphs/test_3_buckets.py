"""Which graph is replayed, how it was captured, and what is done beyond the largest."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_model import Layers, Noting
from torch import Tensor

SIZES = {"powers_of_2": [1, 2, 4, 8], "others": [3, 5, 6]}


@pytest.mark.weight(2)
@pytest.mark.parametrize("case", list(SIZES))
def test_the_smallest_graph_that_holds_the_batch_is_replayed(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    rng: Random,
    device: str,
    evidence: Any,
    expect: Any,
    case: str,
) -> None:
    """A batch of just a graph's size is that graph's own; one row more belongs to the next.

    zh: 批的行数恰好等于某个图的大小，就用那个图；多一行才用下一个。
    """
    sizes = SIZES[case]
    model = Noting(rng, device, most=max(sizes))
    service = serve(sizes, model)
    used = []
    for count in range(1, max(sizes) + 1):
        service.serve(rows(count), f"{count} rows, graphs for {sizes}")
        used.append(int(model.rows.item()))
        what = (f"{count} rows: the graph of another size was replayed", f"{count} 行：重放了另一个大小的图")
        look = ("Which sizes hold the batch? Its own number is one of them.", "哪些大小放得下？恰好相等也放得下。")
        expect.equal(used[-1], min(size for size in sizes if size >= count), what, look)
    evidence.exact("used", used, labels=[f"graph for a batch of {count}" for count in range(1, max(sizes) + 1)])
    service.record(evidence)


@pytest.mark.weight(2)
@pytest.mark.parametrize("count", [9, 20], ids=lambda count: f"{count}_rows")
def test_beyond_the_largest_the_model_runs_itself(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, expect: Any, count: int
) -> None:
    """A batch that no graph holds goes to the model itself, whole and once; nothing is captured for it.

    zh: 哪个图都放不下的批，整个交给模型自己，只调用一次；不为它捕获任何东西。
    """
    service = serve([4, 8])
    before = len(service.model.calls)
    service.serve(rows(count), f"{count} rows, graphs for 4 and 8")
    again = [(call.rows, call.is_captured) for call in service.model.calls[before:]]
    what = (
        f"{count} rows: the model was not called once with all of them",
        f"{count} 行：模型没有恰好用全部行调用一次",
    )
    look = (
        "It is neither padded, nor cut into pieces, nor captured: rows may depend on each other.",
        "既不填充，也不切开，也不捕获：行与行之间可能有关联。",
    )
    expect.equal(again, [(count, False)], what, look)
    for rows_now in (3, 8):
        service.serve(rows(rows_now), f"{rows_now} rows afterwards")
    service.record(evidence)


class Settling(Layers):
    """Sets itself up at its first call with a number of rows, and waits for the device meanwhile, as a tuner does."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output; the first call with a number of rows must not be captured."""
        is_known = any(call.rows == len(x) for call in self.calls)
        y = super().__call__(x)
        if not is_known:
            y.sum().item()
        return y


@pytest.mark.weight(2)
def test_each_size_is_warmed_up_and_captured_once(
    serve: Callable[..., Any], rows: Callable[..., Tensor], rng: Random, device: str, evidence: Any, expect: Any
) -> None:
    """The constructor calls the model with each size before it captures that size; calls of the runner run it no more.

    zh: 构造时，捕获每个大小之前先用这个大小调用模型；之后调用运行器不再执行模型。
    """
    service = serve([1, 3, 6], Settling(rng, device))
    captured = sorted(call.rows for call in service.model.calls if call.is_captured)
    look = ("One graph for each size, captured in the constructor.", "每个大小一个图，都在构造时捕获。")
    expect.equal(
        captured, [1, 3, 6], ("the constructor did not capture each size once", "构造时没有把每个大小各捕获一次"), look
    )
    before = len(service.model.calls)
    for count in (6, 1, 2, 3, 5, 4):
        service.serve(rows(count), f"{count} rows")
    again = [(call.rows, call.is_captured) for call in service.model.calls[before:]]
    what = ("the model's code ran in a call that a graph could have served", "有图可用的调用里又执行了模型的代码")
    expect.equal(again, [], what, ("Serving only replays.", "服务时只重放。"))
    service.record(evidence)


@pytest.mark.parametrize("stream", ["default_stream", "other_stream"])
def test_the_model_is_built_on_a_side_stream(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, expect: Any, stream: str
) -> None:
    """Warm-up and capture run on a side stream, neither the caller's nor the default one, which stays current.

    zh: 预热和捕获所在的侧流既不是调用者的流，也不是默认流；调用者的当前流保持不变。
    """
    caller = torch.cuda.default_stream() if stream == "default_stream" else torch.cuda.Stream(priority=-1)
    example = rows(1)
    torch.cuda.synchronize()
    with torch.cuda.stream(caller):
        service = serve([2, 4], example=example)
        current = torch.cuda.current_stream()
    kinds = {torch.cuda.default_stream().cuda_stream: "default stream", caller.cuda_stream: "caller's stream"}
    places = sorted({kinds.get(call.stream, "side stream") for call in service.model.calls})
    what = ("the model was warmed up or captured elsewhere", "模型的预热或捕获不在侧流上")
    look = (
        "What the first calls set up (workspaces, caches) belongs to the stream they ran on. Which one was it?",
        "头几次调用建立的东西（工作区、缓存）属于它们所在的流。当时是哪个流？",
    )
    expect.equal(places, ["side stream"], what, look)
    what = ("another stream is current after the constructor", "构造之后，当前流变了")
    expect.true(current == caller, what, ("Who switches streams switches back.", "谁切换了流，谁就要切回来。"))
    service.serve(rows(3), "3 rows")
    service.record(evidence)
