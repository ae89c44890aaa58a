"""Gradients' last steps that outlive a warm-up, and break the capture of a backward pass. (torch)

The step that adds a gradient up belongs to the stream that was current when it came into being. It lives as long as any
graph of autograd that leads to it: a loss that is kept from the warm-up keeps it on the warm-up's stream.
"""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from judge.devices.sim.streams import Stream
    from judge.devices.sim.surface.autograd import ForwardStreams

_KEY = "judge.devices.sim stream"
_TEXT = (
    "During CUDA graph capture, autograd node '{name}' has a stale reference to the default stream (stream 0) from "
    "warmup. This will invalidate the capture because cudaStreamWaitEvent on the default stream pulls a non-capturing "
    "stream into the graph.\n\nTo fix, either:\n"
    "  (a) Run warmup on the same stream that capture will use, or\n"
    "  (b) Delete references to the loss / autograd graph (e.g. `del loss`) before capture, or\n"
    "  (c) Call torch.autograd.graph.set_override_stale_capture_stream(True) to automatically redirect stale nodes to "
    "the capturing stream."
)


def mark(forward: ForwardStreams) -> None:
    """Note on all such steps that are alive on which stream they came into being; called as a capture begins.

    The search through all objects takes tens of milliseconds: it is left out where autograd has made no step since the
    last one.
    """
    made = torch._C._autograd._get_sequence_nr()
    if forward.searched_at == made and threading.active_count() == 1:
        return
    forward.searched_at = made
    kinds = _find_kinds(torch.Tensor)
    waiting = [value.grad_fn for value in gc.get_objects() if type(value) in kinds and value.grad_fn is not None]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        for following, _ in node.next_functions:
            if following is None or following in seen:
                continue
            seen.add(following)
            if following.name() == "torch::autograd::AccumulateGrad":
                following.metadata[_KEY] = forward.find(node._sequence_nr())
            else:
                waiting.append(following)


def _find_kinds(kind: type) -> set[type]:
    """Return a class and all that derive from it."""
    kinds = {kind}
    derived: type
    for derived in type.__subclasses__(kind):
        kinds |= _find_kinds(derived)
    return kinds


def find_stream(node: Value, current: Stream) -> Stream | None:
    """Return the stream of a step that adds a gradient up; ``None`` for the one of what made the gradient.

    Raises:
        RuntimeError: the current stream is being captured, and the step belongs to the default stream; PyTorch's text.

    Source: ``maybe_override_stale_capture_stream``, torch/csrc/autograd/input_buffer.cpp, torch 2.13.
    """
    stream: Stream | None = node.metadata.get(_KEY)
    if stream is None or current.capture is None or stream.capture is not None:
        return stream
    is_overridden = getattr(torch._C, "_override_stale_capture_stream", None)
    if is_overridden is None:  # before 2.13 the wait itself fails
        return stream
    if is_overridden():
        return None
    if stream.is_default:
        raise RuntimeError(_TEXT.format(name=node.name()))
    return stream
