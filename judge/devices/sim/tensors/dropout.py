"""Dropout in one kernel, with the device's random numbers. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.generators import DeviceGenerator
from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.oprules import HANDLERS, Op, Rule
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.execution import Execution

_aten = torch.ops.aten


def _drop(tensor: torch.Tensor, rate: float, *, generator: DeviceGenerator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a tensor with a share of its elements set to zero, and which were kept."""
    generator.advance()
    mask = torch.empty(tensor.size(), dtype=torch.bool)
    mask = _aten.bernoulli_.float(mask, 1.0 - rate, generator=generator)
    scale = 0.0 if rate == 1.0 else 1.0 / (1.0 - rate)
    return _aten.mul.Scalar(_aten.mul.Tensor(tensor, mask), scale), mask


def run_dropout(execution: Execution, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
    """Run ``aten::native_dropout``, whose CPU kernel would draw from the host's generator."""
    tensor, rate, is_training = args
    if not is_device(tensor) or is_training is False:
        return execution.run(rule, op, args, kwargs)
    machine = execution.machine
    generator = execution.default_generator
    machine.randomness.check_draw(machine.current, generator)
    return execution.finish(rule, _drop, (tensor, rate), {"generator": generator}, (tensor,), [])


HANDLERS["native_dropout"] = run_dropout
