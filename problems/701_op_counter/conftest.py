"""What the tests of this problem share: a desk that opens the solution's counter and compares its tallies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from types import ModuleType
from typing import Any

import pytest
import torch

Pair = tuple[str, str]
FIELDS = ("kernels", "views", "read_bytes", "written_bytes")

LOOK_TALLY: Pair = (
    "total, by_op and by_module hold Tally objects of the stub, with whole numbers.",
    "total、by_op、by_module 里放的是骨架给出的 Tally 对象，字段都是整数。",
)
LOOK_KERNELS: Pair = (
    "Which operations reach the device? A call in Python may be several of them, or none; views launch nothing.",
    "哪些操作到达了设备？Python 里的一次调用可能对应好几个，也可能一个也没有；视图什么也不启动。",
)


class Desk:
    """Runs code under the solution's counter.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any) -> None:
        self.solution = solution
        self.expect = expect
        self._evidence = evidence
        self._written: list[Any] = []

    def open(self, model: Any = None) -> Any:
        """Return a counter that has not begun."""
        return self.solution.OpCounter() if model is None else self.solution.OpCounter(model)

    def count(self, work: Callable[[], Any], model: Any = None) -> Any:
        """Return the counter after some work."""
        __tracebackhide__ = True
        with self.open(model) as counter:
            work()
        return counter

    def read(self, tally: Any, name: str) -> dict[str, int]:
        """Return a tally as plain data, once its type has been found right; it is written down too."""
        __tracebackhide__ = True
        found = asdict(tally) if type(tally) is self.solution.Tally else None
        if found is None or any(type(number) is not int for number in found.values()):
            what = (f"{name} must be a Tally of ints", f"{name} 应当是由 int 组成的 Tally")
            self.expect.fail(what, "Tally(kernels=int, …)", repr(tally), LOOK_TALLY)
        # autograd detaches a result that somebody else holds, for a moment too: how many views, is no evidence
        self._written.append([name, {field: number for field, number in found.items() if field != "views"}])
        return found

    def read_all(self, tallies: Any, name: str, field: str = "kernels") -> dict[str, int]:
        """Return one field of all tallies of a dictionary, without zeros."""
        __tracebackhide__ = True
        if type(tallies) is not dict:
            what = (f"{name} must be a dict", f"{name} 应当是 dict")
            self.expect.fail(what, "dict", type(tallies).__name__, LOOK_TALLY)
        launched = {key: tally for key, tally in sorted(tallies.items()) if getattr(tally, "kernels", None) != 0}
        found = {key: self.read(tally, f"{name}[{key!r}]")[field] for key, tally in launched.items()}
        return {key: number for key, number in found.items() if number}

    def kernels(self, counter: Any, wanted: dict[str, int], look: Pair = LOOK_KERNELS) -> None:
        """Fail unless exactly these operations launched work, as often."""
        __tracebackhide__ = True
        found = self.read_all(counter.by_op, "by_op")
        what = ("Other kernels were counted than ran", "数到的 kernel 与实际执行的不同")
        self.expect.equal(found, wanted, what, look)
        what = ("total.kernels is not the sum over by_op", "total.kernels 不等于 by_op 之和")
        self.expect.equal(self.read(counter.total, "total")["kernels"], sum(wanted.values()), what)

    def record(self) -> None:
        """Hand the tallies over as evidence."""
        self._evidence.exact("tallies", self._written)


@pytest.fixture
def desk(solution: ModuleType, expect: Any, evidence: Any) -> Desk:
    """Return a desk for the solution's counters."""
    return Desk(solution, expect, evidence)


@pytest.fixture
def draw(device: str, rng: Any) -> Callable[..., torch.Tensor]:
    """Return a function that makes a float tensor of small whole numbers."""

    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        generator = torch.Generator().manual_seed(rng.getrandbits(32))
        return torch.randint(-9, 9, shape, generator=generator).to(device, dtype)

    return make
