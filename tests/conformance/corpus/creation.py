"""Making tensors and moving them."""

from __future__ import annotations

import torch

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("creation")


@TOPIC.snippet
def constants(device: str) -> object:
    """Factories of constant values."""
    return [
        torch.zeros(2, 3, device=device),
        torch.ones((2, 3), dtype=torch.float16, device=device),
        torch.full((4,), 7, device=device),
        torch.full((2,), 1.5, dtype=torch.float64, device=device),
        torch.eye(3, 4, device=device),
        torch.tril(torch.ones(4, 4, device=device)),
    ]


@TOPIC.snippet
def ranges(device: str) -> object:
    """Factories of ranges."""
    return {
        "arange": torch.arange(2, 11, 3, device=device),
        "float": torch.arange(0, 1, 0.25, device=device),
        "linspace": torch.linspace(-1, 1, 7, device=device),
        "logspace": torch.logspace(0, 2, 5, device=device, dtype=torch.float64),
        "grid": torch.meshgrid(torch.arange(3, device=device), torch.arange(2, device=device), indexing="ij"),
    }


@TOPIC.snippet
def from_python_data(device: str) -> object:
    """Tensors of lists, numbers and booleans."""
    return [
        torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device),
        torch.tensor(3, device=device),
        torch.tensor([True, False], device=device),
        torch.as_tensor([1, 2, 3], device=device),
        torch.tensor([1 + 2j], device=device),
        torch.tensor([], device=device),
    ]


@TOPIC.snippet
def like_another(device: str) -> object:
    """The families of ``*_like`` and ``new_*``."""
    model = torch.arange(6.0, device=device).view(2, 3).half()
    return [
        torch.zeros_like(model),
        torch.ones_like(model, dtype=torch.int32),
        torch.full_like(model, 2.5),
        model.new_zeros(4),
        model.new_full((2, 2), 9),
        model.new_tensor([1, 2, 3]),
        model.new_ones(3, dtype=torch.bool),
    ]


@TOPIC.snippet
def empty_then_filled(device: str) -> object:
    """Memory that is taken first and written later."""
    buffer = torch.empty(4, 5, device=device, dtype=torch.bfloat16)
    buffer.fill_(3)
    strided = torch.empty_strided((2, 3), (1, 2), device=device).zero_()
    again = torch.empty_like(buffer).copy_(buffer * 2)
    return buffer, strided, strided.stride(), again


@TOPIC.snippet
def there_and_back(device: str) -> object:
    """Copies between host and device, in all spellings."""
    host = torch.arange(6.0).view(2, 3)
    there = host.to(device)
    back = there.cpu()
    return [
        there,
        host.to(torch.device(device)),
        there.to(device) is there,
        back.tolist(),
        host.to(device, torch.float16),
        host.to(there),
        torch.empty(2, 3, device=device).copy_(host),
        torch.empty(2, 3).copy_(there).tolist(),
    ]


@TOPIC.snippet
def casts(device: str) -> object:
    """Conversions of dtype on the device."""
    values = torch.tensor([-1.7, 0.0, 2.5, 300.0], device=device)
    return [
        values.half(), values.bfloat16(), values.double(), values.int(), values.long(), values.bool(),
        values.to(torch.int16), values.type(torch.float64), values.half().type_as(values), values.abs().byte() % 7,
    ]  # fmt: skip


@TOPIC.snippet
def device_of_the_whole_block(device: str) -> object:
    """``with torch.device(...)`` makes what is made inside."""
    with torch.device(device):
        layer = torch.nn.Linear(3, 2)
        made = torch.zeros(2), torch.tensor([1.0]), torch.arange(3)
    torch.nn.init.constant_(layer.weight, 0.5)
    return made, layer.weight.detach(), layer.bias.shape


@TOPIC.snippet
def default_device(device: str) -> object:
    """``torch.set_default_device`` and back again."""
    torch.set_default_device(device)
    try:
        made = torch.ones(2), torch.tensor([1, 2]), torch.linspace(0, 1, 3)
        default = torch.get_default_device().type
    finally:
        torch.set_default_device(None)
    return made, default == device, torch.ones(2).device.type


@TOPIC.snippet(expected=lambda: [True, "cuda", 0, "cuda:0", True, False, True])
def questions_about_the_device(device: str) -> object:
    """What code asks of a tensor before it branches."""
    values = torch.ones(2, device=device)
    return [
        values.is_cuda,
        values.device.type,
        values.get_device(),
        str(values.device),
        values.device == torch.device("cuda", 0),
        values.is_cpu,
        torch.device("cuda" if torch.cuda.is_available() else "cpu") == torch.device("cuda"),
    ]


@TOPIC.snippet
def mixing_devices_is_an_error(device: str) -> object:
    """An operand of another device is refused; a number with no dimension is not."""
    there, other = torch.ones(3, device=device), torch.ones(3, device="cpu" if device == "cuda" else "meta")
    texts = []
    for attempt in (lambda: there + other, lambda: torch.cat([there, other])):
        try:
            attempt()
        except RuntimeError as error:
            texts.append("device" in str(error))
    return texts, there + torch.tensor(2.0)


@TOPIC.snippet(needs=("numpy",))
def numpy_interop(device: str) -> object:
    """From an array and back to one."""
    import numpy as np

    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = torch.from_numpy(array).to(device)
    also = torch.as_tensor(array, device=device)
    back = (there + also).cpu().numpy()
    return there, also, back.tolist(), str(back.dtype), float(np.mean(back))


@TOPIC.snippet
def characters_and_bytes(device: str) -> object:
    """Bytes of one dtype seen as another."""
    words = torch.tensor([1.0, -2.0, 0.5], device=device)
    bits = words.view(torch.int32)
    octets = torch.tensor(list(b"tokens"), dtype=torch.uint8, device=device)
    return bits, octets, bytes(octets.tolist()).decode(), octets.view(torch.int16), words.view(torch.uint8).shape
