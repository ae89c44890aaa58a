"""A forward that raises is never ended, and what follows belongs to its module.

Caught by: test_3_modules.py::test_a_module_that_raises_has_ended
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from math import prod
from types import TracebackType
from typing import Any, Self

from torch import Tensor, nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

OUTSIDE = "(outside)"
"""Where an operation belongs that no module's forward runs."""

ALLOCATES_ONLY = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"})
"""ATen operations that take memory, and write nothing to it."""

OVERWRITES = frozenset({"copy_", "fill_", "zero_"})
"""ATen operations in place that do not read what they write to."""


@dataclass
class Tally:
    """What some operations come to. Given: leave it as it is.

    Args:
        kernels: operations that launch work.
        views: operations that launch nothing.
        read_bytes: read by the kernels.
        written_bytes: written by the kernels.
    """

    kernels: int = 0
    views: int = 0
    read_bytes: int = 0
    written_bytes: int = 0


class OpCounter:
    """Counts the ATen operations of a ``with`` block, those of a backward pass too.

    Args:
        model: whose modules are told apart in :attr:`by_module`; none if left out.
    """

    def __init__(self, model: nn.Module | None = None) -> None:
        self.total = Tally()
        self.by_op: dict[str, Tally] = {}
        self.by_module: dict[str, Tally] = {}
        self._modules = [] if model is None else list(model.named_modules())
        self._running: list[str] = []  # the modules whose forward runs, the innermost last
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Begin to count, or go on."""
        for name, module in self._modules:
            before = module.register_forward_pre_hook(partial(self._begin, name))
            after = module.register_forward_hook(self._end)
            self._open.callback(before.remove)
            self._open.callback(after.remove)
        self._open.enter_context(_Listener(self._count))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop counting, and leave nothing behind; an exception goes on to the caller."""
        self._open.close()

    def _begin(self, name: str, *_: object) -> None:
        self._running.append(name)

    def _end(self, *_: object) -> None:
        self._running.pop()

    def _count(self, op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], result: object) -> None:
        """Add one operation to each tally that it belongs to. No tensor is kept."""
        name = self._running[-1] if self._running else OUTSIDE
        by_op = self.by_op.setdefault(str(op), Tally())
        by_module = self.by_module.setdefault(name, Tally())
        found = _weigh(op, args, kwargs, result)
        for tally in (self.total, by_op, by_module):
            tally.kernels += found.kernels
            tally.views += found.views
            tally.read_bytes += found.read_bytes
            tally.written_bytes += found.written_bytes


class _Listener(TorchDispatchMode):
    """Tells of every operation that has run."""

    def __init__(self, tell: Callable[[OpOverload, tuple[Any, ...], dict[str, Any], object], None]) -> None:
        super().__init__()
        self._tell = tell

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to skip it, the first operation would import all of it, which takes seconds

    def __torch_dispatch__(
        self, op: OpOverload, types: object, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> object:
        kwargs = kwargs or {}
        with self:  # under inference_mode a composite comes as a whole: let its parts come instead
            parts = op.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        result = op(*args, **kwargs)
        self._tell(op, args, kwargs, result)
        return result


def _weigh(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], result: object) -> Tally:
    """Return what one operation comes to."""
    name = op._schema.name.removeprefix("aten::")
    if op.is_view or name == "_unsafe_view" or name in ALLOCATES_ONLY:
        return Tally(views=1)
    read: dict[int, Tensor] = {}
    written = _find_tensors(result)
    for position, argument in enumerate(op._schema.arguments):
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        given = _find_tensors(value)
        is_written = argument.alias_info is not None and argument.alias_info.is_write
        if is_written:
            written |= given
        if not is_written or not (argument.kwarg_only or name in OVERWRITES):
            read |= given
    return Tally(1, 0, _sum_bytes(read), _sum_bytes(written))


def _find_tensors(value: object) -> dict[int, Tensor]:
    """Return the tensors in a value, also inside lists and tuples, each once."""
    return {id(leaf): leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)}


def _sum_bytes(tensors: dict[int, Tensor]) -> int:
    """Return the bytes of some tensors; what a stride of 0 repeats is one element."""
    return sum(_count_elements(tensor) * tensor.element_size() for tensor in tensors.values())


def _count_elements(tensor: Tensor) -> int:
    return prod(size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride != 0 or size == 0)
