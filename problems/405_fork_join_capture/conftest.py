"""What the tests of this problem share: inputs, checks that write down what they saw, and words for failed captures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_branches import Branch, draw, read, run_plainly
from support_words import LOOK_VALUE, LOOKS, Pair
from torch import Tensor


class Checker:
    """Holds results against the rules, and writes them down.

    Args:
        expect: the judge's fixture.
        evidence: the judge's fixture.
    """

    def __init__(self, expect: Any, evidence: Any) -> None:
        self._expect, self._evidence = expect, evidence
        self._results: list[Any] = []
        self._labels: list[str] = []

    def check(self, y: Any, x: Tensor, layers: list[list[Branch]], label: str, look: Pair = LOOK_VALUE) -> None:
        """Fail unless y is what the layers make of x, one after another."""
        __tracebackhide__ = True
        self._expect.tensor(y, label, device="cuda", dtype=x.dtype, shape=x.shape)
        expected = x
        for branches in layers:
            expected = run_plainly(branches, expected)
        wanted, actual = read(expected), read(y)
        if actual != wanted:
            row = next(at for at, (one, other) in enumerate(zip(wanted, actual, strict=True)) if one != other)
            what = (f"{label}: the result is wrong", f"{label}：结果不对")
            self._expect.fail(what, f"row {row}: {wanted[row]}", f"row {row}: {actual[row]}", look)
        self._results.append(actual)
        self._labels.append(label)
        self._evidence.exact("results", self._results, labels=self._labels)

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Tell what CUDA refuses in a capture by its own words, and what they mean."""
        __tracebackhide__ = True
        try:
            yield
        except RuntimeError as error:
            first: BaseException = error
            while first.__context__ is not None:  # the end of a broken capture complains too, and hides the cause
                first = first.__context__
            text = str(first).splitlines()[0]
            look = next((look for words, look in LOOKS.items() if words in text), None)
            if look is None:
                raise
            self._expect.fail(("the capture failed", "捕获失败"), "captured", text, look)


@pytest.fixture(autouse=True)
def idle_device(device: str) -> Iterator[None]:
    """Begin each test with an idle device, on the default stream, whatever the test before has left."""
    default = torch.cuda.default_stream(device)
    torch.cuda.set_stream(default)
    torch.cuda.synchronize(device)
    yield
    torch.cuda.set_stream(default)


@pytest.fixture
def checker(expect: Any, evidence: Any) -> Checker:
    """Return what checks results."""
    return Checker(expect, evidence)


@pytest.fixture
def rows(rng: Random, device: str) -> Callable[..., Tensor]:
    """Return a maker of inputs, (rows, 8): ``rows(4)``, ``rows(4, torch.float16)``."""
    return lambda count, dtype=torch.float32: draw(rng, (count, 8), device, dtype)


@pytest.fixture
def capture(solution: ModuleType, checker: Checker, expect: Any) -> Callable[..., Any]:
    """Return the solution's ``capture``; its failures are explained, its answer is looked at."""

    def call(model: Callable[[Tensor], Tensor], example: Tensor) -> Any:
        __tracebackhide__ = True
        with checker.capturing():
            captured = solution.capture(model, example)
        kind = type(captured).__name__
        what = (f"capture() returned {kind}, not Captured", f"capture() 返回了 {kind}，而不是 Captured")
        expect.true(all(hasattr(captured, name) for name in ("graph", "input", "output")), what, actual=kind)
        expect.tensor(captured.input, "capture().input", device="cuda", dtype=example.dtype, shape=example.shape)
        return captured

    return call
