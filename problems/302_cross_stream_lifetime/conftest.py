"""What the tests of this problem share: a yard with a cache, a lane of the solution's, and streams that are busy."""

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

BLOCKS = 12
WIDTH = 1 << 10
"""Elements of a block, unless a test says otherwise: 4 KiB of float32."""

LOOK_BYTES: Pair = (
    "Which work wrote these bytes last, on which stream? Draw the streams as rows, the uses of this memory as boxes, "
    "and look for two boxes without an arrow between them.",
    "最后写这些字节的是哪项工作，在哪个流上？把流画成行，把这块内存的每次使用画成方框，找一找哪两个方框之间没有箭头。",
)

LOOK_STREAM: Pair = (
    "set_stream() stays in force when the function returns; with torch.cuda.stream(…) it ends with the block.",
    "set_stream() 在函数返回之后仍然有效；with torch.cuda.stream(…) 到块结束就恢复。",
)


class Yard:
    """A cache whose blocks hold values that the test knows, and the lane that works on it.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        rng: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, rng: Random) -> None:
        self._solution = solution
        self._expect = expect
        self._evidence = evidence
        self.rng = rng
        self._read: list[tuple[str, Tensor, Tensor]] = []

    def open(self, width: int = WIDTH, dtype: torch.dtype = torch.float32) -> Any:
        """Make a cache and a lane for it; the device is idle then, and what is done once has been done."""
        self.model = self.draw(BLOCKS, width, dtype=dtype)
        """What the cache should hold, on the host."""
        self.lane = self._solution.SideLane(self.model.to("cuda"))
        torch.cuda.synchronize()
        return self.lane

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the lane; the kind of its answer and the current stream are checked."""
        __tracebackhide__ = True
        caller = torch.cuda.current_stream()
        answer = getattr(self.lane, name)(*arguments)
        what = (f"After {name}() another stream is current", f"{name}() 之后，当前流变了")
        self._expect.true(torch.cuda.current_stream() == caller, what, LOOK_STREAM)
        kind = {"save": "HostCopy", "logprobs": "HostCopy", "fetch": "Fetched"}.get(name)
        if kind is not None and not isinstance(answer, getattr(self._solution, kind)):
            found = type(answer).__name__
            what = (f"{name}() returned {found}, not {kind}", f"{name}() 返回了 {found}，而不是 {kind}")
            self._expect.fail(what, kind, found)
        return answer

    def save(self, blocks: list[int]) -> Any:
        """Save blocks, and overwrite them in the cache, as the next request does."""
        __tracebackhide__ = True
        index = torch.tensor(blocks, dtype=torch.int64).pin_memory().to("cuda", non_blocking=True)
        saved = self.call("save", index)
        self.lane.cache.index_fill_(0, index, -1)
        return saved

    def place(self, fetched: Any, blocks: list[int], wanted: Tensor) -> None:
        """Place fetched blocks, and note in the model what should stand there."""
        __tracebackhide__ = True
        index = torch.tensor(blocks, dtype=torch.int64).pin_memory().to("cuda", non_blocking=True)
        self.call("place", fetched, index)
        self.model[blocks] = wanted

    def reuse(self, *like: Tensor) -> None:
        """Do what the next step does: take memory of these sizes on the current stream, and write to it."""
        for tensor in like:
            torch.full(tensor.shape, 77, dtype=tensor.dtype, device="cuda")

    def take(self, copy: Any, wanted: Tensor, name: str) -> None:
        """Read what came to the host; the form is checked now, the values in :meth:`settle`, behind the races."""
        __tracebackhide__ = True
        tensor = self._expect.tensor(copy.read(), name, dtype=wanted.dtype, shape=wanted.shape, device="cpu")
        what = (f"{name} is not pinned and contiguous", f"{name} 不是锁页且连续的")
        found = f"pinned: {tensor.is_pinned()}, contiguous: {tensor.is_contiguous()}"
        is_right = tensor.is_contiguous() and (tensor.is_pinned() or not tensor.numel())
        self._expect.true(is_right, what, expected="pinned: True, contiguous: True", actual=found)
        self._read.append((name, tensor.clone(), wanted))

    def settle(self, seen: Any = None) -> None:
        """Fail if there was a race, or if a value is wrong on the host or in the cache; write all down as evidence.

        Args:
            seen: what ``watch()`` gave, after its block.

        Synchronises: yes.
        """
        __tracebackhide__ = True
        if seen is not None:
            self._expect.ordered(seen, *explain_race(seen.races))
        for name, tensor, wanted in self._read:
            what = (f"{name} holds the wrong values", f"{name} 的值不对")
            if wanted.is_floating_point() and "logprobs" in name:
                is_close = torch.allclose(tensor, wanted, rtol=1e-5, atol=1e-5)
                self._expect.true(is_close, what, LOOK_BYTES, expected=_show(wanted), actual=_show(tensor))
            else:
                self._expect.equal(tensor, wanted, what, LOOK_BYTES)
        names = [name for name, _, _ in self._read]
        self._evidence.close("read", [_write_down(tensor) for _, tensor, _ in self._read], rtol=1e-4, atol=1e-4)
        self._evidence.exact("names", names)

    def check_cache(self) -> None:
        """Fail unless the cache holds what the model says. *Synchronises: yes.*"""
        __tracebackhide__ = True
        torch.cuda.synchronize()
        found = self.lane.cache.cpu()
        wrong = [block for block in range(BLOCKS) if not torch.equal(found[block], self.model[block])]
        what = ("Blocks of the cache hold the wrong values", "缓存中有些块的值不对")
        self._expect.equal(wrong, [], what, LOOK_BYTES)
        self._evidence.exact("cache", _write_down(found))

    def draw(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return a host tensor of small whole numbers, which every dtype holds exactly."""
        generator = torch.Generator().manual_seed(self.rng.getrandbits(32))
        return torch.randint(0, 64, shape, generator=generator).to(dtype)


def _show(tensor: Tensor) -> str:
    return str([round(value, 4) for value in tensor.flatten()[:6].tolist()]) + (" …" if tensor.numel() > 6 else "")


def _write_down(tensor: Tensor) -> list[float]:
    """Return the size and the values; of more than 64 the sum and both ends."""
    values = tensor.reshape(-1).to(torch.float64)
    shown = values if len(values) <= 64 else torch.cat([values[:8], values[-8:], values.sum().view(1)])
    return [float(size) for size in tensor.shape] + shown.tolist()


@pytest.fixture
def yard(solution: ModuleType, expect: Any, evidence: Any, rng: Random) -> Yard:
    """Return a yard for the solution's lane."""
    return Yard(solution, expect, evidence, rng)


@pytest.fixture
def side_stream() -> Any:
    """Return a stream of the caller's own; its priority keeps it apart from the 32 that ``Stream()`` hands out."""
    return torch.cuda.Stream(priority=-1)


@pytest.fixture
def is_beside() -> Any:
    """Return a function that tells whether one stream gets on while another is busy.

    A GPU has fewer queues than a process has streams, so two of them may share one: no fault of the solution's.
    """

    def find_out(busy_stream: Any, stream: Any) -> bool:
        torch.cuda.synchronize()
        with torch.cuda.stream(busy_stream):
            torch.cuda._sleep(20 * SLEEP_CYCLES)
            still = torch.cuda.current_stream().record_event()
        with torch.cuda.stream(stream):
            torch.zeros(1, device="cuda")
            torch.cuda.current_stream().record_event().synchronize()
        is_free = not still.query()
        torch.cuda.synchronize()
        return is_free

    return find_out


@pytest.fixture
def busy() -> Any:
    """Return a function that gives a stream some 1 ms of work, or a multiple of it."""

    def sleep(stream: Any = None, times: int = 1) -> None:
        with torch.cuda.stream(stream):
            torch.cuda._sleep(SLEEP_CYCLES * times)

    return sleep
