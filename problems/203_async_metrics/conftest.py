"""What the tests of this problem share: a loop that feeds the solution's metrics and checks their reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest
import torch
from support_steps import Step, Truth
from torch import Tensor

Pair = tuple[str, str]

TYPES = {"steps": int, "samples": int, "loss": float, "accuracy": float, "max_confidence": float}

RTOL = {"loss": 2e-7, "accuracy": 1e-9, "max_confidence": 1e-5}

LOOKS: dict[str, Pair] = {
    "steps": (
        "A step without rows, or without one that counts, is a step.",
        "没有行、或者没有一行算数的步，也是一步。",
    ),
    "samples": (
        "Rows count whose label is not -100, from the beginning on, not from the last report.",
        "标签不是 -100 的行才算数；从头累计，而不是从上一次报告起。",
    ),
    "loss": (
        "The mean is that of all rows: a mean of the steps' means weighs each row of a small step more. In which dtype "
        "is the sum kept, and what does it lose when it is large? What does a row hold that does not count?",
        "要的是所有行的平均：对各步的平均再取平均，小步里的每一行就更重。总和用什么 dtype 保存，变大之后会丢掉什么？"
        "不算数的行里装的又是什么？",
    ),
    "accuracy": (
        "Right answers divided by rows that count. Are both kept as exact whole numbers? Is the largest logit looked "
        "for in the logits as they are, or in something that has been rounded?",
        "答对的行数除以算数的行数。两者都保持精确的整数吗？最大的 logit 是在原来的 logits 里找的，"
        "还是在舍入过的东西里找的？",
    ),
    "max_confidence": (
        "The largest softmax probability of any row that counts, since the beginning. In which dtype is the softmax "
        "computed, and what is it for a row that holds NaN or -inf?",
        "从头到现在，所有算数的行里最大的 softmax 概率。softmax 用什么 dtype 算？行里有 NaN 或 -inf 时，它是什么？",
    ),
}

LOOK_NAN: Pair = (
    "NaN goes through every sum, product and maximum. Where does it come from: from a row that does not count, from "
    "infinity less infinity, from 0 / 0?",
    "NaN 会穿过一切求和、乘积和最大值。它从哪里来：来自不算数的行，来自无穷大减无穷大，还是来自 0 / 0？",
)

LOOK_NONE: Pair = (
    "update() returns a report at each flush_every-th step since the last report, else None; flush() returns None if "
    "there was no step since.",
    "update() 从上次报告起每 flush_every 步返回一次报告，其余返回 None；此后没有新的步，flush() 就返回 None。",
)


class Loop:
    """A loop that feeds the solution's metrics.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        device: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, device: str) -> None:
        self.solution = solution
        self.expect = expect
        self.evidence = evidence
        self._device = device

    def run(
        self,
        flush_every: int,
        steps: Sequence[Step],
        *,
        flush: bool = True,
        place: Callable[[Step], tuple[Tensor, Tensor, Tensor]] | None = None,
    ) -> None:
        """Feed steps, and check each report against float64.

        Args:
            flush_every: of the metrics.
            steps: on the host.
            flush: whether ``flush()`` is called at the end, twice.
            place: brings a step to the device.
        """
        __tracebackhide__ = True
        place = place or (lambda step: step.move(self._device))
        meter = self.solution.RunningMetrics(flush_every)
        truth = Truth()
        reports = []
        for number, step in enumerate(steps, 1):
            truth.add(step)
            report = meter.update(*place(step))
            self._check_presence(report, f"update() {number}", is_due=number % flush_every == 0)
            if report is not None:
                reports.append(self._check(report, truth))
        if flush:
            rest = meter.flush()
            self._check_presence(rest, "flush()", is_due=len(steps) % flush_every > 0)
            if rest is not None:
                reports.append(self._check(rest, truth))
            self._check_presence(meter.flush(), "a second flush()", is_due=False)
        self.record(reports)

    def record(self, reports: list[dict[str, Any]]) -> None:
        """Write reports down as evidence."""
        labels = [f"report {at}" for at in range(len(reports))]
        self.evidence.exact("counts", [[told["steps"], told["samples"]] for told in reports], labels=labels)
        for name, rtol in RTOL.items():
            values = [-1.0 if math.isnan(told[name]) else told[name] for told in reports]
            self.evidence.close(name, values, rtol=rtol, atol=0)

    def _check_presence(self, report: object, call: str, *, is_due: bool) -> None:
        __tracebackhide__ = True
        name = type(report).__name__
        if is_due and not isinstance(report, self.solution.Report):
            what = (f"{call} returned {name}, where a report is due", f"{call} 该给出报告，却返回了 {name}")
            self.expect.fail(what, "Report", name, LOOK_NONE)
        if not is_due and report is not None:
            what = (f"{call} returned {name}, where no report is due", f"{call} 不该有报告，却返回了 {name}")
            self.expect.fail(what, "None", name, LOOK_NONE)

    def _check(self, report: Any, truth: Truth) -> dict[str, Any]:
        """Return a report as plain data, if it is right."""
        __tracebackhide__ = True
        told = {}
        for name, wanted in truth.tell().items():
            actual = told[name] = getattr(report, name)
            kind = type(actual).__name__
            what = (
                f"Report.{name} after step {truth.steps} is of type {kind}",
                f"第 {truth.steps} 步之后，Report.{name} 的类型是 {kind}",
            )
            self.expect.equal(kind, TYPES[name].__name__, what)
            is_near = actual == wanted or (actual != actual and wanted != wanted)
            if name in RTOL and not is_near:
                is_near = math.isclose(actual, wanted, rel_tol=RTOL[name])
            if not is_near:
                what = (
                    f"Report.{name} after step {truth.steps} is wrong",
                    f"第 {truth.steps} 步之后，Report.{name} 不对",
                )
                self.expect.fail(what, wanted, actual, LOOK_NAN if actual != actual else LOOKS[name])
        return told


@pytest.fixture
def loop(solution: ModuleType, expect: Any, evidence: Any, device: str) -> Loop:
    """Return a loop for the solution's metrics."""
    torch.cuda.synchronize()
    return Loop(solution, expect, evidence, device)
