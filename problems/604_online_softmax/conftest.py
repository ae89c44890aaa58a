"""What the tests of this problem share: a lab that draws problems, knows the truth in float64, and compares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

Pair = tuple[str, str]

LOOK_NAN: Pair = (
    "inf - inf, -inf - (-inf), 0 / 0 and 0 · inf are NaN. Which of them arises where a chunk, or a row, has no key "
    "that may be attended, or where exp() of a large score overflows?",
    "inf - inf、-inf - (-inf)、0 / 0、0 · inf 都是 NaN。某个分块或某一行没有可见的键，或者很大的分数经 exp() 溢出时，"
    "会出现其中哪一个？",
)
LOOK_TYPE: Pair = (
    "Half types are for inputs and the output. Scores, maxima and sums are float32: convert before the product, not "
    "after it.",
    "半精度只用于输入和最终的输出。分数、最大值、累加都用 float32：要在相乘之前转换，而不是之后。",
)
LOOK_VALUE: Pair = (
    "Everything in a partial is measured from its own maximum: exp(score - maximum). When the maximum changes, what "
    "was summed before has to be brought to the new one, sum and output alike; and the division comes once, at last.",
    "partial 里的一切都以它自己的最大值为基准：exp(score - maximum)。最大值一变，以前累加的和与输出都要换算到新的基准；"
    "除法只在最后做一次。",
)
LOOK_EMPTY: Pair = (
    "Where no key may be attended there is nothing to average: the output is 0. A large negative number in place of "
    "-inf gives all masked keys the same weight.",
    "没有可见的键，就没有东西可平均：输出是 0。用一个很大的负数代替 -inf，会让被掩码的键个个权重相同。",
)
LOOK_LSE: Pair = (
    "exp() was taken of score - maximum: the logarithm of the sum is short of that maximum.",
    "exp() 的是 score - maximum：对和取对数之后，还差这个最大值。",
)
FIELDS = ("maximum", "total", "output")


@dataclass(frozen=True)
class Task:
    """Queries, keys and values on the device, with scale and mask."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    scale: float
    mask: Tensor | None = None

    def cut(self, start: int, end: int) -> Task:
        """Return the same for some of the keys."""
        mask = None if self.mask is None else self.mask[..., start:end]
        return Task(self.queries, self.keys[:, start:end], self.values[:, start:end], self.scale, mask)

    def find_truth(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return maximum, total and output of a partial over all keys, in float64 on the host."""
        queries, keys, values = (tensor.detach().cpu().double() for tensor in (self.queries, self.keys, self.values))
        scores = queries @ keys.transpose(-2, -1) * self.scale
        if self.mask is not None:
            scores = scores.masked_fill(~self.mask.cpu(), -torch.inf)
        padded = torch.cat([scores, torch.full((*scores.shape[:-1], 1), -torch.inf, dtype=torch.float64)], dim=-1)
        maximum = padded.amax(dim=-1)
        weights = torch.exp(scores - maximum.masked_fill(maximum == -torch.inf, 0.0).unsqueeze(-1))
        return maximum, weights.sum(dim=-1), weights @ values


class Lab:
    """Calls the solution, and compares what it returns with the truth.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        rng: the judge's fixture.
        device: where tensors belong.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, rng: Random, device: str) -> None:
        self.solution = solution
        self.expect = expect
        self._evidence = evidence
        self._generator = torch.Generator().manual_seed(rng.getrandbits(40))
        self._device = device
        self._kept: list[Tensor] = []
        self._labels: list[str] = []

    def draw(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return normal numbers on the device."""
        return torch.randn(shape, generator=self._generator).to(dtype).to(self._device)

    def whole_task(self, keys: int = 23) -> Task:
        """Return a task whose scores are whole numbers: exact in float32, however large they are made."""
        q, k = (
            torch.randint(-2, 3, (2, count, 8), generator=self._generator).float().to(self._device)
            for count in (5, keys)
        )
        return Task(q, k, self.draw(2, keys, 7), 1.0)

    def task(
        self,
        heads: int = 2,
        queries: int = 5,
        keys: int = 23,
        dim: int = 8,
        dtype: torch.dtype = torch.float32,
        scale: float = 0.5,
    ) -> Task:
        """Return a random task; values have one number less than keys, so that the two are not mixed up."""
        q, k, v = (
            self.draw(heads, count, width, dtype=dtype)
            for count, width in ((queries, dim), (keys, dim), (keys, dim - 1))
        )
        return Task(q, k, v, scale)

    def mask(self, *shape: int, share: float = 0.6) -> Tensor:
        """Return a random mask; about so many keys may be attended."""
        return (torch.rand(shape, generator=self._generator) < share).to(self._device)

    def summarise(self, task: Task) -> Any:
        """Return the solution's partial of a task, once its form has been found right; inputs must stay."""
        __tracebackhide__ = True
        with self.expect.unchanged(queries=task.queries, keys=task.keys, values=task.values):
            partial = self.solution.summarise(task.queries, task.keys, task.values, scale=task.scale, mask=task.mask)
        return self.check_form(partial, "summarise()", task)

    def merge(self, first: Any, second: Any, task: Task) -> Any:
        """Return the solution's merged partial, once its form has been found right; the two must stay."""
        __tracebackhide__ = True
        given = {f"{name}.{field}": getattr(side, field) for name, side in (("first", first), ("second", second))
                 for field in FIELDS}  # fmt: skip
        with self.expect.unchanged(**{name.replace(".", "_"): tensor for name, tensor in given.items()}):
            partial = self.solution.merge(first, second)
        return self.check_form(partial, "merge()", task)

    def check_form(self, partial: Any, name: str, task: Task) -> Any:
        """Return a partial that is one."""
        __tracebackhide__ = True
        kind = type(partial).__name__
        what = (f"{name} returned {kind}, not a Partial", f"{name} 返回了 {kind}，而不是 Partial")
        self.expect.true(isinstance(partial, self.solution.Partial), what, expected="Partial", actual=kind)
        rows = task.queries.shape[:2]
        shapes = {"maximum": rows, "total": rows, "output": (*rows, task.values.shape[2])}
        for field, shape in shapes.items():
            tensor = self.expect.tensor(getattr(partial, field), f"{name}.{field}", device=self._device)
            look = LOOK_TYPE if tensor.dtype != torch.float32 else None
            self.expect.tensor(tensor, f"{name}.{field}", dtype=torch.float32, shape=shape, look=look)
        return partial

    def check_partial(self, partial: Any, task: Task, name: str) -> None:
        """Fail unless a partial is that of a task; it is measured from the true maximum."""
        __tracebackhide__ = True
        for field, wanted in zip(FIELDS, task.find_truth(), strict=True):
            self.check_close(getattr(partial, field), wanted, f"{name}.{field}", 5e-5, task)

    def check_answer(self, answer: Any, task: Task, name: str) -> None:
        """Fail unless an output and a log-sum-exp are those of a task."""
        __tracebackhide__ = True
        kind = type(answer).__name__
        what = (f"{name} returned {kind}, not (output, lse)", f"{name} 返回了 {kind}，而不是 (output, lse)")
        is_pair = isinstance(answer, tuple) and len(answer) == 2
        self.expect.true(is_pair, what, expected="(output, lse)", actual=kind)
        maximum, total, output = task.find_truth()
        dtype, shape = task.queries.dtype, tuple(output.shape)
        found = self.expect.tensor(answer[0], f"{name}, output", dtype=dtype, shape=shape, device=self._device)
        lse = self.expect.tensor(answer[1], f"{name}, lse", dtype=torch.float32, shape=shape[:2], device=self._device)
        wanted = output / total.masked_fill(total == 0, 1.0).unsqueeze(-1)
        self.check_close(lse, maximum + total.log(), f"{name}, lse", 5e-5, task)
        rtol = 5e-5 if dtype is torch.float32 else torch.finfo(dtype).eps
        self.check_close(found, wanted, f"{name}, output", rtol, task)

    def check_close(self, actual: Tensor, wanted: Tensor, name: str, rtol: float, task: Task) -> None:
        """Fail unless all numbers are close to the truth, infinities equal; keep them as evidence."""
        __tracebackhide__ = True
        self._kept.append(actual.detach().float())
        self._labels.append(name)
        found = actual.detach().cpu().double()
        is_right = (found == wanted) | ((found - wanted).abs() <= rtol * (wanted.abs() + 1))
        if bool(is_right.all()):
            return
        at = tuple((~is_right).nonzero()[0].tolist())
        count = int((~is_right).sum())
        what = (
            f"{name}: {count} of {is_right.numel()} numbers are wrong, the first at {list(at)}",
            f"{name}：{is_right.numel()} 个数中有 {count} 个不对，第一个在 {list(at)}",
        )
        look = choose_look(name, found[at].item(), wanted[at].item(), task, at)
        self.expect.fail(what, f"{wanted[at].item():.6g}", f"{found[at].item():.6g}", look)

    def settle(self, rtol: float = 1e-4) -> None:
        """Hand over as evidence all that was compared."""
        self._evidence.tensors("results", self._kept, labels=self._labels, rtol=rtol, atol=rtol)

    def fold(self, pieces: Sequence[Task], task: Task) -> Any:
        """Return the merged partial of several pieces, from left to right."""
        __tracebackhide__ = True
        partials = [self.summarise(piece) for piece in pieces]
        result = partials[0]
        for partial in partials[1:]:
            result = self.merge(result, partial, task)
        return result


def choose_look(name: str, found: float, wanted: float, task: Task, at: tuple[int, ...]) -> Pair:
    """Return what to look at, by what is known of the first wrong number."""
    total = task.find_truth()[1][at[:2]].item()
    if math.isnan(found):
        return LOOK_NAN
    if total == 0:
        return LOOK_EMPTY
    if name.endswith("lse") and abs(found - math.log(total)) < 1e-4:
        return LOOK_LSE
    is_near = abs(found - wanted) < 0.02 * (abs(wanted) + 1)
    return LOOK_TYPE if is_near and task.queries.dtype != torch.float32 else LOOK_VALUE


@pytest.fixture
def lab(solution: ModuleType, expect: Any, evidence: Any, rng: Random, device: str) -> Lab:
    """Return a lab."""
    return Lab(solution, expect, evidence, rng, device)
