"""Tensors are where the user, or PyTorch's own code, puts them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

from judge.devices.sim.tensors.membership import Ranges

pytestmark = pytest.mark.usefixtures("simulation")

MAKERS: dict[str, Callable[..., Any]] = {
    "zeros": lambda **kw: torch.zeros(2, **kw),
    "ones": lambda **kw: torch.ones(2, **kw),
    "full": lambda **kw: torch.full((2,), 3, **kw),
    "empty": lambda **kw: torch.empty(2, **kw),
    "arange": lambda **kw: torch.arange(3, **kw),
    "linspace": lambda **kw: torch.linspace(0, 1, 3, **kw),
    "eye": lambda **kw: torch.eye(2, **kw),
    "rand": lambda **kw: torch.rand(2, **kw),
    "randn": lambda **kw: torch.randn(2, **kw),
    "randint": lambda **kw: torch.randint(0, 5, (2,), **kw),
    "randperm": lambda **kw: torch.randperm(4, **kw),
    "tensor": lambda **kw: torch.tensor([1, 2], **kw),
    "as_tensor": lambda **kw: torch.as_tensor([1, 2], **kw),
    "asarray": lambda **kw: torch.asarray([1, 2], **kw),
    "tril_indices": lambda **kw: torch.tril_indices(2, 2, **kw),
    "hann_window": lambda **kw: torch.hann_window(4, **kw),
    "empty_strided": lambda **kw: torch.empty_strided((2, 2), (1, 2), **kw),
    "without elements": lambda **kw: torch.empty(0, **kw),
    "scalar": lambda **kw: torch.zeros((), **kw),
}
SPELLINGS = ["cuda", "cuda:0", 0, torch.device("cuda"), torch.device("cuda", 0)]


@pytest.mark.parametrize("name", MAKERS)
def test_a_factory_makes_a_tensor_where_it_is_told(name: str) -> None:
    """On the device when asked for, else on the host."""
    make = MAKERS[name]
    places = [make(device="cuda").device, make(device="cpu").device, make().device]
    assert [torch.device("cuda:0"), torch.device("cpu"), torch.device("cpu")] == places


@pytest.mark.parametrize("name", MAKERS)
def test_a_factory_follows_the_default_device(name: str) -> None:
    """Under ``with torch.device("cuda")``, a factory without a device makes a tensor of the device."""
    with torch.device("cuda"):
        made = MAKERS[name]()
    assert (True, False) == (made.is_cuda, MAKERS[name]().is_cuda)


@pytest.mark.parametrize("device", SPELLINGS, ids=str)
def test_a_device_can_be_spelt_in_many_ways(device: Any) -> None:
    """All mean ``cuda:0``."""
    made = torch.ones(2, device=device), torch.ones(2).to(device), torch.ones(2).cuda(device)
    assert [torch.device("cuda", 0)] * 3 == [tensor.device for tensor in made]


def test_what_a_tensor_says_of_itself() -> None:
    """Its attributes agree with one another."""
    tensor = torch.ones(2, device="cuda")
    said = tensor.is_cuda, tensor.is_cpu, tensor.get_device(), tensor.type(), tensor.untyped_storage().device.type
    assert (True, False, 0, "torch.cuda.FloatTensor", "cuda") == said


@pytest.mark.parametrize(
    "make",
    [
        lambda x: torch.zeros_like(x),
        lambda x: torch.empty_like(x, dtype=torch.int8),
        lambda x: x.new_zeros(3),
        lambda x: x.new_full((2,), 1.0),
        lambda x: x.new_tensor([1, 2]),
        lambda x: torch.rand_like(x),
        lambda x: torch.tensor(x.tolist(), device=x.device),
    ],
    ids=["zeros_like", "empty_like", "new_zeros", "new_full", "new_tensor", "rand_like", "tensor"],
)
def test_a_tensor_made_like_another_is_where_that_is(make: Callable[[Any], Any]) -> None:
    """For tensors of the device as of the host."""
    assert (True, False) == (make(torch.ones(2, device="cuda")).is_cuda, make(torch.ones(2)).is_cuda)


def test_like_can_be_told_to_change_sides() -> None:
    """An explicit device wins over the tensor's."""
    tensor = torch.ones(2, device="cuda")
    made = torch.zeros_like(tensor, device="cpu"), torch.zeros_like(torch.ones(2), device="cuda")
    assert ["cpu", "cuda"] == [one.device.type for one in made]


def test_views_share_bytes_and_storage() -> None:
    """A view is a view, as on any device."""
    base = torch.arange(12.0, device="cuda").view(3, 4)
    part = base[1:, 1:]
    part += 10
    assert [0, 1, 2, 3, 4, 15, 16, 17, 8, 19, 20, 21] == base.flatten().tolist()
    assert base.untyped_storage().data_ptr() == part.untyped_storage().data_ptr()


def test_addresses_are_those_of_the_allocator() -> None:
    """A block that was freed is handed out again, with what the last owner left."""
    first = torch.full((100,), 7.0, device="cuda")
    address = first.data_ptr()
    del first
    second = torch.empty(100, device="cuda")
    assert (address, 0, [7.0] * 100) == (second.data_ptr(), address % 512, second.tolist())


def test_what_composites_make_inside_is_the_devices() -> None:
    """C++ code that makes a tensor like its argument asks for a CPU tensor: the result is the device's all the same."""
    table = torch.eye(3, device="cuda")
    results = [
        torch.linalg.matrix_rank(table),
        torch.nn.functional.one_hot(torch.tensor([0, 2], device="cuda")),
        torch.cdist(table, table),
        torch.block_diag(table, table),
        torch.cov(table),
        torch.trapezoid(table),
    ]
    assert [True] * len(results) == [result.is_cuda for result in results]


def test_what_composites_make_for_host_tensors_stays_the_hosts(simulation: Any) -> None:
    """And takes no memory of the device."""
    table = torch.eye(3)
    results = [torch.linalg.matrix_rank(table), torch.nn.functional.one_hot(torch.tensor([0, 2])), torch.cov(table)]
    assert ([False] * 3, 0) == ([result.is_cuda for result in results], torch.cuda.memory_allocated())


def test_all_views_of_an_undecided_tensor_are_decided_together() -> None:
    """Whoever shares the storage of a tensor that turns out to be the device's is the device's too."""
    undecided = torch.ops.aten.zeros.default([4])
    part = undecided[1:3]
    assert not part.is_cuda
    part.copy_(torch.ones(2, device="cuda"))
    assert (True, [0.0, 1.0, 1.0, 0.0]) == (undecided.is_cuda, undecided.tolist())


def test_a_decided_tensor_counts_as_allocated() -> None:
    """The allocator holds a block for it as long as it lives."""
    undecided = torch.ops.aten.zeros.default([1000])
    added = undecided + torch.ones(1000, device="cuda")
    with_it = torch.cuda.memory_allocated()
    del undecided
    assert (4096, True) == (with_it - torch.cuda.memory_allocated(), added.is_cuda)


def test_undecided_memory_is_given_back() -> None:
    """It is reused like any other."""
    addresses = {torch.ops.aten.zeros.default([1000]).data_ptr() for _ in range(5)}
    assert 1 == len(addresses)
    assert Ranges.undecided_low <= addresses.pop() < Ranges.undecided_high
