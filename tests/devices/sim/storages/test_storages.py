"""Tensors on an arena's bytes: the block lives exactly as long as the storage."""

from __future__ import annotations

import gc
import warnings

import pytest

from judge.devices.sim.provision import provide_memory
from tests.devices.sim.engine import make_machine

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch says that it lacks NumPy
    torch = pytest.importorskip("torch")

from judge.devices.sim.storages import count_bytes, new_pinned, new_tensor, view_bytes  # needs torch


@pytest.fixture
def machine():
    """Return a device with memory, of which torch knows nothing."""
    machine = make_machine()
    provide_memory(machine, environment={})
    yield machine
    machine.memory.close()
    machine.pinned.close()


def allocated(machine):
    """Return the bytes in blocks that are handed out."""
    return machine.memory.allocator.memory_allocated()


def test_a_tensor_is_a_block_of_its_size(machine):
    """The type is plain, and nothing of a view hangs on it."""
    tensor = new_tensor(machine, (3, 100), (100, 1), torch.float32)
    assert torch.Tensor is type(tensor)
    assert tensor.data_ptr() in machine.memory.arena
    assert (torch.Size([3, 100]), (100, 1), torch.float32) == (tensor.shape, tensor.stride(), tensor.dtype)
    assert (1200, 1536) == (tensor.untyped_storage().nbytes(), allocated(machine))
    assert tensor._base is None
    assert tensor.is_leaf


@pytest.mark.parametrize(
    "dtype",
    [torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.int8, torch.bool, torch.complex64],
    ids=str,
)
def test_every_dtype_has_a_storage(machine, dtype):
    """Its bytes are counted by its own item size."""
    tensor = new_tensor(machine, (5, 2), (2, 1), dtype)
    assert (dtype, 10 * dtype.itemsize) == (tensor.dtype, tensor.untyped_storage().nbytes())


def test_strides_are_kept(machine):
    """A transposed and an expanded layout too; the storage reaches to the last element."""
    tensor = new_tensor(machine, (4, 3), (1, 8), torch.int32)
    assert (1, 8) == tensor.stride()
    assert 4 * (3 + 2 * 8 + 1) == tensor.untyped_storage().nbytes()
    assert 4 == new_tensor(machine, (7,), (0,), torch.int32).untyped_storage().nbytes()
    assert () == new_tensor(machine, (), (), torch.int32).shape


def test_the_block_is_freed_when_the_last_tensor_on_it_dies(machine):
    """Views keep it; there is no delay."""
    tensor = new_tensor(machine, (8, 8), (8, 1), torch.float32)
    view = tensor[2:].t()
    del tensor
    assert 512 == allocated(machine)
    del view
    assert 0 == allocated(machine)


def test_autograd_keeps_what_it_saved(machine):
    """And lets go of it after the backward pass."""
    weight = new_tensor(machine, (4,), (1,), torch.float32).fill_(2.0).requires_grad_()
    saved = new_tensor(machine, (4,), (1,), torch.float32).fill_(3.0)
    loss = (weight * saved).sum()
    del saved
    assert 1024 == allocated(machine)
    loss.backward()
    assert 512 == allocated(machine)


def test_a_reused_block_shows_its_old_and_its_new_bytes(machine):
    """Whoever still looks at the address sees the next owner's data."""
    tensor = new_tensor(machine, (4,), (1,), torch.int32).fill_(1)
    stale = view_bytes(machine, tensor.data_ptr(), (4,), (1,), torch.int32)
    del tensor
    new = new_tensor(machine, (2, 2), (2, 1), torch.int32)
    assert [[1, 1], [1, 1]] == new.tolist()
    new.fill_(7)
    assert [7, 7, 7, 7] == stale.tolist()


def test_a_tensor_in_a_cycle_is_freed_by_the_next_request(machine):
    """The collector may run in the middle of an allocation: its frees wait."""
    cycle = [new_tensor(machine, (4,), (1,), torch.float32)]
    address = cycle[0].data_ptr()
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert address == new_tensor(machine, (4,), (1,), torch.float32).data_ptr()


def test_a_tensor_without_elements_has_no_block(machine):
    """But its storage is known as the device's."""
    tensor = new_tensor(machine, (0, 3), (3, 1), torch.float32)
    assert (torch.Size([0, 3]), 0, 0) == (tensor.shape, tensor.untyped_storage().nbytes(), allocated(machine))
    assert tensor.untyped_storage().data_ptr() in machine.memory.arena


def test_the_stream_decides_which_blocks_are_reused(machine):
    """A block goes back to the stream that it was made for."""
    other = machine.streams.get()
    first = new_tensor(machine, (4,), (1,), torch.float32, stream=other)
    address = first.data_ptr()
    del first
    assert address != new_tensor(machine, (4,), (1,), torch.float32).data_ptr()
    machine.current = other
    assert address == new_tensor(machine, (4,), (1,), torch.float32).data_ptr()


def test_out_of_memory_is_torch_s_own_error(machine):
    """No host memory is touched before the device says no."""
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 200\.00 GiB\. GPU 0 has a total capacity of"):
        new_tensor(machine, (200 << 30,), (1,), torch.uint8)


def test_pinned_tensors_lie_in_pinned_memory(machine):
    """They are reused at once, with their old bytes."""
    tensor = new_pinned(machine, (100,), (1,), torch.float32).fill_(5.0)
    address = tensor.data_ptr()
    assert address in machine.pinned.arena
    del tensor
    again = new_pinned(machine, (10, 10), (10, 1), torch.float32)
    assert (address, 5.0) == (again.data_ptr(), again[9, 9].item())
    assert 0 == allocated(machine)


def test_a_view_of_bytes_owns_nothing(machine):
    """Its death frees nothing; it may look into pinned memory too."""
    tensor = new_tensor(machine, (4,), (1,), torch.int32).fill_(1)
    pinned = new_pinned(machine, (4,), (1,), torch.int32).fill_(2)
    views = [view_bytes(machine, t.data_ptr() + 4, (2,), (1,), torch.int32) for t in (tensor, pinned)]
    assert [[1, 1], [2, 2]] == [view.tolist() for view in views]
    del views
    assert 512 == allocated(machine)


def test_tensors_made_under_inference_mode_belong_to_it(machine):
    """As any result of an op there."""
    with torch.inference_mode():
        tensor = new_tensor(machine, (2, 2), (2, 1), torch.float32)
        tensor.add_(1)
    assert tensor.is_inference()


def test_a_tensor_that_outlives_its_device_stays_readable():
    """And keeps its addresses from the next device."""
    machine = make_machine()
    provide_memory(machine, environment={})
    tensor = new_tensor(machine, (4,), (1,), torch.int32).fill_(9)
    machine.memory.close()
    machine.pinned.close()
    after = make_machine()
    provide_memory(after, environment={})
    new = new_tensor(after, (4,), (1,), torch.int32).fill_(1)
    assert [9, 9, 9, 9] == tensor.tolist()
    assert new.data_ptr() != tensor.data_ptr()
    del tensor, new
    after.memory.close()
    after.pinned.close()


@pytest.mark.parametrize(
    ("size", "stride", "expected"),
    [((), (), 4), ((3,), (1,), 12), ((2, 3), (3, 1), 24), ((2, 3), (0, 1), 12), ((4, 0), (1, 1), 0), ((2,), (5,), 24)],
    ids=["scalar", "vector", "matrix", "expanded", "empty", "gaps"],
)
def test_bytes_are_counted_from_the_first_element_to_the_last(size, stride, expected):
    """Gaps between elements included."""
    assert expected == count_bytes(size, stride, 4)
