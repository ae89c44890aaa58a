"""Give a class of PyTorch another base, so that its own Python code runs over ours (torch)."""

from __future__ import annotations

import sys
from types import CellType, FunctionType
from typing import Any

from judge.devices.sim.patches import Patches


def swap_base(patches: Patches, kind: type[Any], base: type[Any]) -> type[Any]:
    """Put ``base`` under a class, and return the class that takes its place.

    Where PyTorch is built without CUDA, the class is a plain one over a dummy, and stays the same object. A build with
    CUDA has a C type there, which Python will not swap: then a copy of the class takes its name in every module of
    torch that has it.
    """
    before = kind.__bases__
    try:
        kind.__bases__ = (base,)
    except TypeError:
        return _replace(patches, kind, _copy(kind, base))
    patches.add_undo(lambda: setattr(kind, "__bases__", before))
    return kind


def _copy(kind: type[Any], base: type[Any]) -> type[Any]:
    """Return a class with the body of another; its methods' ``super()`` starts from the new class."""
    cell = CellType()
    body = {name: _rebind(value, cell) for name, value in vars(kind).items() if name not in ("__dict__", "__weakref__")}
    make: Any = type(base)
    copy: type[Any] = make(kind.__name__, (base,), body)
    copy.__qualname__ = kind.__qualname__
    cell.cell_contents = copy
    return copy


def _rebind(value: object, cell: CellType) -> object:
    """Return a member of a class body whose ``__class__`` is the content of ``cell``."""
    if isinstance(value, staticmethod):
        return staticmethod(_rebind(value.__func__, cell))  # type: ignore[arg-type]  # a function again
    if isinstance(value, classmethod):
        return classmethod(_rebind(value.__func__, cell))  # type: ignore[arg-type]  # a function again
    if isinstance(value, property):
        get, set_, delete = (_rebind(part, cell) for part in (value.fget, value.fset, value.fdel))
        return property(get, set_, delete, value.__doc__)  # type: ignore[arg-type]  # functions or None again
    if not isinstance(value, FunctionType) or "__class__" not in value.__code__.co_freevars:
        return value
    names = value.__code__.co_freevars
    closure = tuple(
        cell if name == "__class__" else old for name, old in zip(names, value.__closure__ or (), strict=True)
    )
    copy = FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, closure)
    copy.__kwdefaults__ = value.__kwdefaults__
    copy.__doc__, copy.__qualname__, copy.__module__ = value.__doc__, value.__qualname__, value.__module__
    return copy


def _replace(patches: Patches, kind: type[Any], copy: type[Any]) -> type[Any]:
    """Let a copy take a class's name wherever torch has it, and torch's subclasses of the class follow."""
    for name, module in list(sys.modules.items()):
        if name.split(".", 1)[0] == "torch" and module is not None:
            for attribute, value in list(vars(module).items()):
                if value is kind:
                    patches.set(module, attribute, copy)
    for child in kind.__subclasses__():
        if child.__module__.split(".", 1)[0] == "torch" and child.__bases__ == (kind,):
            swap_base(patches, child, copy)
    return copy
