"""The memory of cuBLAS: taken once for each thread and stream, of the size that the environment asks for."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import pytest

from judge.devices.sim.tensors.workspaces import read_size

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

MIB = 1 << 20
BLOCK = 32 * MIB


@pytest.fixture
def square(simulation: Any) -> Any:  # its device
    """Return a small matrix that wants a gradient."""
    return torch.ones(16, 16, device="cuda", requires_grad=True)


def count_blocks() -> int:
    """Return how many workspaces the allocator holds."""
    return torch.cuda.memory_allocated() // BLOCK


def test_the_first_product_of_a_stream_takes_one(square: Any) -> None:
    """And keeps it, whatever is freed."""
    counts = [count_blocks()]
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for _ in range(2):
                square.detach() @ square.detach()
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
                counts.append(count_blocks())
    assert [0, 1, 1, 2, 2] == counts


def test_a_backward_pass_has_one_of_its_own(square: Any) -> None:
    """It runs on a thread of its own, and a handle belongs to a thread."""
    for _ in range(2):
        (square @ square).sum().backward()
    assert 2 == count_blocks()


def test_threads_that_come_one_after_the_other_share_a_handle(square: Any) -> None:
    """The handle of a thread that has ended goes to the next."""
    matrix = square.detach()
    for _ in range(3):
        thread = threading.Thread(target=lambda: matrix @ matrix)
        thread.start()
        thread.join()
    assert 1 == count_blocks()


def test_other_ops_take_none(square: Any) -> None:
    """Nor does a product without elements."""
    torch.nn.functional.scaled_dot_product_attention(*[square.detach().view(1, 2, 8, 16)] * 3)
    square.detach()[:0] @ square.detach()
    assert 0 == count_blocks()


def test_all_can_be_given_back(square: Any) -> None:
    """PyTorch's own function; the next product takes one anew."""
    square.detach() @ square.detach()
    torch._C._cuda_clearCublasWorkspaces()
    counts = [count_blocks()]
    square.detach() @ square.detach()
    assert [0, 1] == [*counts, count_blocks()]


def test_in_a_capture_it_comes_from_the_graphs_pool(square: Any) -> None:
    """And stays there when the graph is gone."""
    matrix = square.detach()
    matrix @ matrix
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        matrix @ matrix
    sizes = [segment["total_size"] for segment in torch.cuda.memory_snapshot() if segment["segment_pool_id"] != (0, 0)]
    assert BLOCK in sizes
    graph.reset()
    torch.cuda.empty_cache()
    assert 2 == count_blocks()


def test_memory_that_runs_out_is_pytorchs_error(square: Any) -> None:
    """The workspace too can be what does not fit."""
    torch.cuda.set_per_process_memory_fraction(20 * MIB / torch.cuda.get_device_properties(0).total_memory)
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 32\.00 MiB"):
        square.detach() @ square.detach()


@pytest.mark.parametrize(
    ("text", "size"),
    [(None, BLOCK), (":4096:8", BLOCK), (":16:8", 128 * 1024), (":4096:2:16:8", 8_519_680), (":0:0", 0)],
    ids=["unset", "one piece", "small", "two pieces", "nothing"],
)
def test_the_environment_says_how_large(text: str | None, size: int) -> None:
    """Pieces of a size in KiB and a count."""
    assert size == read_size(text, 32 * 1024)


def test_what_can_not_be_read_is_warned_of() -> None:
    """With PyTorch's text, and the default taken."""
    with pytest.warns(UserWarning, match=f"Could not parse CUBLAS_WORKSPACE_CONFIG.* of {BLOCK} bytes"):
        assert BLOCK == read_size("big", 32 * 1024)
