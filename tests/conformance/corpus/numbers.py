"""Arithmetic: dtypes, reductions, scans and complex numbers."""

from __future__ import annotations

import math

import torch

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("numbers")


@TOPIC.snippet
def elementwise(device: str) -> object:
    """Functions of one and of two operands."""
    x = torch.linspace(-2, 2, 9, device=device)
    y = torch.arange(1.0, 10.0, device=device)
    return [
        x.exp(), y.log(), x.sigmoid(), x.tanh(), x.abs(), x.sign(), y.rsqrt(), x.erf(), torch.atan2(x, y),
        x.lerp(y, 0.3),
        torch.maximum(x, y), x.clamp(-1, 1), x.square() + y.pow(0.5), torch.hypot(x, y), x.round(), x.trunc(), x.frac(),
        torch.addcdiv(x, x, y, value=2), torch.logaddexp(x, y), x.nan_to_num(), torch.copysign(y, x), torch.expm1(x),
    ]  # fmt: skip


@TOPIC.snippet
def mixed_dtypes(device: str) -> object:
    """What is promoted to what."""
    half, single = torch.ones(2, dtype=torch.float16, device=device), torch.ones(2, device=device)
    whole, brain = torch.arange(2, device=device), torch.ones(2, dtype=torch.bfloat16, device=device)
    return [
        half + single, half + brain, half * 2.5, whole + 1.5, whole / 2, whole // 2, whole * half, 2**whole,
        half + torch.tensor(3.0, device=device, dtype=torch.float64), whole == half, -whole, whole > 0,
        torch.result_type(half, whole) == torch.float16,
    ]  # fmt: skip


@TOPIC.snippet
def half_types(device: str) -> object:
    """Rounding and range of the 16-bit types."""
    values = torch.tensor([1.0, 1.0009765625, 65504.0, 1e-5, 3.14159], device=device)
    half, brain = values.half(), values.bfloat16()
    return [half + half, brain * brain, half.sum(), brain.float().mean(), half.float() - values, (half * 2).isinf(),
            torch.finfo(half.dtype).max, brain.exp(), half.softmax(0)]  # fmt: skip


@TOPIC.snippet
def whole_numbers(device: str) -> object:
    """Bits, shifts, remainders and overflow."""
    values = torch.tensor([-7, -1, 0, 5, 12], device=device)
    small = torch.tensor([100, 100], dtype=torch.int8, device=device)
    return [values & 6, values | 1, values ^ 3, ~values, values << 2, values >> 1, values % 3, values // 3,
            torch.div(values, 3, rounding_mode="trunc"), small + small, values.remainder(4),
            torch.gcd(values, values)]  # fmt: skip


@TOPIC.snippet
def reductions(device: str) -> object:
    """Sums and their relatives, whole and by dimension."""
    values = torch.arange(1.0, 13.0, device=device).view(3, 4)
    return [
        values.sum(), values.sum(0), values.mean((0, 1), keepdim=True), values.prod(1), values.std(), values.var(0),
        values.norm(), torch.linalg.vector_norm(values, dim=1), values.logsumexp(1), values.amax(1),
        values.sum(dtype=torch.float64),
        torch.var_mean(values, dim=1, correction=0), (values > 3).all(), (values > 11).any(1), values.nansum(),
    ]  # fmt: skip


@TOPIC.snippet
def scans(device: str) -> object:
    """Cumulative sums, products and extremes."""
    values = torch.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 6.0]], device=device)
    return [values.cumsum(1), values.cumprod(0), values.cummin(1), values.logcumsumexp(1), values.flip(1).cumsum(1),
            values.diff(dim=1), torch.trapezoid(values), (values > 2).cumsum(1)]  # fmt: skip


@TOPIC.snippet
def segments(device: str) -> object:
    """Sums over groups of rows, by lengths and by labels."""
    rows = torch.arange(12.0, device=device).view(6, 2)
    labels = torch.tensor([0, 0, 1, 2, 2, 2], device=device)
    offsets = torch.tensor([2, 1, 3], device=device).cumsum(0)
    by_label = torch.zeros(3, 2, device=device).index_add_(0, labels, rows)
    by_difference = torch.cat([rows.cumsum(0)[offsets - 1][:1], rows.cumsum(0)[offsets - 1].diff(dim=0)])
    return by_label, by_difference, torch.segment_reduce(rows, "sum", lengths=torch.tensor([2, 1, 3], device=device))


@TOPIC.snippet
def special_values(device: str) -> object:
    """Infinities and NaN go where they should."""
    values = torch.tensor([0.0, -1.0, float("inf"), float("nan")], device=device)
    return [values.isnan(), values.isinf(), values / 0, values.log(), values.nan_to_num(1.0), values.isfinite().all(),
            torch.zeros(2, device=device) / 0, values.fmax(torch.zeros(4, device=device))]  # fmt: skip


@TOPIC.snippet
def complex_numbers(device: str) -> object:
    """Real and imaginary parts, conjugates and angles."""
    values = torch.complex(torch.tensor([1.0, 2.0], device=device), torch.tensor([0.5, -1.0], device=device))
    turned = values * torch.polar(torch.ones(2, device=device), torch.full((2,), math.pi / 2, device=device))
    parts = torch.view_as_real(turned)
    return [values.real, values.imag, values.conj() * values, values.abs(), values.angle(), turned, parts,
            torch.view_as_complex(parts), values.conj().resolve_conj(), values.sum(),
            (values @ values.conj()).real]  # fmt: skip


@TOPIC.snippet
def running_statistics(device: str) -> object:
    """Welford's mean and variance, chunk by chunk."""
    values = torch.linspace(0, 5, 32, device=device).sin()
    count, mean, squares = 0, torch.zeros((), device=device), torch.zeros((), device=device)
    for chunk in values.split(8):
        delta = chunk.mean() - mean
        total = count + len(chunk)
        squares += (chunk - chunk.mean()).square().sum() + delta.square() * count * len(chunk) / total
        mean += delta * len(chunk) / total
        count = total
    return mean, squares / (count - 1), values.var(), count


@TOPIC.snippet
def online_softmax(device: str) -> object:
    """Softmax block by block with a running maximum, as fused kernels do it."""
    scores = torch.linspace(-3, 3, 24, device=device).view(2, 12).cos() * 5
    top, total = torch.full((2, 1), -torch.inf, device=device), torch.zeros(2, 1, device=device)
    for block in scores.split(4, dim=1):
        new_top = torch.maximum(top, block.amax(1, keepdim=True))
        total = total * (top - new_top).exp() + (block - new_top).exp().sum(1, keepdim=True)
        top = new_top
    return (scores - top).exp() / total, scores.softmax(1)


@TOPIC.snippet
def values_read_by_the_host(device: str) -> object:
    """Numbers that steer Python."""
    values = torch.arange(5, device=device)
    total = 0
    for index in range(len(values)):
        total += values[index].item()
    if values.sum() > 3:
        total += 100
    return [total, int(values[2]), float(values[3]), bool(values[1] > 0), values.tolist(), range(values[4])[-1],
            f"{values[1]}", max(values).item(), 3 in values, math.sqrt(values[4])]  # fmt: skip


@TOPIC.snippet
def foreach_lists(device: str) -> object:
    """Lists of tensors in one call."""
    values = [torch.full((n,), float(n), device=device) for n in (1, 2, 3)]
    grown = torch._foreach_add(values, 1.0)
    torch._foreach_mul_(grown, 2.0)
    torch._foreach_addcmul_(grown, values, values, 0.5)
    return grown, torch._foreach_norm(values), torch._foreach_sqrt(values)
