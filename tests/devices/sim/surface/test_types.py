"""Types of tensors by their old names, on either side."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

from judge.devices.sim.surface.types import NAMES

TYPES = pytest.mark.parametrize("name", NAMES)


@TYPES
@pytest.mark.usefixtures("simulation")
def test_a_tensor_is_of_its_own_sides_type_only(name: str) -> None:
    """By ``isinstance`` and by ``type()``."""
    ours, hosts = getattr(torch.cuda, name), getattr(torch, name)
    for device, right, wrong in (("cuda", ours, hosts), ("cpu", hosts, ours)):
        tensor = torch.ones(2, dtype=NAMES[name], device=device)
        assert [True, False] == [isinstance(tensor, right), isinstance(tensor, wrong)]
        assert f"{right.__module__}.{name}" == tensor.type()


@TYPES
@pytest.mark.usefixtures("simulation")
def test_a_type_makes_tensors(name: str) -> None:
    """Of sizes, of data, of nothing; and tensors are converted to it."""
    kind = getattr(torch.cuda, name)
    made = [kind(2, 3), kind(torch.Size([4])), kind([1, 0]), kind(), torch.ones(2).type(kind), kind(1).new(5)]
    assert [(2, 3), (4,), (2,), (0,), (2,), (5,)] == [tuple(tensor.shape) for tensor in made]
    assert all(isinstance(tensor, kind) for tensor in made)
    assert [1, 0] == made[2].tolist()


@pytest.mark.usefixtures("simulation")
def test_other_tensors_are_no_data_for_a_type() -> None:
    """With PyTorch's error; one of its own type is shared."""
    own = torch.ones(2, device="cuda")
    assert own.data_ptr() == torch.cuda.FloatTensor(own).data_ptr()
    with pytest.raises(TypeError, match=r"expected torch\.cuda\.FloatTensor \(got torch\.FloatTensor\)"):
        torch.cuda.FloatTensor(torch.ones(2))


@pytest.mark.usefixtures("simulation")
def test_new_is_of_its_own_type_where_that_has_no_old_name() -> None:
    """Complex numbers have none in ``torch.cuda``."""
    made = torch.ones(2, dtype=torch.complex64, device="cuda").new(3)
    assert (torch.complex64, (3,), "cuda") == (made.dtype, tuple(made.shape), made.device.type)
    with pytest.raises(TypeError, match=r"\(got torch\.cuda\.HalfTensor\)"):
        torch.ones(2, device="cuda").new(torch.ones(2, dtype=torch.float16, device="cuda"))


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
@pytest.mark.usefixtures("simulation")
def test_a_type_can_be_the_default() -> None:
    """Then factories make tensors of it."""
    try:
        torch.set_default_tensor_type(torch.cuda.HalfTensor)
        assert isinstance(torch.zeros(2), torch.cuda.HalfTensor)
    finally:
        torch.set_default_device(None)
        torch.set_default_tensor_type(torch.FloatTensor)


def test_the_names_are_put_back(simulation: Any) -> None:
    """As torch has them without a device."""
    ours = torch.cuda.FloatTensor, torch.FloatTensor
    simulation.close()
    assert (ours[0].stock, ours[1].stock) == (torch.cuda.FloatTensor, torch.FloatTensor)


@pytest.mark.usefixtures("simulation")
@pytest.mark.parametrize(
    ("options", "expected"),
    [((0, 3), [0, 1, 2, 3]), ((1, 2, 0.5), [1, 1.5, 2])],
    ids=["two ends", "a step"],
)
def test_the_old_range_counts_both_ends(options: tuple[float, ...], expected: list[float]) -> None:
    """With PyTorch's warning."""
    with pytest.warns(UserWarning, match=r"torch\.range is deprecated"):
        numbers = torch.range(*options, device="cuda")
    assert expected == numbers.tolist()
    assert numbers.is_cuda
