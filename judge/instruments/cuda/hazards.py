"""Races on a real GPU: what operators touch and how streams are ordered, for the simulated device's search. (torch)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree

from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.naming import find_variable
from judge.devices.sim.races.shadow import Shadow
from judge.devices.sim.sites import Site
from judge.devices.sim.tensors.accesses import access_of
from judge.devices.sim.tensors.oprules import Rule, Rules
from judge.instruments.cuda.lives import Lives
from judge.instruments.cuda.order import Order
from judge.instruments.cuda.ordering import OrderingCalls
from judge.instruments.observation import Race
from judge.instruments.races import as_race

PLAIN = (torch.Tensor, torch.nn.Parameter)


class Operation(NamedTuple):
    """An operator that has run."""

    func: Any
    """The overload."""
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    result: Any
    stream: int
    """Handle of the stream that it was queued on."""
    site: Site
    """The user's line."""


class Hazards:
    """Collects races from ``start`` to ``stop``."""

    def __init__(self) -> None:
        self._rules = Rules()
        self._begin_anew()

    @property
    def races(self) -> list[Race]:
        """What was found since the start, each once."""
        return [as_race(race) for race in self._shadow.races]

    def start(self) -> None:
        """Begin; what ran before is taken to be ordered. *Synchronises: yes.*"""
        torch.cuda.synchronize()
        self._begin_anew()
        self._calls.start()

    def stop(self) -> None:
        """End."""
        self._calls.stop()
        self._lives.clear()

    def _begin_anew(self) -> None:
        self._was_backward = False
        self._order = Order(lambda: self._shadow.settle())
        self._calls = OrderingCalls(self._order)
        self._lives = Lives(self._order)
        self._shadow = Shadow(
            name_of=self._name_actor,
            host=self._order.host,
            code_of=lambda actor: find_variable(self._order.handle_of(actor) or 0),
            actor_of=self._order.actor_of,
            former_of=self._lives.find_former,
        )

    def note_operation(self, done: Operation) -> None:
        """Note what an operator has read and written. What goes into a capture is touched by its replays."""
        if torch.cuda.is_current_stream_capturing():
            return
        rule = self._rules[done.func]
        given, written = _list_given(rule, done.args, done.kwargs)
        made = _list_tensors(done.result)
        known = {tensor.untyped_storage().data_ptr() for tensor in given}
        fresh = [tensor for tensor in made if tensor.untyped_storage().data_ptr() not in known]
        self._lives.settle(self._shadow)
        for tensors, stream in ((given, None), (fresh, done.stream)):
            for tensor in tensors:
                self._lives.see(tensor, self._shadow, stream, done.site)
        if not rule.makes_kernel or not (written or fresh or (given and not made)):
            return  # a view touches nothing
        changed = [tensor for tensor in given if id(tensor) in written]
        reads = () if rule.reads_nothing else _find_bytes(tensor for tensor in given if id(tensor) not in written)
        writes = _find_bytes([*changed, *fresh])
        if rule.is_atomic:
            writes = tuple(access._replace(is_atomic=True) for access in writes)
        self._enter(done, reads, writes, rule.kernel)

    def _enter(self, done: Operation, reads: Sequence[Access], writes: Sequence[Access], kernel: str) -> None:
        is_backward = torch._C._current_graph_task_id() != -1
        if is_backward or self._was_backward:
            # Autograd orders its streams, and in the end the caller's after them, out of sight.
            self._order.join(done.stream)
        self._was_backward = is_backward
        actor, vector = self._order.launch(done.stream)
        self._shadow.access(actor, vector, reads, writes, kernel, done.site)

    def note_record(self, tensor: torch.Tensor, stream: int) -> None:
        """Note that ``record_stream`` was told of a stream."""
        self._lives.record(tensor.untyped_storage().data_ptr(), stream)

    def note_wait(self, stream: int) -> None:
        """Note that the host waited for a stream inside an operator."""
        self._order.see_stream(stream)

    def _name_actor(self, actor: int) -> str:
        handle = self._order.handle_of(actor)
        return "host" if handle is None else name_stream(handle)


def _list_given(rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[torch.Tensor], set[int]]:
    """Return the tensors of the device that an operator was given, and the identities of those that it changes."""
    given: list[torch.Tensor] = []
    written: set[int] = set()
    for slot in rule.slots:
        value = args[slot.position] if slot.position < len(args) else kwargs.get(slot.name)
        tensors = _list_tensors(value)
        given += tensors
        if slot.is_written:
            written |= {id(tensor) for tensor in tensors}
    return given, written


def _list_tensors(value: Any) -> list[torch.Tensor]:  # noqa: ANN401  # whatever operators take and give
    """Return the tensors of the device in a value; what only stands for a tensor has no memory."""
    return [leaf for leaf in _pytree.tree_leaves(value) if type(leaf) in PLAIN and leaf.is_cuda and _is_dense(leaf)]


def _is_dense(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided


def _find_bytes(tensors: Iterable[torch.Tensor]) -> tuple[Access, ...]:
    return tuple(access for tensor in tensors if (access := access_of(tensor)) is not None)


def name_stream(handle: int) -> str:
    """Return how reports call a stream, by its handle."""
    return "default" if handle == 0 else f"stream {handle:#x}"
