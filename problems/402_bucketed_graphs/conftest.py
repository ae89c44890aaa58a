"""What the tests of this problem share: a service that calls a runner, checks each result and writes it down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from support_model import LARGEST, WIDTH, Layers, draw, find_top, read
from torch import Tensor

Pair = tuple[str, str]

LOOK_INPUT: Pair = (
    "A graph reads the memory that it was captured with. Does each batch get there, to the front of this graph's rows?",
    "图读取的是捕获时的那块内存。每个批真的到了那里，也就是这个图那几行的最前面吗？",
)
LOOK_OUTPUT: Pair = (
    "A slice is a view: it shows the graph's memory, and all graphs of a pool share that. What is the caller's own?",
    "切片只是视图，看到的仍是图的内存，而同一个池里的图共用内存。哪份内存才是调用者自己的？",
)
LOOK_GRAPH: Pair = (
    "The smallest graph that holds the batch; beyond the largest, the model itself.",
    "用放得下这个批的最小的图；比最大的还大，就交给模型自己。",
)
LOOK_ROWS: Pair = (
    "The graph has as many rows as it was captured with, the caller wants those of its batch, in front.",
    "图的行数是捕获时定的；调用者要的是自己那个批的行，也就是最前面的几行。",
)
LOOK_PADDING: Pair = (
    "Rows that the batch does not fill hold what an earlier call left there, until somebody writes zeros.",
    "批没有填到的行里，留着之前某次调用的内容，直到有人写上零。",
)
LOOK_WARM_UP: Pair = (
    "What a model does at its first call with a size (tables, tuning) can't be captured: every size is warmed up.",
    "模型第一次遇到某个大小时做的事（建表、调优）不能捕获：每个大小都要预热。",
)


class Service:
    """Calls a runner, checks the form and the values of what it returns, and writes them down.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        model: what the runner runs.
        example: shows what a row is like.
        sizes: what graphs are captured for.
        runner: one that exists already; built if left out.
    """

    def __init__(
        self,
        solution: ModuleType,
        expect: Any,
        model: Layers,
        example: Tensor,
        sizes: Iterable[int],
        runner: Any = None,
    ) -> None:
        self.expect = expect
        self.model = model
        self.outputs: list[Any] = []
        self.labels: list[str] = []
        self.runner = self._build(solution, example, sizes) if runner is None else runner

    def _build(self, solution: ModuleType, example: Tensor, sizes: Iterable[int]) -> Any:
        """Return a runner; where a capture fails for want of a warm-up, that is what is told."""
        __tracebackhide__ = True
        try:
            return solution.BucketedRunner(self.model, example, sizes)
        except RuntimeError as error:
            *before, last = self.model.calls or [None]
            warm = sum(call.rows == last.rows and not call.is_captured for call in before) if last else 1
            if warm:
                raise
            what = (
                f"the capture for {last.rows} rows failed; the model had not been called with {last.rows} rows before",
                f"{last.rows} 行的捕获失败：此前模型还没有用 {last.rows} 行调用过",
            )
            self.expect.fail(what, ">= 1", f"0; {str(error).splitlines()[0]}", LOOK_WARM_UP)

    def call(self, x: Tensor) -> Tensor:
        """Return the runner's result for x, once its form has been found right; its values are not looked at yet."""
        __tracebackhide__ = True
        name = f"runner(x), x {tuple(x.shape)}"
        try:
            y = self.runner(x)
        except (LookupError, StopIteration) as error:
            what = (f"{name}: no graph was found, and nothing else done", f"{name}：没有找到图，也没有别的办法")
            self.expect.fail(what, "Tensor", f"{type(error).__name__}: {error}", LOOK_GRAPH)
        self.expect.tensor(y, name, dtype=x.dtype, device=x.device.type)
        self.expect.tensor(y, name, shape=(len(x), WIDTH), look=LOOK_ROWS)
        return y

    def serve(self, x: Tensor, label: str, look: Pair = LOOK_INPUT) -> Tensor:
        """Return the runner's result for x, once form and values have been found right."""
        __tracebackhide__ = True
        y = self.call(x)
        self.check(y, x, label, look)
        return y

    def check(self, y: Tensor, x: Tensor, label: str, look: Pair = LOOK_INPUT) -> None:
        """Fail unless y holds the values for x; where it is the padding that was seen, that is told."""
        __tracebackhide__ = True
        actual, expected = read(y), self.model.exact(x)
        if actual != expected:
            top, shifts = find_top(x), _find_shifts(expected, actual)
            if len(shifts) == 1:
                shift = shifts.pop()
                what = (
                    f"{label}: rows that are not of this batch were seen; the largest absolute value is wrong",
                    f"{label}：模型看到了不属于本次的行，最大绝对值不对",
                )
                self.expect.fail(what, f"{top:g}", "nan" if shift == "nan" else f"{top + float(shift):g}", LOOK_PADDING)
            what = (f"{label}: the result is wrong", f"{label}：结果不对")
            self.expect.fail(what, *_find_row(expected, actual), look)
        self.outputs.append(actual)
        self.labels.append(label)

    def check_still(self, y: Tensor, number: int, what: Pair, look: Pair = LOOK_OUTPUT) -> None:
        """Fail unless y still holds what it held when the call with that number was checked."""
        __tracebackhide__ = True
        expected, actual = self.outputs[number], read(y)
        self.expect.true(actual == expected, what, look, None, *_find_row(expected, actual))

    def record(self, evidence: Any) -> None:
        """Hand all results over as evidence."""
        evidence.exact("outputs", self.outputs, labels=self.labels)


def _find_shifts(expected: list[list[float]], actual: list[list[float]]) -> set[str]:
    """Return by how much the values differ; one number for all of them tells of a wrong largest value."""
    pairs = zip(expected, actual, strict=True)
    return {f"{other - one:g}" for row, values in pairs for one, other in zip(row, values, strict=True)}


def _find_row(expected: Any, actual: Any) -> tuple[str, str]:
    """Return the first row that differs, on both sides."""
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
    """Return a maker of batches, (rows, 8): ``rows(4)``, ``rows(4, torch.float16)``, ``rows(4, largest=1)``."""

    def make(count: int, dtype: torch.dtype = torch.float32, largest: int = LARGEST) -> Tensor:
        x = draw(rng, (count, WIDTH), device, dtype, largest)
        x[:1, 0] = largest
        return x

    return make


@pytest.fixture
def serve(solution: ModuleType, expect: Any, rng: Any, device: str) -> Callable[..., Service]:
    """Return a maker of services, each with a runner of its own: ``serve([1, 2, 4])``."""

    def make(
        sizes: Iterable[int],
        model: Layers | None = None,
        example: Tensor | None = None,
        runner: Any = None,
    ) -> Service:
        if example is None:
            example = draw(rng, (1, WIDTH), device)
        return Service(solution, expect, model or Layers(rng, device, example.dtype), example, sizes, runner)

    return make
