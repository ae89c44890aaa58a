"""Classes in the place of ``torch.Event`` and ``torch.Stream``: C's methods can't be wrapped, these can. (torch)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from judge.devices.sim.patches import Patches

Call = Callable[..., Any]


def replace_event(patches: Patches) -> type:
    """Put a class of our own in the place of ``torch.Event``, and return it: its methods can be wrapped."""
    return _replace(patches, "Event", ("record", "wait", "synchronize", "query"))


def replace_stream(patches: Patches) -> type:
    """Put a class of our own in the place of ``torch.Stream``, and return it: its methods can be wrapped.

    It records events and waits for streams by events of whatever ``torch.Event`` is then.
    """
    stream = _replace(patches, "Stream", ("synchronize", "query"))

    def record_event(self: Any, event: Any = None) -> Any:  # noqa: ANN401  # streams and events of either class
        event = torch.Event(self.device) if event is None else event
        event.record(self)
        return event

    def wait_event(self: Any, event: Any) -> None:  # noqa: ANN401  # streams and events of either class
        event.wait(self)

    def wait_stream(self: Any, other: Any) -> None:  # noqa: ANN401  # streams of either class
        wait_event(self, other.record_event())

    for method in (record_event, wait_event, wait_stream):
        setattr(stream, method.__name__, method)
    return stream


def _replace(patches: Patches, name: str, methods: tuple[str, ...]) -> type:
    stock: Any = getattr(torch, name)

    class Kind(type(stock)):  # type: ignore[misc]  # of C's making
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, stock)

    ours: type = Kind(
        name, (stock,), {"__module__": "torch", **{method: _pass_on(stock, method) for method in methods}}
    )
    patches.set(torch, name, ours)
    return ours


def _pass_on(stock: type, name: str) -> Call:
    def call(self: Any, *args: Any) -> Any:  # noqa: ANN401  # passed on as they are
        return getattr(stock, name)(self, *args)

    return call
