"""Errors are CUDA's, in its words."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

from judge.devices.sim.errors import NotSimulated

pytestmark = pytest.mark.usefixtures("simulation")


def test_elementwise_ops_refuse_two_devices() -> None:
    """The text of ``TensorIterator``."""
    with pytest.raises(
        RuntimeError,
        match=r"^Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu",
    ):
        torch.ones(2, device="cuda") + torch.ones(2)


def test_other_ops_name_the_argument() -> None:
    """The text of the generated wrappers."""
    with pytest.raises(
        RuntimeError,
        match=r"^Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors "
        r"on cuda:0 \(when checking argument in method wrapper_CUDA_mm\)$",
    ):
        torch.mm(torch.ones(2, 2, device="cuda"), torch.ones(2, 2))


def test_a_number_of_the_host_may_be_mixed_in() -> None:
    """A CPU tensor without dimensions is taken for a number."""
    assert [3.0, 3.0] == (torch.ones(2, device="cuda") + torch.tensor(2.0)).tolist()


def test_a_host_tensor_cannot_take_the_result() -> None:
    """``out=`` on the host is refused, also without dimensions."""
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.add(torch.ones((), device="cuda"), 1, out=torch.zeros(()))


def test_numpy_has_to_be_asked_for_on_the_host() -> None:
    """The text that sends people to ``Tensor.cpu``."""
    with pytest.raises(TypeError, match=r"^can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu\(\)"):
        torch.ones(2, device="cuda").numpy()


@pytest.mark.parametrize(
    "index",
    [
        lambda x, i: x[i],
        lambda x, i: x.index_select(0, i),
        lambda x, i: x.gather(0, i),
        lambda x, i: torch.nn.functional.embedding(i, x.view(3, 1)),
    ],
    ids=["index", "index_select", "gather", "embedding"],
)
def test_an_index_out_of_range_is_a_device_side_assert(index: Any) -> None:
    """Found by a kernel on a GPU, some calls later; raised at once here, as under ``CUDA_LAUNCH_BLOCKING=1``."""
    with pytest.raises(RuntimeError, match=r"^CUDA error: device-side assert triggered"):
        index(torch.ones(3, device="cuda"), torch.tensor([5], device="cuda"))


def test_a_cpu_generator_is_refused_for_the_device() -> None:
    """And the other way round."""
    with pytest.raises(RuntimeError, match=r"Expected a 'cuda' device type for generator but found 'cpu'"):
        torch.randn(2, device="cuda", generator=torch.Generator())
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
        torch.randn(2, generator=torch.Generator("cuda"))


def test_a_device_tensor_cannot_be_pinned() -> None:
    """Pinned memory is the host's."""
    with pytest.raises(RuntimeError, match=r"cannot pin 'torch\.cuda\.FloatTensor' only dense"):
        torch.ones(2, device="cuda").pin_memory()


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.ones(2, device="cuda:1"),
        lambda: torch.ones(2).to("cuda:1"),
        lambda: torch.ones(2, 2, device="cuda").to_sparse(),
        lambda: torch.compile(lambda x: x),
        lambda: torch.ones(2, device="cuda").__cuda_array_interface__,
    ],
    ids=["second device", "second device by to", "sparse", "compile", "array interface"],
)
def test_what_is_not_simulated_says_so(call: Any) -> None:
    """It names itself and says that it needs a real GPU."""
    with pytest.raises(NotSimulated, match="needs a real GPU"):
        call()


def test_more_than_the_device_has_is_refused_before_the_host_makes_it() -> None:
    """200 GB are an out-of-memory error, not a dead process."""
    with pytest.raises(torch.OutOfMemoryError, match=r"CUDA out of memory\. Tried to allocate"):
        torch.zeros(200 << 30, dtype=torch.uint8, device="cuda")
