"""What the surface knows of a call and the ops below it can't see, thread by thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

Direction = Literal["h2d", "d2h"]


class Backward(Protocol):
    """A backward pass."""

    def enter_step(self) -> None:
        """Make the stream of the present step current."""


class Context(threading.local):
    """The state of one thread's call."""

    is_host_factory = False
    """The user calls a factory such as ``torch.zeros`` by name: without ``device="cuda"`` it makes a host tensor."""
    transfer: Direction | None = None
    """``Tensor.to`` and its relatives: ``aten::_to_copy`` is to cross over in this direction."""
    call: str | None = None
    """What the user wrote, for the ledger of waits: ``Tensor.cpu``."""
    backward: Backward | None = None
    """The backward pass that is going on, where forward ops ran on several streams."""
    is_device_backward = False
    """A backward pass whose roots are on the device: what it makes from nothing is there too."""

    @contextmanager
    def named(self, call: str) -> Iterator[None]:
        """Say what the user wrote; the outermost name counts."""
        before = self.call
        if before is None:
            self.call = call
        try:
            yield
        finally:
            self.call = before
