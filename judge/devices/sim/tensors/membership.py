"""Whether a tensor is on the simulated device: its address says so. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from judge.devices.sim.tensors.undecided import Undecided

_data_ptr = torch._C.TensorBase.data_ptr
_untyped_storage = torch._C.TensorBase.untyped_storage

_NOWHERE = (0, 0)


class Ranges:
    """Address ranges of the one installation a process can have; all empty while there is none."""

    device_low = 0
    """First byte of memory that the caching allocator hands out."""
    device_high = 0
    undecided_low = 0
    """First byte of memory whose tensors may turn out to be the host's."""
    undecided_high = 0
    pinned_low = 0
    pinned_high = 0
    undecided: Undecided | None = None

    @classmethod
    def open(cls, device: tuple[int, int], pinned: tuple[int, int], undecided: Undecided | None) -> None:
        """Take ranges into force; each is its first address and the one after its last."""
        cls.device_low, cls.device_high = device
        cls.pinned_low, cls.pinned_high = pinned
        cls.undecided = undecided
        cls.undecided_low, cls.undecided_high = undecided.range if undecided is not None else _NOWHERE

    @classmethod
    def close(cls) -> None:
        """Forget all ranges: tensors that are still alive are the host's from now on."""
        cls.open(_NOWHERE, _NOWHERE, None)


def find_address(tensor: torch.Tensor) -> int:
    """Return where a tensor's bytes begin; for an empty one, where its storage does; 0 without a storage."""
    try:
        return _data_ptr(tensor) or _untyped_storage(tensor).data_ptr()
    except (RuntimeError, NotImplementedError):  # sparse, meta, functorch's wrappers, a storage that was given up
        return 0


def is_device(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is on the device; one that is not decided yet counts as the host's.

    Synchronises: no.
    """
    try:
        address = _data_ptr(tensor) or find_address(tensor)
    except (RuntimeError, NotImplementedError):
        return False
    if Ranges.device_low <= address < Ranges.device_high:
        return True
    if Ranges.undecided_low <= address < Ranges.undecided_high:
        undecided = Ranges.undecided
        return undecided is not None and undecided.is_device(tensor)
    return False


def is_device_storage(storage: Value) -> bool:
    """Return whether an ``UntypedStorage`` is on the device."""
    address = storage.data_ptr()
    if Ranges.device_low <= address < Ranges.device_high:
        return True
    undecided = Ranges.undecided
    return undecided is not None and undecided.is_device_address(address)


def is_pinned(tensor: torch.Tensor) -> bool:
    """Return whether a tensor is in pinned host memory."""
    return Ranges.pinned_low <= find_address(tensor) < Ranges.pinned_high
