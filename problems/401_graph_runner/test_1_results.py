"""What a call returns: the model's own result, for this input, in memory of the caller's own."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_model import WIDTH, Layers, draw
from torch import Tensor

HALF = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.weight(2)
@pytest.mark.parametrize("dtype", HALF, ids=["float32", "float16", "bfloat16"])
def test_a_call_gives_what_the_model_gives(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, dtype: torch.dtype
) -> None:
    """Each call returns what the model returns for its input, never for the example or the input before.

    zh: 每次调用都返回模型对本次输入的结果，而不是示例输入或上一次输入的结果。
    """
    service = serve(rows(4, dtype))
    for number in range(1, 6):
        service.serve(rows(4, dtype), f"call {number}")
    service.record(evidence)


@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty")
@pytest.mark.parametrize("count", [0, 1, 7], ids=lambda count: f"{count}_rows")
def test_an_example_may_have_any_size(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, count: int
) -> None:
    """A runner for no row, one row or an odd number of rows works like any other.

    zh: 零行、一行或奇数行的运行器与其他运行器一样工作。
    """
    service = serve(rows(count))
    for number in range(1, 3):
        service.serve(rows(count), f"call {number}")
    service.record(evidence)


def test_one_buffer_may_bring_every_input(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any
) -> None:
    """The caller may refill one and the same tensor before each call: its values of that moment count.

    zh: 调用者可以每次都往同一个张量里填新值再调用：以调用那一刻的值为准。
    """
    buffer = rows(4)
    service = serve(rows(4))
    for number in range(1, 4):
        buffer.copy_(rows(4))
        service.serve(buffer, f"call {number}, the same tensor refilled")
    service.record(evidence)


@pytest.mark.weight(2)
def test_a_result_survives_the_next_call(serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any) -> None:
    """A result belongs to the caller: later calls do not change it, and changing it does not change later results.

    zh: 结果归调用者：之后的调用不会改变它，改动它也不会影响之后的结果。
    """
    service = serve(rows(4))
    kept = [service.serve(rows(4), f"call {number}") for number in range(1, 4)]
    for number, y in enumerate(kept):
        what = (
            f"the result of call {number + 1} changed when a later call ran",
            f"之后的调用执行时，第 {number + 1} 次调用的结果变了",
        )
        service.check_still(y, number, what)
    kept[-1].fill_(99)
    service.check_still(kept[0], 0, ("two results share memory", "两个结果共用了内存"))
    service.serve(rows(4), "call 4, after the caller has overwritten the result of call 3")
    service.record(evidence)


def lay_out(name: str, base: Tensor) -> Tensor:
    """Return a view, (4, 8), of base, (16, 32), in the layout with that name."""
    views = {
        "transposed": lambda: base[:8, :4].t(),
        "every_second_column": lambda: base[:4, 1:16:2],
        "one_row_expanded": lambda: base[3, :8].expand(4, WIDTH),
        "inside_a_larger_tensor": lambda: base[5:9, 7:15],
    }
    return views[name]()


@pytest.mark.parametrize("layout", ["transposed", "every_second_column", "one_row_expanded", "inside_a_larger_tensor"])
def test_an_input_may_have_any_strides(
    serve: Callable[..., Any],
    rows: Callable[..., Tensor],
    rng: Random,
    device: str,
    evidence: Any,
    layout: str,
) -> None:
    """A view with any strides is a good input, and a good example.

    zh: 任何步长的视图都可以作输入，也可以作示例输入。
    """
    service = serve(rows(4))
    x = lay_out(layout, draw(rng, (16, 32), device))
    service.serve(x, f"{layout}, strides {x.stride()}")
    strided = serve(lay_out(layout, draw(rng, (16, 32), device)), service.model)
    strided.serve(x, f"{layout}, the example too")
    strided.serve(rows(4), "contiguous, on a runner with such an example")
    service.record(evidence)
    evidence.exact("strided", strided.outputs, labels=strided.labels)


def test_the_callers_tensors_stay_as_they_are(
    serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any, expect: Any
) -> None:
    """Neither building nor calling writes into the example or the input, and the example may change afterwards.

    zh: 构造和调用都不会写示例输入或本次输入；此后示例输入可以随意改动。
    """
    example, x = rows(4), rows(4)
    look = (
        "Example and input are the caller's: which memory does the graph read, and who else holds it?",
        "示例输入和本次输入归调用者：图读的是哪块内存，还有谁拿着它？",
    )
    with expect.unchanged(look=look, example=example, x=x):
        service = serve(example)
        service.serve(x, "call 1")
    example.fill_(2)
    service.serve(x, "call 2, after the caller has overwritten the example")
    service.record(evidence)


def test_runners_do_not_meet(serve: Callable[..., Any], rows: Callable[..., Tensor], evidence: Any) -> None:
    """Several runners work side by side, of one model or of several, and go on when another one dies.

    zh: 多个运行器并存，模型相同或不同都可以；其中一个消亡，其余照常工作。
    """
    look = (
        "What do two runners share: an attribute of the class, a global, a cache?",
        "两个运行器共用了什么：类属性、全局变量，还是缓存？",
    )
    wide, narrow = serve(rows(4)), serve(rows(2))
    twin = serve(rows(4), wide.model)
    first = [one.serve(rows(count), "call 1", look) for one, count in ((wide, 4), (narrow, 2), (twin, 4))]
    wide.serve(rows(4), "call 2, after calls of two other runners", look)
    narrow.check_still(first[1], 0, ("a call of another runner changed a result", "另一个运行器的调用改变了结果"))
    wide.runner = None
    twin.serve(rows(4), "call 2, after another runner of the model has died", look)
    wide.check_still(first[0], 0, ("a result did not survive its runner", "运行器消亡后，它给出的结果变了"))
    for name, one in (("wide", wide), ("narrow", narrow), ("twin", twin)):
        evidence.exact(name, one.outputs, labels=one.labels)


def test_weights_may_change_in_place(
    serve: Callable[..., Any], rows: Callable[..., Tensor], rng: Random, device: str, evidence: Any
) -> None:
    """Weights that are overwritten in place count from the next call on.

    zh: 原地改写的权重从下一次调用起生效。
    """
    service = serve(rows(4))
    x = rows(4)
    service.serve(x, "call 1")
    service.model.second.copy_(draw(rng, (WIDTH, WIDTH), device, largest=1))
    look = (
        "A replay reads the weights where they lay at the capture. Were those the model's own, or copies of them?",
        "重放从捕获时的地址读权重。那是模型自己的权重，还是一份拷贝？",
    )
    service.serve(x, "call 2, the same input, weights overwritten in place", look)
    service.record(evidence)


def test_nothing_is_kept_for_autograd(
    serve: Callable[..., Any], rows: Callable[..., Tensor], rng: Random, device: str, evidence: Any
) -> None:
    """Weights and inputs may require gradients: results do not, and a later call still takes its input.

    zh: 权重和输入可以要求梯度，结果不要求；之后的调用照常接受输入。
    """
    model = Layers(rng, device)
    model.first.requires_grad_()
    service = serve(rows(4), model)
    for number, x in enumerate((rows(4).requires_grad_(), rows(4)), 1):
        y = service.serve(x, f"call {number}, with a weight that requires a gradient")
        y.add_(1)
    service.record(evidence)
