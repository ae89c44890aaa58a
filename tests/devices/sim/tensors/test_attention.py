"""Attention takes the kernel that PyTorch chooses on an H200, and gives what the formula gives."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch
    import torch.nn.functional as F  # as everybody calls it
    from torch.nn.attention import SDPBackend, sdpa_kernel

BF16, FP32 = torch.bfloat16, torch.float32
FLASH, EFFICIENT, CUDNN = (f"_scaled_dot_product_{kind}_attention" for kind in ("flash", "efficient", "cudnn"))


def attend(*operands: Any, **options: Any) -> Any:
    """Attend, with the function as it is by then."""
    return F.scaled_dot_product_attention(*operands, **options)


def make(dtype: Any = FP32, width: int = 16, *, heads: int = 4, length: int = 8, seed: int = 0) -> Any:
    """Return a tensor ``(2, heads, length, width)`` of the device."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, heads, length, width, generator=generator).to("cuda", dtype)


CHOICES: dict[str, tuple[Callable[[], Any], str]] = {
    "half types": (lambda: attend(*[make(BF16)] * 3), CUDNN),
    "half types and a mask": (lambda: attend(*[make(BF16)] * 3, attn_mask=torch.zeros(8, 8).to("cuda", BF16)), CUDNN),
    "one key": (lambda: attend(make(BF16), *[make(BF16, length=1)] * 2), FLASH),
    "a width of 20": (lambda: attend(*[make(BF16, 20)] * 3), FLASH),
    "one key and a mask": (
        lambda: attend(make(BF16), *[make(BF16, length=1)] * 2, attn_mask=torch.zeros(8, 1).to("cuda", BF16)),
        EFFICIENT,
    ),
    "float32": (lambda: attend(*[make()] * 3), EFFICIENT),
    "float32, causal, dropout": (lambda: attend(*[make()] * 3, is_causal=True, dropout_p=0.5), EFFICIENT),
    "float64": (lambda: attend(*[make(torch.float64)] * 3), "bmm"),
    "a width of 7": (lambda: attend(*[make(FP32, 7)] * 3), "bmm"),
    "three dimensions": (lambda: attend(*[make()[0]] * 3), "bmm"),
    "shared keys": (lambda: attend(make(BF16), *[make(BF16, heads=2)] * 2, enable_gqa=True), CUDNN),
}


@pytest.mark.parametrize("case", CHOICES)
def test_the_kernel_is_the_one_that_cuda_chooses(simulation: Any, case: str) -> None:
    """By type, shape and mask."""
    call, name = CHOICES[case]
    call()
    assert name == simulation.machine.kernels[-1].name


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        (SDPBackend.FLASH_ATTENTION, FLASH),
        (SDPBackend.EFFICIENT_ATTENTION, EFFICIENT),
        (SDPBackend.CUDNN_ATTENTION, CUDNN),
        (SDPBackend.MATH, "_to_copy"),
    ],
    ids=["flash", "efficient", "cudnn", "math"],
)
def test_the_user_can_choose(simulation: Any, backend: Any, name: str) -> None:
    """With ``sdpa_kernel``; the backward pass keeps to the kernel of the forward one."""
    query = make(BF16).requires_grad_()
    with sdpa_kernel(backend):
        result = attend(query, query, query)
    assert name == simulation.machine.kernels[-1].name
    start = len(simulation.machine.kernels)
    result.backward(torch.ones_like(result))
    names = [task.name for task in list(simulation.machine.kernels)[start:]]
    assert (f"{name}_backward" in names) == (backend != SDPBackend.MATH)


def test_no_kernel_is_an_error(simulation: Any) -> None:
    """Flash attention has none for float32; PyTorch's text."""
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION), pytest.raises(RuntimeError, match="No available kernel"):
        attend(*[make()] * 3)


def test_another_order_can_be_asked_for(simulation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch reads a variable, and flash attention comes first again."""
    monkeypatch.setenv("TORCH_CUDNN_SDPA_DEPRIORITIZED", "1")
    attend(*[make(BF16)] * 3)
    assert FLASH == simulation.machine.kernels[-1].name


def reckon(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return attention by its formula, with gradients."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return (scores + mask).softmax(-1) @ value


@pytest.mark.parametrize("backend", [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION], ids=["32", "16"])
@pytest.mark.usefixtures("simulation")
def test_values_and_gradients_are_the_formulas(backend: Any) -> None:
    """With a mask that is not all zeros; the one that takes gradients for it gives them."""
    is_wide = backend == SDPBackend.EFFICIENT_ATTENTION
    dtype, tolerance = (FP32, 1e-5) if is_wide else (BF16, 5e-2)
    mask = torch.randn(8, 8, generator=torch.Generator().manual_seed(9)).to("cuda", dtype)
    ours = [make(dtype, seed=seed).requires_grad_() for seed in range(3)] + [mask.requires_grad_(is_wide)]
    theirs = [tensor.detach().cpu().float().requires_grad_(tensor.requires_grad) for tensor in ours]
    results = []
    for operands, call in ((ours, attend), (theirs, reckon)):
        result = call(*operands)
        result.backward(torch.ones_like(result) * torch.arange(16, device=result.device))
        results.append([result.detach(), *(tensor.grad for tensor in operands if tensor.requires_grad)])
    for actual, expected in zip(*results, strict=True):
        torch.testing.assert_close(actual.cpu().float(), expected, rtol=tolerance, atol=tolerance * 16)


@pytest.mark.parametrize("dtype", [FP32, BF16], ids=["efficient", "cudnn"])
@pytest.mark.usefixtures("simulation")
def test_dropout_keeps_the_mean_and_its_gradient_knows_what_was_dropped(dtype: Any) -> None:
    """With values that are one everywhere, each output is the sum of the weights that were kept."""
    query, value = make(dtype, length=64), torch.ones(2, 4, 64, 16, device="cuda", dtype=dtype, requires_grad=True)
    result = attend(query, query, value, dropout_p=0.5)
    assert 0.9 < result.float().mean().item() < 1.1
    assert 0.1 < result.float().std().item()
    result.backward(torch.ones_like(result))
    torch.testing.assert_close(value.grad.float().sum(), result.float().sum(), rtol=1e-2, atol=1e-2)


def test_dropout_in_a_graph_differs_from_replay_to_replay(simulation: Any) -> None:
    """It draws from the device's generator, as eager code does."""
    query = make(length=16)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = attend(query, query, query, dropout_p=0.5)
    seen = []
    for _ in range(2):
        graph.replay()
        seen.append(result.clone())
    torch.cuda.manual_seed(3)
    graph.replay()
    again = result.clone()
    torch.cuda.manual_seed(3)
    assert not torch.equal(*seen)
    assert torch.equal(again, attend(query, query, query, dropout_p=0.5))


def test_a_region_of_autocast_chooses_the_type(simulation: Any) -> None:
    """As for every product."""
    with torch.autocast("cuda", dtype=BF16):
        result = attend(*[make()] * 3)
    assert (BF16, CUDNN) == (result.dtype, simulation.machine.kernels[-1].name)


def test_a_mask_of_the_host_is_refused(simulation: Any) -> None:
    """With PyTorch's error about two devices."""
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        attend(*[make()] * 3, attn_mask=torch.zeros(8, 8))


@pytest.mark.parametrize("dtype", [FP32, BF16], ids=["float32", "bfloat16"])
def test_the_norms_of_transformers_are_one_kernel_each_way(simulation: Any, dtype: Any) -> None:
    """Root-mean-square norm and SiLU, with the gradients of the formula."""
    tokens = make(dtype)[0].requires_grad_()
    weight = torch.linspace(0.5, 2, 16).to("cuda", dtype).requires_grad_()
    names = []
    results = []
    for place in ("cuda", "cpu"):
        x, w = (t.detach().to(place).requires_grad_() for t in (tokens, weight))
        start = len(simulation.machine.kernels)
        result = F.silu(F.rms_norm(x, (16,), w))
        result.backward(torch.ones_like(result))
        names.append([task.name for task in list(simulation.machine.kernels)[start:]])
        results.append([result.detach().cpu(), x.grad.cpu(), w.grad.cpu()])
    kernels = ["_fused_rms_norm", "silu", "ones_like", "silu_backward", "_fused_rms_norm_backward"]
    assert [kernels, []] == names
    for actual, expected in zip(*results, strict=True):
        torch.testing.assert_close(actual, expected)


@pytest.mark.usefixtures("simulation")
@pytest.mark.parametrize("shape", [(16,), (8, 16)], ids=["rows", "planes"])
def test_gradients_of_the_norm_are_the_formulas(shape: tuple[int, ...]) -> None:
    """Against autograd on the formula, in double precision."""
    x = make(torch.float64)[0].requires_grad_()
    w = torch.linspace(0.5, 2, math.prod(shape), dtype=torch.float64).view(shape).cuda().requires_grad_()
    results = []
    for call in (
        lambda a, b: F.rms_norm(a, shape, b, 1e-3),
        lambda a, b: a * (a.pow(2).mean(tuple(range(-len(shape), 0)), keepdim=True) + 1e-3).rsqrt() * b,
    ):
        a, b = x.detach().requires_grad_(), w.detach().requires_grad_()
        call(a, b).backward(torch.linspace(-1, 1, x.numel(), dtype=torch.float64).view_as(x).cuda())
        results.append((a.grad, b.grad))
    torch.testing.assert_close(*results)
