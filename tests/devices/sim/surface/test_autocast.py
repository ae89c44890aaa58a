"""Dtypes under ``torch.autocast("cuda")`` are those of CUDA's lists."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

pytestmark = pytest.mark.usefixtures("simulation")

HALF, SINGLE = torch.float16, torch.float32
CALLS: dict[str, tuple[Callable[[Any], Any], torch.dtype]] = {
    "matmul": (lambda x: x.float() @ x.float(), HALF),
    "linear": (lambda x: torch.nn.functional.linear(x.float(), x.float()), HALF),
    "softmax": (lambda x: x.softmax(-1), SINGLE),
    "log_softmax": (lambda x: x.log_softmax(-1), SINGLE),
    "layer_norm": (lambda x: torch.nn.functional.layer_norm(x, (4,)), SINGLE),
    "exp": (lambda x: x.exp(), SINGLE),
    "pow": (lambda x: x.pow(2), SINGLE),
    "sum": (lambda x: x.sum(), SINGLE),
    "sum over a dimension": (lambda x: x.sum(0), SINGLE),
    "norm": (lambda x: torch.linalg.vector_norm(x), SINGLE),
    "mse_loss": (lambda x: torch.nn.functional.mse_loss(x, x), SINGLE),
    "relu": (lambda x: x.relu(), HALF),
    "add of both": (lambda x: x + x.float(), SINGLE),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_op_on_half_numbers_has_cudas_dtype(name: str) -> None:
    """Inside the region; outside, what any op gives."""
    call, expected = CALLS[name]
    tensor = torch.ones(4, 4, device="cuda", dtype=HALF)
    with torch.autocast("cuda"):
        assert expected == call(tensor).dtype


def test_regions_nest_and_end() -> None:
    """A disabled region inside computes in full precision."""
    tensor = torch.ones(4, 4, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        inside = tensor @ tensor
        with torch.autocast("cuda", enabled=False):
            nested = tensor @ tensor
    assert [torch.bfloat16, SINGLE, SINGLE] == [inside.dtype, nested.dtype, (tensor @ tensor).dtype]
    assert not torch.is_autocast_enabled("cpu")


def test_scaled_training_works() -> None:
    """Forward in half precision, gradients and weights in single."""
    layer = torch.nn.Linear(4, 4).cuda()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    with torch.autocast("cuda"):
        loss = layer(torch.ones(2, 4, device="cuda")).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert layer.weight.grad is not None
    assert (SINGLE, True) == (layer.weight.grad.dtype, layer.weight.grad.is_cuda)
