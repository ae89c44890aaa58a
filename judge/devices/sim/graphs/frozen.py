"""Operations frozen on their addresses: they can be done again on whatever bytes lie there then. (torch)"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from judge.devices.sim.tensors.arrivals import Arrival
from judge.devices.sim.tensors.membership import is_device, is_pinned
from judge.devices.sim.tensors.raw import layout_of

_AUTOCAST = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)


class Bare:
    """A context in which operators compute on bytes and nothing else: no dispatch, no autograd, no autocast.

    Entering it again inside, in the same thread, costs next to nothing.
    """

    def __enter__(self) -> None:
        _here.depth = getattr(_here, "depth", 0) + 1
        if _here.depth == 1:
            stack = _here.stack = contextlib.ExitStack()
            stack.enter_context(torch.inference_mode())
            stack.enter_context(torch._C._DisableTorchDispatch())
            stack.enter_context(torch._C._ExcludeDispatchKeyGuard(_AUTOCAST))

    def __exit__(self, *exception: object) -> None:
        _here.depth -= 1
        if _here.depth == 0:
            _here.stack.close()


_here = threading.local()
BARE = Bare()


def freeze_call(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], outputs: object
) -> Callable[[], None]:
    """Return a function that does an operation again on the same addresses.

    Tensors on the device and in pinned memory become views that own nothing, so a freed input is read as its next
    owner's bytes. Other tensors and Python numbers keep the values they have now, as kernel arguments do. Generators
    stay what they are: each run draws on.

    Args:
        func: the operator as it was called, with everything on the host's side of the dispatcher.
        args: its positional arguments.
        kwargs: its keyword arguments.
        outputs: the tensor or tensors that hold its result on the device; those among ``args`` are changed in place.

    Synchronises: no.
    """
    with torch.inference_mode(False):
        frozen_args = tuple([freeze(value) for value in args])
        frozen_kwargs = {name: freeze(value) for name, value in kwargs.items()}
        is_single = isinstance(outputs, Tensor)
        listed = [outputs] if not isinstance(outputs, tuple | list) else outputs
        places = [freeze(output) if isinstance(output, Tensor) else None for output in listed]

    def redo() -> None:
        with BARE:
            result = func(*frozen_args, **frozen_kwargs)
            results = [result] if is_single or not isinstance(result, tuple | list) else result
            for place, part in zip(places, results, strict=False):
                if place is not None and place.data_ptr() != part.data_ptr():
                    place.copy_(part)

    return redo


def freeze_download(target: Tensor, source: Tensor) -> Callable[[], Arrival]:
    """Return a function that copies from the device to pinned memory again, addresses frozen.

    Args:
        target: in pinned memory.
        source: on the device, with the same number of elements.

    Returns:
        Running it reads the device; what it returns writes the host's bytes, once the host is ordered after the copy.
    """
    place = layout_of(target)
    with torch.inference_mode(False):
        frozen_source = freeze(source)

    def redo() -> Arrival:
        with BARE:
            return Arrival(place, frozen_source.clone())

    return redo


def freeze(value: Any) -> Any:  # noqa: ANN401  # whatever operators take
    """Return a value as a kernel keeps it: addresses for tensors of the device, copies of tensors of the host."""
    if isinstance(value, Tensor):
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            if is_device(value) or is_pinned(value):
                return layout_of(value).view()
            return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(freeze(part) for part in value)
    return value
