"""What an op leaves for the device to do: kernels, their stream, and none for views."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch
    import torch.nn.functional as F  # as everybody calls it


@pytest.fixture
def list_kernels(simulation: Any) -> Callable[[Callable[[], Any]], list[tuple[str, str]]]:
    """Return what lists the kernels of a call, each with its stream."""
    kernels = simulation.machine.kernels

    def watch(call: Callable[[], Any]) -> list[tuple[str, str]]:
        start = len(kernels)
        call()
        return [(task.name, task.stream) for task in list(kernels)[start:]]

    return watch


def test_fused_composites_are_one_kernel(list_kernels: Any) -> None:
    """As CUDA launches them."""
    tokens = torch.randn(2, 8, 64, device="cuda")
    heads = torch.randn(2, 4, 8, 16, device="cuda")
    norm, linear = torch.nn.LayerNorm(64).cuda(), torch.nn.Linear(64, 32).cuda()
    counts = {
        "layer norm": len(list_kernels(lambda: norm(tokens))),
        "softmax": len(list_kernels(lambda: tokens.softmax(-1))),
        "attention": len(list_kernels(lambda: F.scaled_dot_product_attention(heads, heads, heads, is_causal=True))),
        "root-mean-square norm": len(list_kernels(lambda: F.rms_norm(tokens, (64,)))),
        "linear": len(list_kernels(lambda: linear(tokens))),
        "gelu": len(list_kernels(lambda: F.gelu(tokens))),
        "dropout": len(list_kernels(lambda: F.dropout(tokens, 0.3))),
    }
    assert dict.fromkeys(counts, 1) == counts


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1:],
        lambda x: x.t(),
        lambda x: x.view(-1),
        lambda x: x.unbind(),
        lambda x: x.detach(),
        lambda x: x[0, 1],
    ],
    ids=["slice", "transpose", "view", "unbind", "detach", "element"],
)
def test_views_are_no_kernel(list_kernels: Any, view: Callable[[Any], Any]) -> None:
    """They only look at the same bytes."""
    tensor = torch.ones(3, 4, device="cuda")
    assert [] == list_kernels(lambda: view(tensor))


def test_empty_is_no_kernel(list_kernels: Any) -> None:
    """Only the allocator has work."""
    assert [] == list_kernels(lambda: torch.empty(100, device="cuda"))


@pytest.mark.parametrize(("options", "most"), [({}, 10), ({"fused": True}, 2)], ids=["foreach by default", "fused"])
def test_optimizers_launch_for_all_parameters_at_once(list_kernels: Any, options: dict[str, Any], most: int) -> None:
    """A step of Adam takes no more kernels for many parameters than for one."""
    parameters = [torch.nn.Parameter(torch.ones(4, device="cuda")) for _ in range(20)]
    optimizer = torch.optim.Adam(parameters, **options)
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    assert len(list_kernels(optimizer.step)) <= most


def test_backward_runs_on_the_streams_of_the_forward(simulation: Any, list_kernels: Any) -> None:
    """Each step on its own, joined with the caller's stream: no race."""
    side = torch.cuda.Stream()
    weight = torch.randn(8, 8, device="cuda", requires_grad=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        product = weight @ weight
    torch.cuda.current_stream().wait_stream(side)
    loss = (product * 2).sum()
    kernels = list_kernels(loss.backward)
    assert {("mul", "default"), ("mm", "stream 1")} <= set(kernels)
    assert ("mm", "default") not in kernels
    assert weight.grad is not None
    weight.grad.add_(1)
    assert [] == simulation.machine.shadow.races


def test_a_loss_kept_from_warm_up_breaks_the_capture_of_backward(simulation: Any) -> None:
    """The step that adds its gradient up still belongs to the default stream."""
    weight = torch.ones(4, 4, device="cuda", requires_grad=True)
    loss = (weight @ weight).sum()
    loss.backward()

    def capture() -> None:
        with warnings.catch_warnings(), torch.cuda.graph(torch.cuda.CUDAGraph()):
            warnings.simplefilter("ignore")
            (weight @ weight).sum().backward()

    with pytest.raises(RuntimeError, match="captur"):
        capture()
    del loss


def test_without_the_kept_loss_the_capture_of_backward_works(simulation: Any) -> None:
    """The same program, with ``del loss`` before the capture."""
    weight = torch.ones(4, 4, device="cuda", requires_grad=True)
    loss = (weight @ weight).sum()
    loss.backward()
    del loss
    weight.grad = None
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (weight @ weight).sum().backward()
    graph.replay()
    assert weight.grad is not None
    assert [8.0] * 16 == weight.grad.flatten().tolist()


def test_registered_ops_are_seen_from_inside(list_kernels: Any) -> None:
    """A custom op in Python is the kernels of its body."""

    @torch.library.custom_op("judge_tests::twice_plus", mutates_args=())
    def twice_plus(x: torch.Tensor) -> torch.Tensor:
        return x * 2 + 1

    tensor = torch.ones(3, device="cuda")
    assert ["mul", "add"] == [name for name, _ in list_kernels(lambda: twice_plus(tensor))]
    assert [3.0] * 3 == twice_plus(tensor).tolist()


def test_half_ops_that_the_cpu_lacks_compute(simulation: Any) -> None:
    """In half precision on the device, as CUDA's kernels do."""
    pooled = F.avg_pool3d(torch.ones(1, 1, 2, 2, 2, device="cuda", dtype=torch.float16), 2)
    assert (torch.float16, 1.0) == (pooled.dtype, pooled.item())


@pytest.mark.parametrize(
    "touch",
    [
        lambda cache, rows, new: cache.index_put_((rows, rows), new),
        lambda cache, rows, new: cache[0, 1:2].copy_(new[:1]),
        lambda cache, rows, new: cache[:, 1].copy_(new),
        lambda cache, rows, new: cache[rows, rows],
        lambda cache, rows, new: cache.index_select(1, rows),
        lambda cache, rows, new: cache[0].index_copy_(0, rows, new),
    ],
    ids=["index_put_", "slice", "column", "index", "index_select", "index_copy_"],
)
def test_a_few_elements_cost_the_same_in_a_large_tensor(simulation: Any, touch: Callable[..., Any]) -> None:
    """Counted are the bytes that are touched, not what lies between them."""
    times_us = []
    for capacity in (16, 16384):
        cache = torch.zeros(4, capacity, 64, device="cuda")
        rows, new = torch.arange(4, device="cuda"), torch.ones(4, 64, device="cuda")
        touch(cache, rows, new)
        begun, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begun.record()
        touch(cache, rows, new)
        ended.record()
        torch.cuda.synchronize()
        times_us.append(begun.elapsed_time(ended) * 1e3)
    assert times_us[0] == pytest.approx(times_us[1], rel=0.05)
