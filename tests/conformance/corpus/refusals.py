"""What only a real GPU can do, and says so."""

from __future__ import annotations

import torch

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("refusals")


@TOPIC.refused("sparse")
def sparse_tensors(device: str) -> object:
    """A matrix in coordinate form: its parts are not the device's bytes here."""
    return torch.eye(3, device=device).to_sparse()


@TOPIC.refused("Triton")
def compiled_functions(device: str) -> object:
    """``torch.compile`` writes Triton kernels."""
    return torch.compile(lambda x: x * 2 + 1)(torch.ones(3, device=device))


@TOPIC.refused("NCCL")
def distributed_groups(device: str) -> object:
    """A process group over NCCL."""
    torch.distributed.init_process_group("nccl", init_method="tcp://127.0.0.1:29411", rank=0, world_size=1)
    return torch.ones(2, device=device)


@TOPIC.refused("one device")
def second_device(device: str) -> object:
    """A tensor on another GPU."""
    return torch.ones(3, device=f"{device}:1")


@TOPIC.refused("address")
def arrays_of_other_libraries(device: str) -> object:
    """The address that CuPy and Numba would read."""
    return torch.ones(3, device=device).__cuda_array_interface__["data"]


@TOPIC.refused("sparse")
def sparse_tensors_of_parts(device: str) -> object:
    """A sparse matrix of places and values."""
    places = torch.tensor([[0, 1], [1, 0]], device=device)
    return torch.sparse_coo_tensor(places, torch.ones(2, device=device), (2, 2))


@TOPIC.refused("CUPTI")
def profiles_of_the_device(device: str) -> object:
    """``torch.profiler`` with the device's kernels."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        return torch.ones(2, device=device)
