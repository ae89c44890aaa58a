"""What the tests of this problem share: a depot that stages bytes through the solution's ring and checks them."""

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

SIZE_BYTES = 1 << 12

LOOK_BYTES: Pair = (
    "A queued copy reads the buffer when it runs, not when it is called. Who wrote there in between, and which bytes "
    "of the buffer does the copy take?",
    "排入队列的拷贝是在执行时才读缓冲区的，不是在调用时。这期间谁往里写过？拷贝取的又是缓冲区的哪些字节？",
)
LOOK_BUFFER: Pair = (
    "acquire() returns a Buffer, whose memory is a pinned uint8 tensor of size_bytes bytes. Only copies from pinned "
    "memory are queued; any other holds the host.",
    "acquire() 返回 Buffer，它的 memory 是 size_bytes 字节的锁页 uint8 张量。只有从锁页内存出发，拷贝才只是入队。",
)
LOOK_STREAM: Pair = (
    "set_stream() stays in force when the function returns; with torch.cuda.stream(…) it ends with the block.",
    "set_stream() 在函数返回之后仍然有效；with torch.cuda.stream(…) 到块结束就恢复。",
)


class Depot:
    """Fills buffers, queues their copies, and knows what should arrive.

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
        self._sent: list[tuple[Tensor, Tensor]] = []
        self._held: dict[int, int] = {}

    def open(self, count: int, size_bytes: int = SIZE_BYTES) -> Any:
        """Make a ring; the device is idle then."""
        self.ring = self._solution.PinnedRing(count, size_bytes)
        self.size_bytes = size_bytes
        torch.cuda.synchronize()
        return self.ring

    def acquire(self) -> Any:
        """Acquire a buffer where there must be one; its form is checked, and that nobody holds it."""
        __tracebackhide__ = True
        try:
            buffer = self.ring.acquire()
        except self._solution.RingExhausted:
            what = (
                "acquire() was refused, though not all buffers are held",
                "并非所有缓冲区都被持有，acquire() 却拒绝了",
            )
            self._expect.fail(what, "Buffer", "RingExhausted")
        if isinstance(buffer, Tensor) or not hasattr(buffer, "memory"):
            name = type(buffer).__name__
            what = (f"acquire() returned {name}, not a Buffer", f"acquire() 返回了 {name}，而不是 Buffer")
            self._expect.fail(what, "Buffer", name, LOOK_BUFFER)
        memory = self._expect.tensor(
            buffer.memory, "buffer.memory", dtype=torch.uint8, shape=(self.size_bytes,), device="cpu"
        )
        what = ("buffer.memory is not pinned", "buffer.memory 不是锁页内存")
        self._expect.true(memory.is_pinned(), what, LOOK_BUFFER)
        address = memory.data_ptr()
        what = ("acquire() lent a buffer that somebody holds", "acquire() 借出了别人正持有的缓冲区")
        look = (
            "From acquire() to release() a buffer is its holder's, who may take long to fill it.",
            "从 acquire() 到 release()，缓冲区归持有者所有，填充可能要花很久。",
        )
        self._expect.true(address not in self._held, what, look)
        self._held[address] = 1
        return buffer

    def fill(self, buffer: Any, values: Tensor, offset_bytes: int = 0) -> None:
        """Write a tensor's bytes into a buffer that is held."""
        flat = values.contiguous().view(-1).view(torch.uint8)
        buffer.memory[offset_bytes : offset_bytes + len(flat)].copy_(flat)

    def copy(self, buffer: Any, values: Tensor, offset_bytes: int = 0) -> Tensor:
        """Queue the copy of what :meth:`fill` wrote, and note what should arrive."""
        __tracebackhide__ = True
        target = torch.empty(values.shape, dtype=values.dtype, device="cuda")
        caller = torch.cuda.current_stream()
        self.ring.copy(buffer, target, offset_bytes) if offset_bytes else self.ring.copy(buffer, target)
        what = ("After copy() another stream is current", "copy() 之后，当前流变了")
        self._expect.true(torch.cuda.current_stream() == caller, what, LOOK_STREAM)
        self._sent.append((target, values))
        return target

    def release(self, buffer: Any) -> None:
        """Release a buffer."""
        del self._held[buffer.memory.data_ptr()]
        self.ring.release(buffer)

    def stage(self, values: Tensor) -> None:
        """Send a tensor through the ring: acquire, fill, copy, release."""
        __tracebackhide__ = True
        buffer = self.acquire()
        self.fill(buffer, values)
        self.copy(buffer, values)
        self.release(buffer)

    def refuse(self, kind: str | type[Exception], call: Any, what: Pair) -> None:
        """Fail unless a call raises, and queues nothing."""
        __tracebackhide__ = True
        exception_type = getattr(self._solution, kind) if isinstance(kind, str) else kind
        self._expect.raises(exception_type, call, what)

    def settle(self, seen: Any = None) -> None:
        """Fail if there was a race, or if other bytes arrived than were sent; write them down as evidence.

        Args:
            seen: what ``watch()`` gave, after its block.

        Synchronises: yes.
        """
        __tracebackhide__ = True
        if seen is not None:
            self._expect.ordered(seen, *explain_race(seen.races))
        torch.cuda.synchronize()
        written = []
        for number, (target, wanted) in enumerate(self._sent):
            found = target.cpu()
            what = (f"Copy {number} brought the wrong bytes to the device", f"第 {number} 次拷贝送到设备的字节不对")
            self._expect.equal(found, wanted, what, LOOK_BYTES)
            written.append(_write_down(found))
        self._evidence.exact("arrived", written, labels=[f"copy {number}" for number in range(len(written))])

    def draw(self, *shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
        """Return a host tensor of small whole numbers, which every dtype holds exactly."""
        generator = torch.Generator().manual_seed(self.rng.getrandbits(32))
        return torch.randint(0, 2 if dtype is torch.bool else 100, shape, generator=generator).to(dtype)


def _write_down(tensor: Tensor) -> dict[str, Any]:
    """Return shape, dtype and values as plain data; of more than 64 values the sum and both ends."""
    flat = tensor.reshape(-1)
    flat = torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat
    values = flat.to(torch.float64)
    shown = values if len(values) <= 64 else torch.cat([values[:8], values[-8:], values.sum().view(1)])
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype), "values": shown.tolist()}


@pytest.fixture
def depot(solution: ModuleType, expect: Any, evidence: Any, rng: Random) -> Depot:
    """Return a depot for the solution's ring."""
    return Depot(solution, expect, evidence, rng)


@pytest.fixture
def side_stream() -> Any:
    """Return a stream of the caller's own; its priority keeps it apart from the 32 that ``Stream()`` hands out."""
    return torch.cuda.Stream(priority=-1)


@pytest.fixture
def is_beside() -> Any:
    """Return a function that tells whether a stream gets on while the current one is busy.

    A GPU has fewer queues than a process has streams, so two of them may share one: no fault of the solution's.
    """

    def find_out(stream: Any) -> bool:
        torch.cuda.synchronize()
        torch.cuda._sleep(20 * SLEEP_CYCLES)
        still = torch.cuda.current_stream().record_event()
        with torch.cuda.stream(stream):
            torch.zeros(1, device="cuda")
        stream.synchronize()
        is_free = not still.query()
        torch.cuda.synchronize()
        return is_free

    return find_out


@pytest.fixture
def busy() -> Any:
    """Return a function that gives the current stream some 1 ms of work, or a multiple of it."""
    return lambda times=1: torch.cuda._sleep(SLEEP_CYCLES * times)
