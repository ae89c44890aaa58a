"""A bench that runs a part of the step, eagerly or as a graph, and holds it against the rules."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from support_looks import LOOK_ARGUMENT, LOOK_FROZEN, LOOK_HOST, LOOK_NAN, LOOK_UPLOAD, LOOKS, Pair
from support_rules import Draw, Rules, read
from torch import Tensor

SHAPES: dict[str, tuple[str, ...]] = {
    "route": ("x",),
    "penalise": ("logits",),
    "hold_stops": ("logits",),
    "accept": ("target", "count"),
    "close": ("tokens",),
    "remember": (),
}
"""What each part returns: the argument whose shape and dtype it has; ``count`` is (rows,), int64."""


class Bench:
    """Runs the parts of one step, and holds each against the rules.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        draw: draws inputs.
        dtype: of the experts.
        options: arguments of the step that differ from the usual ones.
    """

    def __init__(
        self, solution: ModuleType, expect: Any, evidence: Any, draw: Draw, dtype: torch.dtype, **options: Any
    ) -> None:
        self.usual = {"rows": 5, "vocab": 11, "stop_tokens": [3, 7], "min_tokens": 2, "window": 3} | options
        self.experts = self.usual.pop("experts", None)
        if self.experts is None:
            self.experts = draw.numbers(4, 6, 6, dtype=dtype, least=-2, most=2)
        self.step = solution.CapturableStep(**self.usual, experts=self.experts)
        self.rules = Rules(**self.usual, experts=read(self.experts))
        self.draw, self.expect, self._evidence = draw, expect, evidence
        self._file = solution.__file__
        self._settled: list[Any] = []
        self._labels: list[str] = []

    def run(self, name: str, label: str = "eager", look: Pair | None = None, **arguments: Tensor) -> Any:
        """Call a part and check its answer; ``look`` is said of wrong values, by default the part's rule."""
        __tracebackhide__ = True
        before = {key: read(value) for key, value in arguments.items()}
        answer = getattr(self.step, name)(**arguments)
        return self.check(name, label, answer, arguments, before, look or LOOKS.get(name))

    def capture(self, name: str, **arguments: Tensor) -> Replay:
        """Run a part once on a side stream, capture it, and return its replay."""
        __tracebackhide__ = True
        current, side = torch.cuda.current_stream(), torch.cuda.Stream()
        side.wait_stream(current)
        with torch.cuda.stream(side):
            self.run(name, "warm-up", **arguments)
        current.wait_stream(side)
        frozen = getattr(self.rules, name)(**{key: read(value) for key, value in arguments.items()})
        if name == "remember":
            for row in self.rules.remembered:
                row.pop()  # what is captured does not run
        graph = torch.cuda.CUDAGraph()
        answer = self.record(name, graph, lambda: getattr(self.step, name)(**arguments))
        return Replay(self, name, graph, answer, arguments, frozen)

    def record(self, name: str, graph: torch.cuda.CUDAGraph, call: Callable[[], Any]) -> Any:
        """Return what a call returns while it is captured; what the capture refuses is told with its line."""
        __tracebackhide__ = True
        try:
            with torch.cuda.graph(graph):
                return call()
        except RuntimeError as error:
            first: BaseException = error
            while first.__context__ is not None:  # the end of a broken capture complains too, and hides the cause
                first = first.__context__
            lines = [
                frame.lineno for frame in traceback.extract_tb(first.__traceback__) if frame.filename == self._file
            ]
            text = str(first).splitlines()[0]
            what = (f"{name}: the capture is refused", f"{name}：捕获被拒绝")
            look = LOOK_UPLOAD if "pinned" in text else LOOK_HOST
            text = text.split(". ")[0]
            shown = f"line {lines[-1]}: {text}" if lines else text
            self.expect.fail(what, "captured", shown, look)

    def check(
        self,
        name: str,
        label: str,
        answer: Any,
        arguments: dict[str, Tensor],
        before: dict[str, Any],
        look: Pair | None,
        frozen: Any = None,
    ) -> Any:
        """Fail unless an answer has the form and the values that the rules want for the arguments as they were."""
        __tracebackhide__ = True
        expected = getattr(self.rules, name)(**before)
        call = f"{name}(), {label}"
        answers = self._check_form(call, name, answer, arguments)
        actual: Any = [read(value) for value in answers]
        if name == "close":
            actual.append(read(arguments["finished"]))
        wanted = list(expected) if isinstance(expected, tuple) else [expected] * len(answers)
        old = list(frozen) if isinstance(frozen, tuple) else [frozen] * len(wanted)
        for part, one, other, stale in zip(_name_results(name), wanted, actual, old, strict=True):
            self._compare(f"{call}, {part}" if part else call, one, other, stale, look)
        for key, value in arguments.items():
            if (name, key) != ("close", "finished") and str(read(value)) != str(before[key]):
                what = (f"{call} has changed its argument {key}", f"{call} 改动了参数 {key}")
                self.expect.fail(what, *_find_row(before[key], read(value)), LOOK_ARGUMENT)
        self._settled.append(actual)
        self._labels.append(call)
        self._evidence.exact("results", self._settled, labels=self._labels)
        return answer

    def _check_form(self, call: str, name: str, answer: Any, arguments: dict[str, Tensor]) -> list[Tensor]:
        """Return the tensors of an answer, once each has the right form."""
        __tracebackhide__ = True
        kinds = SHAPES[name]
        if len(kinds) == 2 and not (isinstance(answer, tuple) and len(answer) == 2):
            what = (f"{call} must return two tensors", f"{call} 应当返回两个张量")
            self.expect.fail(what, "(tokens, count)", type(answer).__name__)
        answers = answer if len(kinds) == 2 else (answer,)
        for kind, part, value in zip(kinds, _name_results(name), answers, strict=False):
            like = arguments.get(kind)
            shape, dtype = (like.shape, like.dtype) if like is not None else ((self.usual["rows"],), torch.int64)
            shown = f"{call}, {part}" if part else call
            self.expect.tensor(value, shown, device="cuda", dtype=dtype, shape=shape)
        return list(answers)[: len(kinds)]

    def _compare(self, call: str, expected: Any, actual: Any, frozen: Any, look: Pair | None) -> None:
        """Fail where values differ; NaN and values of the capture are named."""
        __tracebackhide__ = True
        if str(actual) == str(expected):
            return
        what = (f"{call}: the result is wrong", f"{call}：结果不对")
        if frozen is not None and str(actual) == str(frozen):
            what = (f"{call}: the result is the one for the capture's values", f"{call}：得到的是捕获时那组值的结果")
        elif "nan" in str(actual):
            what, look = (f"{call}: a NaN leaked into the result", f"{call}：NaN 漏进了结果"), LOOK_NAN
        self.expect.fail(what, *_find_row(expected, actual), look)


class Replay:
    """A captured part of a step.

    Args:
        bench: of whose step it is.
        name: of the part.
        graph: the graph.
        answer: what the part returned while it was captured.
        inputs: the arguments that the graph reads.
        frozen: what the rules want for the arguments at the capture.
    """

    def __init__(
        self, bench: Bench, name: str, graph: torch.cuda.CUDAGraph, answer: Any, inputs: dict[str, Tensor], frozen: Any
    ) -> None:
        self._bench, self._name, self._graph = bench, name, graph
        self._answer, self._inputs, self._frozen = answer, inputs, frozen
        self._count = 0

    def run(self, **values: Tensor) -> None:
        """Replay with new values in some of the inputs, and check what the graph has written."""
        __tracebackhide__ = True
        for key, value in values.items():
            self._inputs[key].copy_(value)
        before = {key: read(value) for key, value in self._inputs.items()}
        self._graph.replay()
        self._count += 1
        label = f"replay {self._count}"
        self._bench.check(self._name, label, self._answer, self._inputs, before, LOOK_FROZEN, self._frozen)


def _name_results(name: str) -> tuple[str, ...]:
    """Return how the results of a part are called; ``finished`` is an argument that is changed."""
    return {"accept": ("tokens", "count"), "close": ("tokens", "finished"), "remember": ()}.get(name, ("",))


def _find_row(expected: list[Any], actual: list[Any]) -> tuple[str, str]:
    """Return the first row that differs, on both sides."""
    row = next(row for row, (one, other) in enumerate(zip(expected, actual, strict=True)) if str(one) != str(other))
    return f"row {row}: {expected[row]}", f"row {row}: {actual[row]}"
