"""Tools around tensors: tracing, custom ops, subclasses, loaders and measuring."""

from __future__ import annotations

import warnings

import torch
from torch import nn

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("tools")


@TOPIC.snippet
def traced_modules(device: str) -> object:
    """``torch.fx``."""
    model, x = nn.Sequential(nn.Linear(3, 2), nn.ReLU()).to(device), torch.ones(1, 3, device=device)
    symbolic = torch.fx.symbolic_trace(model)
    return symbolic(x).detach(), [node.op for node in symbolic.graph.nodes]


@TOPIC.snippet
def custom_operators(device: str) -> object:
    """An op of the user's own, with its gradient."""
    name = f"tacit_corpus_{device}::twice"

    @torch.library.custom_op(name, mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    twice.register_autograd(lambda ctx, gradient: gradient * 2)
    x = torch.arange(3.0, device=device, requires_grad=True)
    y = twice(x)
    (y * y).sum().backward()
    return y.detach(), x.grad


@TOPIC.snippet
def wrapper_subclasses(device: str) -> object:
    """A subclass that holds a scale beside its values."""

    class Scaled(torch.Tensor):
        @staticmethod
        def __new__(cls, values: torch.Tensor, scale: float):
            made = torch.Tensor._make_wrapper_subclass(cls, values.shape, dtype=values.dtype, device=values.device)
            made.values_, made.scale = values, scale
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            plain = [a.values_ * a.scale if isinstance(a, Scaled) else a for a in args]
            return func(*plain, **(kwargs or {}))

    scaled = Scaled(torch.ones(2, device=device), 3.0)
    return scaled + 1, scaled.device.type == device, torch.cat([scaled.sum()[None]])


@TOPIC.snippet
def shapes_without_data(device: str) -> object:
    """Meta tensors tell shapes; nothing is allocated, and weights come later."""
    with torch.device("meta"):
        layer = nn.Linear(1 << 16, 1 << 16)
    output = layer(torch.empty(2, 1 << 16, device="meta"))
    small = nn.Linear(2, 2, device="meta").to_empty(device=device)
    nn.init.ones_(small.weight)
    return output.shape, output.device.type, small.weight.detach()


@TOPIC.snippet
def nested_tensors(device: str) -> object:
    """Rows of unlike length in one tensor, strided and jagged."""
    parts = [torch.arange(6.0).view(2, 3), torch.ones(4, 3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the strided form is called a prototype
        with_host_parts = torch.nested.nested_tensor(parts, device=device)
        with_own_parts = torch.nested.as_nested_tensor([part.to(device) for part in parts])
    jagged = torch.nested.nested_tensor(parts, device=device, layout=torch.jagged)
    return with_host_parts.to_padded_tensor(0.0), (with_own_parts * 2).unbind(), (jagged * 2).values(), jagged.offsets()


@TOPIC.snippet
def worker_processes(device: str) -> object:
    """A loader whose workers are processes."""
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    loader = torch.utils.data.DataLoader(data, batch_size=2, num_workers=1, pin_memory=device == "cuda")
    return torch.stack([batch.to(device, non_blocking=True).sum() for (batch,) in loader])


@TOPIC.snippet
def exchanged_by_dlpack(device: str) -> object:
    """The same bytes under another tensor."""
    x = torch.arange(4.0, device=device)
    y = torch.from_dlpack(x)
    y[0] = 9
    return x, y.data_ptr() == x.data_ptr()


@TOPIC.snippet
def measured(device: str) -> object:
    """``torch.utils.benchmark``, the flop counter and ranges for a profiler."""
    from torch.utils.benchmark import Timer
    from torch.utils.flop_counter import FlopCounterMode

    x = torch.ones(8, 8, device=device)
    seconds = Timer("x @ x", globals={"x": x}).timeit(3).mean
    with FlopCounterMode(display=False) as counter, torch.autograd.profiler.record_function("product"):
        y = x @ x
    return y, seconds > 0, counter.get_total_flops()


@TOPIC.snippet
def data_parallel(device: str) -> object:
    """The old wrapper, on the one device that there is."""
    model, x = nn.Linear(2, 2).to(device), torch.ones(3, 2, device=device)
    wrapped = nn.DataParallel(model) if device == "cuda" else model
    wrapped(x).sum().backward()
    return wrapped(x).detach(), model.weight.grad


@TOPIC.snippet
def flags_of_backends(device: str) -> object:
    """Switches that scripts set at their head."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.benchmark
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    torch.use_deterministic_algorithms(True)
    is_on = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.benchmark = before
    return torch.zeros(2, device=device), is_on


@TOPIC.snippet
def names_of_types(device: str) -> object:
    """``Tensor.type`` as text, and back."""
    x = torch.ones(2, device=device)
    prefix = "torch.cuda" if device == "cuda" else "torch"
    return x.type() == f"{prefix}.FloatTensor", x.int().type() == f"{prefix}.IntTensor", x.type(torch.float16)


@TOPIC.snippet
def small_products(device: str) -> object:
    """Products of 8-bit integers and of groups."""
    whole = torch.arange(32 * 32, device=device).remainder(7).to(torch.int8).view(32, 32)
    left, right = torch.randn(16, 16).to(device).bfloat16(), torch.randn(2, 16, 16).to(device).bfloat16()
    ends = torch.tensor([8, 16], dtype=torch.int32, device=device)
    return torch._int_mm(whole, whole), torch._grouped_mm(left, right, offs=ends).shape, whole.float() @ whole.float()
