"""CUDA's fused kernels of attention: flash, memory-efficient and cuDNN's, each with its gradients. (torch)"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.attending import Attention
from judge.devices.sim.tensors.generators import DeviceGenerator
from judge.devices.sim.tensors.operands import scan
from judge.devices.sim.tensors.oprules import HANDLERS, Op, Rule
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.execution import Execution

Tensor = torch.Tensor
_ROW_ALIGNMENT = 32
"""The memory-efficient kernel keeps its sums in rows of so many.

Source: ``_efficient_attention_forward``, aten/src/ATen/native/transformers/cuda/attention.cu, torch 2.13.
"""
Kernel = Callable[..., Value]


def _draw_seed(dropout: float, generator: DeviceGenerator) -> Tensor:
    """Return what says which weights are dropped; kept on the device, so that a replay draws anew."""
    if not dropout:
        return torch.zeros((), dtype=torch.int64)
    generator.advance()
    return torch.randint(1 << 62, (), generator=generator)


def _flash(
    query: Tensor, key: Tensor, value: Tensor, dropout: float = 0.0, is_causal: bool = False, _: bool = False,
    *, scale: float | None = None, generator: DeviceGenerator,
) -> Value:  # fmt: skip
    seed = _draw_seed(dropout, generator)
    attention = Attention(query, key, value, None, dropout, is_causal, scale, int(seed))
    nothing = torch.empty(0)
    lengths = query.shape[-2], key.shape[-2]
    return (*attention.attend(), None, None, *lengths, seed, nothing, nothing.to(query.dtype))


def _flash_backward(
    gradient: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, sums: Tensor,
    _q: Value, _k: Value, _max_q: int, _max_k: int, dropout: float, is_causal: bool, seed: Tensor, _: Value,
    *, scale: float | None = None,
) -> Value:  # fmt: skip
    attention = Attention(query, key, value, None, dropout, is_causal, scale, int(seed))
    return tuple(attention.differentiate(gradient, output, sums)[:3])


def _efficient(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, is_trained: bool, dropout: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, generator: DeviceGenerator,
) -> Value:  # fmt: skip
    seed = _draw_seed(dropout, generator)
    output, sums = Attention(query, key, value, bias, dropout, is_causal, scale, int(seed)).attend()
    batch, heads, length = sums.shape
    kept = sums.new_zeros(batch, heads, -(-length // _ROW_ALIGNMENT) * _ROW_ALIGNMENT if is_trained else 0)
    if is_trained:
        kept[..., :length] = sums
    return output, kept, seed, torch.zeros((), dtype=torch.int64)


def _efficient_backward(
    gradient: Tensor, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, output: Tensor, sums: Tensor,
    seed: Tensor, _: Value, dropout: float, wanted: list[bool], is_causal: bool = False, *, scale: float | None = None,
) -> Value:  # fmt: skip
    attention = Attention(query, key, value, bias, dropout, is_causal, scale, int(seed))
    found = attention.differentiate(gradient, output, sums[..., : query.shape[-2]], is_bias_wanted=wanted[3])
    return tuple(part if is_wanted else None for part, is_wanted in zip(found, wanted, strict=True))


def _cudnn(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, is_trained: bool, dropout: float = 0.0,
    is_causal: bool = False, _: bool = False, *, scale: float | None = None, generator: DeviceGenerator,
) -> Value:  # fmt: skip
    seed = _draw_seed(dropout, generator)
    output, sums = Attention(query, key, value, bias, dropout, is_causal, scale, int(seed)).attend()
    nothing = torch.empty(0)
    kept = sums.unsqueeze(-1) if is_trained else nothing
    lengths = query.shape[-2], key.shape[-2]
    return output, kept, None, None, *lengths, seed, torch.zeros((), dtype=torch.int64), nothing.to(query.dtype)


def _cudnn_backward(
    gradient: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, sums: Tensor, seed: Tensor, _: Value,
    bias: Tensor | None, _q: Value, _k: Value, _max_q: int, _max_k: int, dropout: float, is_causal: bool,
    *, scale: float | None = None,
) -> Value:  # fmt: skip
    attention = Attention(query, key, value, bias, dropout, is_causal, scale, int(seed))
    return tuple(attention.differentiate(gradient, output, sums.squeeze(-1))[:3])


def _make_handler(kernel: Kernel, *, is_forward: bool) -> Callable[..., Value]:
    def run(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:  # noqa: ARG001
        operands = scan(rule, args, kwargs)
        execution.settle_others(rule, operands)
        machine = execution.machine
        if is_forward:
            generator = execution.default_generator
            if args[_DROPOUT[rule.name]] if len(args) > _DROPOUT[rule.name] else kwargs.get("dropout_p"):
                machine.randomness.check_draw(machine.current, generator)
            kwargs = {**kwargs, "generator": generator}
        kwargs = {_RENAMED.get(name, name): value for name, value in kwargs.items()}
        return execution.finish(rule, kernel, args, kwargs, operands.read, [])

    return run


_DROPOUT = {
    "_scaled_dot_product_flash_attention": 3,
    "_scaled_dot_product_efficient_attention": 5,
    "_scaled_dot_product_cudnn_attention": 5,
}
"""Where the share of dropped weights stands."""
_RENAMED = {"dropout_p": "dropout", "attn_bias": "bias"}
_KERNELS: dict[str, tuple[Kernel, Kernel]] = {
    "flash": (_flash, _flash_backward),
    "efficient": (_efficient, _efficient_backward),
    "cudnn": (_cudnn, _cudnn_backward),
}
for _name, (_forward, _backward) in _KERNELS.items():
    _op_name = f"_scaled_dot_product_{_name}_attention"
    HANDLERS[_op_name] = _make_handler(_forward, is_forward=True)
    HANDLERS[f"{_op_name}_backward"] = _make_handler(_backward, is_forward=False)
