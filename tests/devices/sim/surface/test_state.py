"""What is written down and read back: state dicts, files, copies, printed tensors."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

pytestmark = pytest.mark.usefixtures("simulation")


def save(value: Any) -> io.BytesIO:
    """Return a file with a value."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("location", "expected"), [(None, "cuda"), ("cpu", "cpu"), ("cuda:0", "cuda")], ids=["default", "cpu", "cuda"]
)
def test_a_saved_tensor_comes_back_where_it_is_wanted(location: str | None, expected: str) -> None:
    """By default where it was."""
    file = save({"w": torch.arange(4.0, device="cuda")})
    loaded = torch.load(file, map_location=location)["w"]
    assert (expected, [0.0, 1.0, 2.0, 3.0]) == (loaded.device.type, loaded.tolist())


def test_a_pickled_tensor_comes_back() -> None:
    """On the device."""
    tensor = pickle.loads(pickle.dumps(torch.ones(2, device="cuda")))
    assert (True, [1.0, 1.0]) == (tensor.is_cuda, tensor.tolist())


def test_a_deep_copy_has_its_own_memory() -> None:
    """Of modules and of tensors."""
    layer = torch.nn.Linear(2, 2).cuda()
    twin = copy.deepcopy(layer)
    assert twin.weight.is_cuda
    assert layer.weight.data_ptr() != twin.weight.data_ptr()
    assert layer.weight.tolist() == twin.weight.tolist()


def test_a_state_dict_of_the_host_is_loaded_into_a_module_of_the_device() -> None:
    """Parameters stay where they are."""
    state = {"weight": torch.ones(2, 2), "bias": torch.zeros(2)}
    layer = torch.nn.Linear(2, 2).cuda()
    layer.load_state_dict(state)
    assert (True, [[1.0, 1.0], [1.0, 1.0]]) == (layer.weight.is_cuda, layer.weight.tolist())


def test_a_printed_tensor_names_its_device() -> None:
    """As PyTorch prints it."""
    assert "tensor([1.5000, 2.5000], device='cuda:0')" == repr(torch.tensor([1.5, 2.5], device="cuda"))


def test_tensors_are_compared_on_the_device() -> None:
    """``assert_close`` passes and fails as it should."""
    tensor = torch.randn(5, device="cuda")
    torch.testing.assert_close(tensor, tensor.clone())
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        torch.testing.assert_close(tensor, tensor + 1)
