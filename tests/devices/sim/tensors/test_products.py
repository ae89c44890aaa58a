"""Products of half types: summed in single precision and rounded once, whatever way they are called."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch
    import torch.nn.functional as F  # as everybody calls it

HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])


def draw(*sizes: tuple[int, ...]) -> list[Any]:
    """Return numbers of the host that both half types hold exactly."""
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(size, generator=generator).bfloat16().half().float() for size in sizes]


PRODUCTS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "mm": (torch.mm, [(40, 30), (30, 20)]),
    "matmul": (torch.matmul, [(2, 40, 30), (2, 30, 20)]),
    "bmm": (torch.bmm, [(3, 40, 30), (3, 30, 20)]),
    "addmm": (lambda c, a, b: torch.addmm(c, a, b, alpha=0.5), [(40, 20), (40, 30), (30, 20)]),
    "baddbmm": (lambda c, a, b: torch.baddbmm(c, a, b, beta=2), [(3, 40, 20), (3, 40, 30), (3, 30, 20)]),
    "in place": (lambda c, a, b: c.clone().addmm_(a, b), [(40, 20), (40, 30), (30, 20)]),
    "linear": (F.linear, [(40, 30), (20, 30), (20,)]),
    "convolution": (F.conv2d, [(2, 3, 8, 8), (4, 3, 3, 3), (4,)]),
    "einsum": (lambda a, b: torch.einsum("bik,bjk->bij", a, b), [(3, 40, 30), (3, 20, 30)]),
}


@HALVES
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.usefixtures("simulation")
def test_a_product_is_rounded_once(name: str, dtype: Any) -> None:
    """It is the single-precision product, rounded."""
    call, sizes = PRODUCTS[name]
    operands = draw(*sizes)
    actual = call(*(x.to("cuda", dtype) for x in operands))
    assert dtype is actual.dtype
    torch.testing.assert_close(actual.cpu(), call(*operands).to(dtype), rtol=torch.finfo(dtype).eps, atol=1e-6)


@HALVES
@pytest.mark.usefixtures("simulation")
def test_a_product_is_at_least_as_near_as_the_hosts(dtype: Any) -> None:
    """Against double precision, attention errs no more on the device than with the host's half kernel."""
    query, key, value = draw((2, 4, 64, 32), (2, 4, 64, 32), (2, 4, 64, 32))
    exact = F.scaled_dot_product_attention(query.double(), key.double(), value.double())
    host = F.scaled_dot_product_attention(query.to(dtype), key.to(dtype), value.to(dtype))
    device = F.scaled_dot_product_attention(*(x.to("cuda", dtype) for x in (query, key, value))).cpu()
    assert (device.double() - exact).abs().mean() <= (host.double() - exact).abs().mean()


@HALVES
@pytest.mark.usefixtures("simulation")
def test_out_is_filled_and_grown(dtype: Any) -> None:
    """A fitting ``out=`` keeps its bytes, an empty one gets new ones."""
    a, b = (x.to("cuda", dtype) for x in draw((8, 6), (6, 5)))
    fitting, empty = torch.empty(8, 5, device="cuda", dtype=dtype), torch.empty(0, device="cuda", dtype=dtype)
    address = fitting.data_ptr()
    torch.mm(a, b, out=fitting)
    torch.mm(a, b, out=empty)
    assert address == fitting.data_ptr()
    assert torch.equal(a @ b, fitting)
    assert torch.equal(a @ b, empty)


@HALVES
@pytest.mark.usefixtures("simulation")
def test_a_wider_result_can_be_asked_for(dtype: Any) -> None:
    """``out_dtype`` keeps what single precision summed."""
    left, right = draw((8, 6), (6, 5))
    a, b = left.to("cuda", dtype), right.to("cuda", dtype)
    assert torch.equal(left @ right, torch.mm(a, b, out_dtype=torch.float32).cpu())


@pytest.mark.usefixtures("simulation")
def test_mixed_types_are_refused() -> None:
    """With PyTorch's error: widening must not make them agree."""
    a, b = torch.ones(8, 8, device="cuda", dtype=torch.bfloat16), torch.ones(8, 8, device="cuda")
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        a @ b


@HALVES
@pytest.mark.usefixtures("simulation")
def test_gradients_keep_the_type(dtype: Any) -> None:
    """Linear, convolution and attention, forward and back."""
    tokens = torch.randn(2, 4, 16, 8, device="cuda", dtype=dtype, requires_grad=True)
    linear, convolution = (layer.to("cuda", dtype) for layer in (torch.nn.Linear(8, 8), torch.nn.Conv2d(4, 4, 3)))
    mixed = F.scaled_dot_product_attention(linear(tokens), tokens, tokens)
    convolution(mixed).sum().backward()
    gradients = [tokens.grad, *(p.grad for layer in (linear, convolution) for p in layer.parameters())]
    assert [dtype] * 5 == [gradient.dtype for gradient in gradients]
    assert all(gradient.isfinite().all() for gradient in gradients)


@HALVES
@pytest.mark.usefixtures("simulation")
def test_inference_mode_and_graphs_give_the_same(dtype: Any) -> None:
    """A replay multiplies what its input holds then."""
    a, b = (x.to("cuda", dtype) for x in draw((8, 6), (6, 5)))
    expected = a @ b
    with torch.inference_mode():
        assert torch.equal(expected, a @ b)
    graph, static = torch.cuda.CUDAGraph(), torch.zeros_like(a)
    with torch.cuda.graph(graph):
        result = static @ b
    static.copy_(a)
    graph.replay()
    assert torch.equal(expected, result)


def test_a_second_look_multiplies_again(simulation: Any) -> None:
    """After a missing wait the look shows the product that the device could have made."""
    a, b = torch.zeros(8, 8, device="cuda", dtype=torch.bfloat16), torch.ones(8, 8, device="cuda", dtype=torch.bfloat16)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        a.fill_(1)
    product = a @ b
    torch.cuda.synchronize()
    assert 8.0 == product[0, 0].item()
    (race,) = simulation.machine.shadow.races
    assert [("input", "1", "0"), ("output", "8", "0")] == [(look.what, look.saw, look.could) for look in race.looks]
