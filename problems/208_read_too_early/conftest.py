"""What the tests of this problem share: a desk that pushes into the solution's mailbox and checks what comes back."""

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
    "When may the host read the slot? When may the slot be lent again? What may the caller do with the tensor between?",
    "主机何时可以读槽？槽何时可以再借出？在这中间，调用者可以对张量做什么？",
)

LOOK_FREE: Pair = (
    "A slot is free before its first push, once its ticket has been read, and when its ticket has been dropped: does "
    "anything but the caller refer to a ticket? Is a slot passed over because it is not its turn?",
    "槽在第一次 push 之前、票被读过之后、票被丢掉之后，都是空闲的：除了调用者，还有谁引用着票？"
    "是不是没轮到，就跳过了空闲的槽？",
)
LOOK_TICKET: Pair = (
    "A ticket has ready() and read(): the bytes come later, and push() does not wait for them.",
    "票有 ready() 和 read()：字节晚些才到，push() 并不等它们。",
)
LOOK_STREAM: Pair = (
    "set_stream() stays in force when the function returns; with torch.cuda.stream(…) it ends with the block.",
    "set_stream() 在函数返回之后仍然有效；with torch.cuda.stream(…) 到块结束就恢复。",
)
LOOK_FORM: Pair = (
    "Dtype and shape are those of the pushed tensor, bit for bit. A slot is bytes: view() gives them a dtype and a "
    "shape without converting anything.",
    "dtype 和形状就是推入张量的，每一位都一样。槽只是字节：用 view() 给它 dtype 和形状，不做任何转换。",
)
LOOK_GRAPH: Pair = (
    "As long as the result is kept, the graph keeps device memory. detach() cuts it off.",
    "结果留着，图就一直占着设备内存。detach() 可以切断它。",
)


class Desk:
    """Makes mailboxes of the solution, and knows what should be in them.

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
        self._rng = rng
        self._taken: list[tuple[int, Tensor, Tensor]] = []
        self._settled: list[Any] = []

    def open(self, slots: int, slot_bytes: int = 1 << 16) -> Any:
        """Return a mailbox of the solution's."""
        return self._solution.ResultMailbox(slots, slot_bytes)

    def push(self, box: Any, tensor: Tensor) -> Any:
        """Push a tensor where there must be a free slot; the ticket is checked."""
        __tracebackhide__ = True
        caller = torch.cuda.current_stream()
        try:
            ticket = box.push(tensor)
        except self._solution.MailboxFull:
            self._expect.fail(
                ("push() was refused, though a slot is free", "明明有空闲的槽，push() 却拒绝了"),
                "Ticket",
                "MailboxFull",
                LOOK_FREE,
            )
        if isinstance(ticket, Tensor) or not (hasattr(ticket, "read") and hasattr(ticket, "ready")):
            name = type(ticket).__name__
            what = (f"push() returned {name}, not a ticket", f"push() 返回了 {name}，而不是票")
            self._expect.fail(what, "Ticket", name, LOOK_TICKET)
        what = ("After push() another stream is current", "push() 之后，当前流变了")
        self._expect.true(torch.cuda.current_stream() == caller, what, LOOK_STREAM)
        return ticket

    def ready(self, ticket: Any) -> bool:
        """Ask a ticket; the answer is checked."""
        __tracebackhide__ = True
        answer = ticket.ready()
        if type(answer) is not bool:
            name = type(answer).__name__
            what = (f"ready() returned {name}, not bool", f"ready() 返回了 {name}，而不是 bool")
            self._expect.fail(what, "True or False", name)
        return answer

    def take(self, ticket: Any, wanted: Tensor, number: int = 0) -> Tensor:
        """Read a ticket; the form is checked now, the bytes in :meth:`settle`, behind the races that explain them.

        Args:
            ticket: of the solution's.
            wanted: what should come, on the host.
            number: of the ticket, for the messages.
        """
        __tracebackhide__ = True
        name = f"ticket {number}.read()"
        answer = self._expect.tensor(ticket.read(), name, device="cpu")
        result = self._expect.tensor(answer, name, dtype=wanted.dtype, shape=wanted.shape, look=LOOK_FORM)
        self._expect.true(
            result.is_contiguous(),
            (f"The result of ticket {number} is not contiguous", f"票 {number} 的结果不连续"),
            actual=result.stride(),
        )
        self._expect.true(
            not result.requires_grad,
            (f"The result of ticket {number} carries an autograd graph", f"票 {number} 的结果带着 autograd 图"),
            LOOK_GRAPH,
        )
        self._taken.append((number, result, wanted))
        return result

    def settle(self, seen: Any = None) -> None:
        """Fail if there was a race, or if what was taken is not what was pushed; and write it down as evidence.

        Args:
            seen: what ``watch()`` gave, after its block.
        """
        __tracebackhide__ = True
        if seen is not None:
            self._expect.ordered(seen, *explain_race(seen.races))
        taken, self._taken = self._taken, []
        for number, result, wanted in taken:
            what = (f"Ticket {number} brought the wrong bytes", f"票 {number} 带回的内容不对")
            self._expect.equal(result, wanted, what, LOOK_BYTES)
            self._settled.append(_write_down(result))
        labels = [f"read {at}" for at in range(len(self._settled))]
        self._evidence.exact("results", self._settled, labels=labels)

    def read(self, ticket: Any, wanted: Tensor, number: int = 0) -> Tensor:
        """Take and settle."""
        __tracebackhide__ = True
        result = self.take(ticket, wanted, number)
        self.settle()
        return result

    def refuse(self, kind: str | type[Exception], box: Any, tensor: Tensor, what: Pair) -> None:
        """Fail unless pushing raises."""
        __tracebackhide__ = True
        exception_type = getattr(self._solution, kind) if isinstance(kind, str) else kind
        self._expect.raises(exception_type, lambda: box.push(tensor), what)

    def draw(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return a host tensor of small whole numbers, which every dtype holds exactly."""
        generator = torch.Generator().manual_seed(self._rng.getrandbits(32))
        return torch.randint(0, 2 if dtype is torch.bool else 100, shape, generator=generator).to(dtype)

    def draw_values(self, count: int) -> list[int]:
        """Return different values, none of them 0, in a random order."""
        return self._rng.sample(range(1, 1000), count)


def _write_down(tensor: Tensor) -> dict[str, Any]:
    """Return shape, dtype and values as plain data; of more than 64 values the sum and both ends."""
    flat = tensor.detach().reshape(-1)
    flat = torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat
    values = flat.to(torch.float64)
    shown = values if len(values) <= 64 else torch.cat([values[:8], values[-8:], values.sum().view(1)])
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype), "values": shown.tolist()}


@pytest.fixture
def desk(solution: ModuleType, expect: Any, evidence: Any, rng: Random) -> Desk:
    """Return a desk for the solution's mailboxes."""
    return Desk(solution, expect, evidence, rng)


@pytest.fixture
def side_stream() -> Any:
    """Return a stream of the caller's own; its priority keeps it apart from the 32 that ``Stream()`` hands out."""
    return torch.cuda.Stream(priority=-1)


@pytest.fixture
def busy() -> Any:
    """Return a function that gives the current stream some 1 ms of work, or a multiple of it."""
    return lambda times=1: torch.cuda._sleep(SLEEP_CYCLES * times)
