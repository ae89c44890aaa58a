"""What the tests of this problem share: a service that calls a runner, checks each result and writes it down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from support_model import WARM_UPS, WIDTH, Layers, draw, read
from torch import Tensor

Pair = tuple[str, str]

LOOK_INPUT: Pair = (
    "A graph reads the memory that it was captured with. Does each new input get there, or is only a name bound to it?",
    "图读取的是捕获时的那块内存。每个新输入真的到了那里，还是只把一个名字指向了它？",
)
LOOK_OUTPUT: Pair = (
    "Every replay writes to the same memory. Whose is the tensor that the caller was given?",
    "每次重放都写同一块内存。交给调用者的张量，到底是谁的？",
)
LOOK_KIND: Pair = (
    "copy_() broadcasts and converts dtypes in silence. Does an input of another kind reach the graph?",
    "copy_() 会悄悄广播、悄悄转换 dtype。别种输入是不是也进了图？",
)
LOOK_AUTOGRAD: Pair = (
    "The runner is for inference: copy, replay and model run without autograd, in the constructor and in each call.",
    "运行器只做推理：拷贝、重放、调用模型都不带 autograd，构造时如此，每次调用也如此。",
)

LOOK_WARM_UP: Pair = (
    "What a model does in its first calls (tables, libraries, tuning) can't be captured: warm it up before.",
    "模型头几次调用里的事（建表、初始化库、调优）不能捕获：先预热。",
)


class Service:
    """Calls a runner, checks the form and the values of what it returns, and writes them down.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        model: what the runner runs.
        example: what it is captured with.
        runner: one that exists already, of this model and example; built if left out.
    """

    def __init__(self, solution: ModuleType, expect: Any, model: Layers, example: Tensor, runner: Any = None) -> None:
        self.expect = expect
        self.model = model
        self.outputs: list[Any] = []
        self.labels: list[str] = []
        self.runner = self._build(solution, example) if runner is None else runner
        self.known: list[tuple[Pair, Any]] = [(("the example", "示例输入"), model.exact(example))]

    def _build(self, solution: ModuleType, example: Tensor) -> Any:
        """Return a runner; where the capture fails and came too early, that is what is told."""
        __tracebackhide__ = True
        try:
            return solution.GraphRunner(self.model, example)
        except RuntimeError as error:
            warm = sum(not call.is_captured for call in self.model.calls)
            if warm == len(self.model.calls) or warm >= WARM_UPS:
                raise
            what = (
                f"the capture failed; it came after {warm} warm-up calls of the model",
                f"捕获失败：捕获之前只预热了 {warm} 次",
            )
            shown = f"{warm}; {str(error).splitlines()[0]}"
            self.expect.fail(what, f">= {WARM_UPS} warm-up calls (rule 5)", shown, LOOK_WARM_UP)

    def call(self, x: Tensor) -> Tensor:
        """Return the runner's result for x, once its form has been found right; its values are not looked at yet."""
        __tracebackhide__ = True
        y = self.runner(x)
        self.check_form(y, x)
        return y

    def serve(self, x: Tensor, label: str, look: Pair = LOOK_INPUT) -> Tensor:
        """Return the runner's result for x, once form and values have been found right."""
        __tracebackhide__ = True
        y = self.call(x)
        self.check(y, x, label, look)
        return y

    def check_form(self, y: Any, x: Tensor) -> None:
        """Fail unless y is the sort of tensor that the model returns for x."""
        __tracebackhide__ = True
        name = f"runner(x), x {tuple(x.shape)} {x.dtype}".replace("torch.", "")
        self.expect.tensor(y, name, device=x.device.type)
        self.expect.tensor(y, name, dtype=x.dtype, shape=(*x.shape[:-1], WIDTH), look=LOOK_KIND)
        what = (f"{name}: the result requires a gradient", f"{name}：结果要求梯度")
        self.expect.true(not y.requires_grad, what, LOOK_AUTOGRAD)

    def check(self, y: Tensor, x: Tensor, label: str, look: Pair = LOOK_INPUT) -> None:
        """Fail unless y holds the values for x; whose values it holds instead is told where that can be seen."""
        __tracebackhide__ = True
        actual, expected = read(y), self.model.exact(x)
        if actual != expected:
            for (english, chinese), values in reversed(self.known):
                if actual == values:
                    what = (
                        f"{label}: the result is the one for {english}, not for this input",
                        f"{label}：得到的是{chinese}的结果，不是这次输入的",
                    )
                    self.expect.fail(what, *_find_row(expected, actual), look)
            what = (f"{label}: the result is wrong", f"{label}：结果不对")
            self.expect.fail(what, *_find_row(expected, actual), look)
        self.known.append(((f"an earlier call ({label})", f"之前一次调用（{label}）"), expected))
        self.outputs.append(actual)
        self.labels.append(label)

    def check_still(self, y: Tensor, number: int, what: Pair) -> None:
        """Fail unless y still holds what it held when the call with that number was checked."""
        __tracebackhide__ = True
        expected, actual = self.outputs[number], read(y)
        self.expect.true(actual == expected, what, LOOK_OUTPUT, None, *_find_row(expected, actual))

    def record(self, evidence: Any) -> None:
        """Hand all results over as evidence."""
        evidence.exact("outputs", self.outputs, labels=self.labels)


def _find_row(expected: Any, actual: Any) -> tuple[str, str]:
    """Return the first row that differs, on both sides."""
    if len(expected) == len(actual):
        for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
            if one != other:
                return f"row {number}: {one}", f"row {number}: {other}"
    return str(expected), str(actual)


@pytest.fixture(autouse=True)
def idle_device(device: str) -> Iterator[None]:
    """Begin each test with an idle device, on the default stream, whatever the test before has left."""
    default = torch.cuda.default_stream(device)
    torch.cuda.set_stream(default)
    torch.cuda.synchronize(device)
    yield
    torch.cuda.set_stream(default)


@pytest.fixture
def rows(rng: Any, device: str) -> Callable[..., Tensor]:
    """Return a maker of inputs, (rows, 8): ``rows(4)``, ``rows(4, torch.float16)``."""
    return lambda count, dtype=torch.float32: draw(rng, (count, WIDTH), device, dtype)


@pytest.fixture
def serve(solution: ModuleType, expect: Any, rng: Any, device: str) -> Callable[..., Service]:
    """Return a maker of services, each with a runner of its own."""

    def make(example: Tensor, model: Layers | None = None, runner: Any = None) -> Service:
        return Service(solution, expect, model or Layers(rng, device, example.dtype), example, runner)

    return make
