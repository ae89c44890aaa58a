"""``torch.zeros``, ``torch.tensor`` and their relatives: what the user calls by name is where it says. (torch)"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._device import _device_constructors

from judge.devices.sim.surface.conversion import Crossing
from judge.devices.sim.surface.places import CPU, find_default_device, read_device
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

Tensor = torch.Tensor
FROM_DATA = ("tensor", "as_tensor", "asarray")
LIKE = ("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like")
_RANGE_TEXT = (
    "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
    "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
)
NEW = ("new_zeros", "new_ones", "new_empty", "new_full", "new_empty_strided")


def install(simulation: Simulation, patches: Patches) -> None:
    """Mark the factories that a user calls, and send what comes from Python data over by a copy."""
    known = _device_constructors()
    plain = [
        name
        for name, value in vars(torch).items()
        if name not in (*FROM_DATA, *LIKE) and callable(value) and _is_among(value, known)
    ]
    for name in (*plain, "normal", "from_numpy", "frombuffer"):
        patches.wrap(torch, name, functools.partial(_mark, simulation, follows_tensor=False))
    for name in LIKE:
        patches.wrap(torch, name, functools.partial(_mark, simulation, follows_tensor=True))
    for name in NEW:
        patches.wrap(Tensor, name, functools.partial(_mark, simulation, follows_tensor=True))
    patches.wrap(torch, "range", _make_range)
    for name in FROM_DATA:
        patches.wrap(torch, name, functools.partial(_send, simulation))


def _make_range(stock: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.range`` guards the device before dispatch sees the call."""

    @functools.wraps(stock)
    def make(*args: Value, device: Value = None, requires_grad: bool = False, **kwargs: Value) -> Value:
        place = find_default_device() if device is None else read_device(device, "torch.range")
        if place.type != "cuda" or "out" in kwargs or len(args) + ("start" in kwargs) + ("end" in kwargs) < 2:
            return stock(*args, device=device, requires_grad=requires_grad, **kwargs)
        warnings.warn(_RANGE_TEXT, stacklevel=2)
        start, end, step = [*args, None, None, None][:3]
        start, end, step = kwargs.pop("start", start), kwargs.pop("end", end), kwargs.pop("step", step or 1)
        made = torch.ops.aten.range.step(start, end, step, device=place, **kwargs)
        return made.requires_grad_(requires_grad)

    return make


def _is_among(value: Value, known: set[Any]) -> bool:
    try:
        return value in known
    except TypeError:  # not hashable
        return False


def _mark(simulation: Simulation, stock: Callable[..., Any], *, follows_tensor: bool) -> Callable[..., Any]:
    """Let a factory that names no device, or the host, make a tensor of the host and not an undecided one."""
    context = simulation.context
    call = f"torch.{stock.__name__}"

    @functools.wraps(stock)
    def make(*args: Value, **kwargs: Value) -> Value:
        device = kwargs.get("device")
        if device is not None:
            kwargs["device"] = device = read_device(device, call)
        if (device is None and follows_tensor) or (device is not None and device.type != "cpu"):
            return stock(*args, **kwargs)
        before = context.is_host_factory
        context.is_host_factory = True
        try:
            return stock(*args, **kwargs)
        finally:
            context.is_host_factory = before

    return make


def _send(simulation: Simulation, stock: Callable[..., Any]) -> Callable[..., Any]:
    """Let a tensor made of Python data be made by the host and copied, as CUDA's is."""
    context = simulation.context
    call = f"torch.{stock.__name__}"

    def make_on_host(*args: Value, pin_memory: bool = False, **kwargs: Value) -> Tensor:
        before = context.is_host_factory
        context.is_host_factory = True
        try:
            made = stock(*args, device=CPU, **kwargs)
        finally:
            context.is_host_factory = before
        return made.pin_memory() if pin_memory and not is_device(made) else made  # type: ignore[no-any-return]

    @functools.wraps(stock)
    def make(*args: Value, device: Value = None, requires_grad: bool = False, **kwargs: Value) -> Tensor:
        data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        if device is not None:
            place = read_device(device, call)
        elif isinstance(data, Tensor):
            place = data.device
        else:
            place = find_default_device()
        if place.type not in ("cpu", "cuda"):
            return stock(*args, device=place, requires_grad=requires_grad, **kwargs)  # type: ignore[no-any-return]
        if isinstance(data, Tensor) and is_device(data):
            made = _copy_tensor(data, place, is_copy=call == "torch.tensor" or bool(kwargs.get("copy")), **kwargs)
        else:
            made = make_on_host(*args, **kwargs)
            if place.type == "cuda" and not is_device(made):
                with context.named(call):
                    made = Crossing(context, is_upload=True).run(made)
        return made.requires_grad_(True) if requires_grad else made

    return make


def _copy_tensor(data: Tensor, place: torch.device, *, is_copy: bool, **kwargs: Value) -> Tensor:
    """Return a tensor of the device where it is wanted."""
    if is_copy:
        data = data.detach()
    return data.to(place, kwargs.get("dtype"), copy=is_copy)
