"""Backward passes: each step on the stream of its forward op, joined with the caller's at the end. (torch)"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import graph

from judge.devices.sim.surface import stale_gradients
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.machine import Machine
    from judge.devices.sim.patches import Patches
    from judge.devices.sim.streams import Stream

NO_FORWARD = 1 << 63
"""Sequence numbers from here on mark steps without a forward op: gradients are added up."""


class ForwardStreams(threading.local):
    """On which stream each forward op of a thread ran.

    Autograd numbers its steps in order, so it is enough to note the number at which the current stream changed.

    Args:
        default: where every thread begins.
    """

    def __init__(self, default: Stream) -> None:
        self._starts: list[int] = []
        self._streams: list[Stream] = [default]
        self.searched_at = torch._C._autograd._get_sequence_nr()
        """How many steps there had been when objects were last searched for them."""

    def note(self, stream: Stream) -> None:
        """Take note that a stream becomes current."""
        if self._streams[-1] is not stream:
            self._starts.append(torch._C._autograd._get_sequence_nr())
            self._streams.append(stream)

    @property
    def are_several(self) -> bool:
        """Whether there ever was another stream than the first."""
        return len(self._streams) > 1

    def find(self, number: int) -> Stream:
        """Return the stream of the op with a sequence number."""
        return self._streams[bisect_right(self._starts, number)]


class Backward:
    """A backward pass that is going on.

    Args:
        machine: the device.
        forward: where the forward ops ran.

    Source: ``Engine::evaluate_function`` and ``InputBuffer::add``, torch/csrc/autograd, torch 2.13: each step runs on
    the stream of its forward op, which waits for the streams that its inputs come from; at the end the caller's stream
    waits for all.
    """

    def __init__(self, machine: Machine, forward: ForwardStreams) -> None:
        self._machine = machine
        self._forward = forward
        self._caller = machine.current
        self._used = [self._caller]
        self._node: Value = None

    def enter_step(self) -> None:
        """Make the stream of the present step current."""
        node = torch._C._current_autograd_node()
        if node is None or node is self._node:
            return
        self._node = node
        machine = self._machine
        number = node._sequence_nr()
        stream = (
            self._forward.find(number) if number < NO_FORWARD else stale_gradients.find_stream(node, machine.current)
        )
        if stream is None or stream is machine.current:
            return
        for other in self._used:
            if other is not stream:
                machine.wait_stream(stream, other)
        if stream not in self._used:
            self._used.append(stream)
        machine.current = stream

    def finish(self) -> None:
        """Make the caller's stream current again, after all that were used."""
        machine = self._machine
        machine.current = self._caller
        for stream in self._used:
            if stream is not self._caller:
                machine.wait_stream(self._caller, stream)


def install(simulation: Simulation, patches: Patches) -> None:
    """Run backward passes as CUDA's engine orders them."""
    machine, context = simulation.machine, simulation.context
    forward = ForwardStreams(machine.streams.default)
    machine.on_switch = forward.note

    def make(stock: Callable[..., Any]) -> Callable[..., Any]:
        def run_backward(roots: Sequence[Any], *args: Value, **kwargs: Value) -> Value:
            before = context.is_device_backward, context.backward
            context.is_device_backward = any(isinstance(root, torch.Tensor) and is_device(root) for root in roots)
            backward = Backward(machine, forward) if forward.are_several else None
            context.backward = backward
            try:
                return stock(roots, *args, **kwargs)
            finally:
                context.is_device_backward, context.backward = before
                if backward is not None:
                    backward.finish()

        return run_backward

    def make_begin(stock: Callable[..., Any]) -> Callable[..., Any]:
        def begin(self: Value, *args: Value, **kwargs: Value) -> Value:
            stale_gradients.mark(forward)
            return stock(self, *args, **kwargs)

        return begin

    patches.wrap(torch.cuda.CUDAGraph, "capture_begin", make_begin)
    for module in (graph, torch.autograd):
        patches.wrap(module, "_engine_run_backward", make)
