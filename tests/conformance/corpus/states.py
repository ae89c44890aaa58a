"""Copies, files and texts."""

from __future__ import annotations

import copy
import io
import pickle
import tempfile
from collections import OrderedDict
from pathlib import Path

import torch
from torch import nn

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("states")


@TOPIC.snippet
def deep_copies(device: str) -> object:
    """A copy shares nothing with what it was copied from, and keeps what was shared within."""
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)).to(device)
    twin = copy.deepcopy(model)
    twin[0].weight.data.zero_()
    base = torch.arange(4.0, device=device)
    copied, view = copy.deepcopy((base, base[1:]))
    copied.add_(1)
    return model[0].weight.detach(), twin[0].weight.detach(), view, base, isinstance(twin[0].weight, nn.Parameter)


@TOPIC.snippet
def state_dictionaries(device: str) -> object:
    """Weights to the host and back into another module; unknown names are told."""
    model, other = nn.Linear(3, 2).to(device), nn.Linear(3, 2).to(device)
    state = OrderedDict((name, value.cpu()) for name, value in model.state_dict().items())
    result = other.load_state_dict({**state, "more": torch.ones(1)}, strict=False)
    return other.weight.detach(), torch.equal(model.bias, other.bias), result.unexpected_keys, list(state)


@TOPIC.snippet
def assigned_state(device: str) -> object:
    """A module without memory gets its weights by assignment."""
    with torch.device("meta"):
        model = nn.Linear(4, 4)
    weights = {"weight": torch.eye(4, device=device), "bias": torch.ones(4, device=device)}
    model.load_state_dict(weights, assign=True)
    empty = nn.Linear(2, 2, device="meta").to_empty(device=device)
    return model(torch.ones(1, 4, device=device)).detach(), empty.weight.shape, empty.weight.device.type == device


@TOPIC.snippet
def saved_and_loaded(device: str) -> object:
    """Through a buffer and a file, with and without a change of device."""
    values = {"weight": torch.arange(4.0, device=device), "step": 3, "views": torch.arange(6, device=device)[2:]}
    buffer = io.BytesIO()
    torch.save(values, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer)
    buffer.seek(0)
    on_host = torch.load(buffer, map_location="cpu", weights_only=True)
    with tempfile.TemporaryDirectory() as folder:
        torch.save(values["weight"].half(), Path(folder) / "x.pt")
        half = torch.load(Path(folder) / "x.pt", map_location=device)
    return loaded, on_host["weight"].device.type, on_host["weight"].tolist(), half


@TOPIC.snippet
def pickled_modules(device: str) -> object:
    """A whole module through ``pickle`` and ``torch.save``."""
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh()).to(device)
    first = pickle.loads(pickle.dumps(model))
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    second = torch.load(buffer, weights_only=False)
    x = torch.ones(1, 3, device=device)
    return first(x).detach(), second(x).detach(), torch.equal(first[0].weight, model[0].weight)


@TOPIC.snippet(
    expected=lambda: [
        "tensor([1.5000, 2.5000], device='cuda:0')",
        "tensor([1, 2], device='cuda:0')",
        "tensor([0.5000], device='cuda:0', dtype=torch.float16)",
        "tensor(3., device='cuda:0', grad_fn=<SumBackward0>)",
        "Parameter containing:\ntensor([1.], device='cuda:0', requires_grad=True)",
        "tensor([], device='cuda:0', size=(0, 2))",
        "1.50",
        "tensor([[0, 1, 2],\n        [3, 4, 5]], device='cuda:0')",
        "cuda:0",
    ]
)
def printed(device: str) -> object:
    """What ``print`` shows."""
    values = torch.tensor([1.5, 2.5], device=device)
    return [
        repr(values),
        str(torch.tensor([1, 2], device=device)),
        repr(torch.tensor([0.5], device=device, dtype=torch.float16)),
        repr(torch.ones(3, device=device, requires_grad=True).sum()),
        repr(nn.Parameter(torch.ones(1, device=device))),
        repr(torch.empty(0, 2, device=device)),
        f"{values[0]:.2f}",
        f"{torch.arange(6, device=device).view(2, 3)}",
        str(values.device),
    ]


@TOPIC.snippet
def compared(device: str) -> object:
    """``assert_close``, ``allclose``, ``equal`` and their complaints."""
    values = torch.linspace(0, 1, 5, device=device)
    torch.testing.assert_close(values, values.clone())
    try:
        torch.testing.assert_close(values, values + torch.tensor([0, 0, 1.0, 0, 0], device=device))
        text = ""
    except AssertionError as error:
        text = str(error)
    return [
        text, torch.equal(values, values.clone()), torch.allclose(values, values + 1e-9),
        torch.isclose(values, values + 0.1),
        torch.equal(values, values[:4]), bool((values == values).all()),
    ]  # fmt: skip


@TOPIC.snippet
def buffers_and_properties(device: str) -> object:
    """Buffers move and are saved, others are only moved."""

    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("scale", torch.tensor([2.0]))
            self.register_buffer("cache", torch.zeros(2), persistent=False)

    module = Scaled().to(device)
    module.scale.mul_(2)
    module.cache[0] = 1
    return module.scale, module.cache, list(module.state_dict()), [name for name, _ in module.named_buffers()]


@TOPIC.snippet
def data_attribute(device: str) -> object:
    """``.data`` changed and replaced, and what ``detach`` shares."""
    parameter = nn.Parameter(torch.ones(3, device=device))
    parameter.data.mul_(4)
    before = parameter.detach().clone()
    parameter.data = torch.zeros(3, device=device)
    parameter.detach().add_(1)
    other = torch.zeros(2, device=device)
    other.data = torch.ones(5, device=device)
    return before, parameter.detach(), parameter.requires_grad, other


@TOPIC.snippet
def storages(device: str) -> object:
    """A storage's size, device and copy."""
    values = torch.arange(6.0, device=device)
    storage = values.untyped_storage()
    clone = storage.clone()
    values.zero_()
    again = torch.empty(0, device=device).set_(clone)
    return len(storage), storage.device.type == device, again, values, clone.cpu().device.type


@TOPIC.snippet
def subclasses(device: str) -> object:
    """A tensor subclass keeps its type through ops."""

    class Named(torch.Tensor):
        pass

    values = torch.arange(3.0, device=device).as_subclass(Named)
    grown = values * 2 + 1
    return type(grown).__name__, grown.as_subclass(torch.Tensor), type(values[1:]).__name__, grown.sum().item()


@TOPIC.snippet
def modes_that_count(device: str) -> object:
    """A dispatch mode and a function mode of the user's own over ours."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Ops(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    class Calls(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append(func.__name__)
            return func(*args, **(kwargs or {}))

    names: list[str] = []
    calls: list[str] = []
    x = torch.ones(2, 2, device=device)
    with Ops():
        y = (x @ x).relu() + 1
    with Calls():
        y = torch.sin(y)
    return y, names, calls
