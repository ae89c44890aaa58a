"""What the tests of this problem share: a trial that copies through the solution and checks what comes."""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_order import explain_race
from torch import Tensor

Pair = tuple[str, str]

SLEEP_CYCLES = 2_000_000
"""Some 1 ms of a GPU: long enough that a missing order shows in the numbers on a real one, too."""

LOOK_BYTES: Pair = (
    "A queued copy reads when it runs, not when it is called. What may have been written there in between? And are "
    "shape, strides and dtype changed in an order that keeps the values?",
    "排入队列的拷贝是在执行时才读的，不是在调用时。这期间那里可能写进了什么？改变形状、步长、dtype 时，会不会弄丢值？",
)
LOOK_CONTIGUOUS: Pair = (
    ".to(dtype) keeps strides, and so does .to(dtype, memory_format=torch.contiguous_format) where the dtype is the "
    "same already, since then it returns its argument: .contiguous() makes them straight.",
    ".to(dtype) 会保持步长；dtype 本来就相同时，.to(dtype, memory_format=torch.contiguous_format) 也一样，"
    "因为它返回的就是参数自己：理顺步长要用 .contiguous()。",
)
LOOK_STREAM: Pair = (
    "set_stream() stays in force when the function returns; with torch.cuda.stream(…) it ends with the block.",
    "set_stream() 在函数返回之后仍然有效；with torch.cuda.stream(…) 到块结束就恢复。",
)


class Trial:
    """Copies in both directions, and what should have come.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        rng: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, rng: Random) -> None:
        self.solution = solution
        self.expect = expect
        self.evidence = evidence
        self.rng = rng
        self._came: list[tuple[str, Tensor, Tensor]] = []

    def upload(self, source: Tensor, dtype: torch.dtype, name: str = "upload()") -> Tensor:
        """Upload a host tensor; the form is checked now, the values in :meth:`settle`."""
        __tracebackhide__ = True
        wanted = source.to(dtype, copy=True).contiguous()
        answer = self._call("upload", source, dtype)
        tensor = self._check_form(answer, name, wanted, "cuda")
        self._came.append((name, tensor, wanted))
        return tensor

    def download(self, source: Tensor, dtype: torch.dtype) -> Any:
        """Queue a download; that it can be read is checked."""
        __tracebackhide__ = True
        answer = self._call("download", source, dtype)
        if isinstance(answer, Tensor) or not hasattr(answer, "read"):
            name = type(answer).__name__
            what = (f"download() returned {name}, not a Download", f"download() 返回了 {name}，而不是 Download")
            look = ("The bytes come later: read() waits for them.", "字节晚些才到：由 read() 去等。")
            self.expect.fail(what, "Download", name, look)
        return answer

    def read(self, coming: Any, wanted: Tensor, name: str = "read()") -> Tensor:
        """Read a download; the form is checked now, the values as they are now in :meth:`settle`."""
        __tracebackhide__ = True
        tensor = self._check_form(coming.read(), name, wanted, "cpu")
        self._came.append((name, tensor.clone(), wanted))
        return tensor

    def note(self, name: str, tensor: Tensor, wanted: Tensor) -> None:
        """Note what came, and what should have come, for :meth:`settle`; the form is checked now."""
        __tracebackhide__ = True
        self._came.append((name, self._check_form(tensor, name, wanted, None), wanted))

    def settle(self, seen: Any = None) -> None:
        """Fail if there was a race, or if a value is wrong; write all down as evidence.

        Args:
            seen: what ``watch()`` gave, after its block.

        Synchronises: yes.
        """
        __tracebackhide__ = True
        if seen is not None:
            self.expect.ordered(seen, *explain_race(seen.races))
        written = []
        for name, tensor, wanted in self._came:
            found = tensor.cpu()
            what = (f"{name} holds the wrong values", f"{name} 的值不对")
            self.expect.equal(found, wanted, what, LOOK_BYTES)
            written.append(_write_down(found))
        self.evidence.exact("came", written, labels=[name for name, _, _ in self._came])

    def draw(self, *shape: int, dtype: torch.dtype = torch.float32, pinned: bool = False) -> Tensor:
        """Return a host tensor of small whole numbers, which every dtype holds exactly."""
        generator = torch.Generator().manual_seed(self.rng.getrandbits(32))
        drawn = torch.randint(0, 2 if dtype is torch.bool else 100, shape, generator=generator).to(dtype)
        return drawn.pin_memory() if pinned else drawn

    def _call(self, name: str, *arguments: Any) -> Any:
        __tracebackhide__ = True
        caller = torch.cuda.current_stream()
        answer = getattr(self.solution, name)(*arguments)
        what = (f"After {name}() another stream is current", f"{name}() 之后，当前流变了")
        self.expect.true(torch.cuda.current_stream() == caller, what, LOOK_STREAM)
        return answer

    def _check_form(self, answer: object, name: str, wanted: Tensor, device: str | None) -> Tensor:
        __tracebackhide__ = True
        tensor = self.expect.tensor(answer, name, dtype=wanted.dtype, shape=wanted.shape, device=device)
        what = (f"{name} is not contiguous", f"{name} 不连续")
        self.expect.true(tensor.is_contiguous(), what, LOOK_CONTIGUOUS, actual=tensor.stride())
        return tensor  # type: ignore[no-any-return]


def _write_down(tensor: Tensor) -> dict[str, Any]:
    """Return shape, dtype and values as plain data; of more than 64 values the sum and both ends."""
    values = tensor.reshape(-1).to(torch.float64)
    shown = values if len(values) <= 64 else torch.cat([values[:8], values[-8:], values.sum().view(1)])
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype), "values": shown.tolist()}


@pytest.fixture
def trial(solution: ModuleType, expect: Any, evidence: Any, rng: Random) -> Trial:
    """Return a trial of the solution's copies."""
    return Trial(solution, expect, evidence, rng)


@pytest.fixture
def side_stream() -> Any:
    """Return a stream of the caller's own; its priority keeps it apart from the 32 that ``Stream()`` hands out."""
    return torch.cuda.Stream(priority=-1)


@pytest.fixture
def busy() -> Any:
    """Return a function that gives the current stream some 1 ms of work, or a multiple of it."""
    return lambda times=1: torch.cuda._sleep(SLEEP_CYCLES * times)
