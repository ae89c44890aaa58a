"""Allocation, statistics and settings: what ``torch.cuda.memory`` asks of ``torch._C``. (torch)"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim import storages
from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.provision import read_options

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine

POOLS_KEY = "reserved_bytes_by_private_pools"
HAS_POOLS = POOLS_KEY in (torch.cuda.memory.memory_stats.__doc__ or "")
"""Whether this version's Python code knows these statistics; an older one can't flatten pool ids."""


class MemoryCalls:
    """Stands for the functions of the same names in ``torch._C``.

    Args:
        machine: whose memory.

    Source: torch/csrc/cuda/Module.cpp and torch/csrc/DeviceAccelerator.cpp, torch 2.13.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def as_functions(self) -> dict[str, Callable[..., Any]]:
        """Return them by their names there."""
        return {
            "_cuda_cudaCachingAllocator_raw_alloc": self.allocate,
            "_cuda_cudaCachingAllocator_raw_delete": self.delete,
            "_cuda_cudaCachingAllocator_enable": self.enable,
            "_cuda_cudaCachingAllocator_is_enabled": self.is_enabled,
            "_cuda_cudaCachingAllocator_set_allocator_settings": self.set_settings,
            "_cuda_attach_out_of_memory_observer": self.attach_observer,
            "_cuda_emptyCache": self.empty_cache,
            "_cuda_getAllocatorBackend": lambda: "native",
            "_cuda_getMemoryFraction": self.get_fraction,
            "_cuda_setMemoryFraction": self.set_fraction,
            "_cuda_memoryStats": self.get_stats,
            "_cuda_resetAccumulatedMemoryStats": self.reset_accumulated,
            "_cuda_resetPeakMemoryStats": self.reset_peak,
            "_cuda_hostMemoryStats": self.get_host_stats,
            "_cuda_resetAccumulatedHostMemoryStats": self.reset_host_accumulated,
            "_cuda_resetPeakHostMemoryStats": self.reset_host_peak,
            "_host_emptyCache": self.empty_host_cache,
            "_accelerator_isAllocatorInitialized": lambda: True,
            "_accelerator_emptyCache": self.empty_cache,
            "_accelerator_emptyHostCache": self.empty_host_cache,
            "_accelerator_getDeviceStats": self.get_stats,
            "_accelerator_resetAccumulatedStats": self.reset_accumulated,
            "_accelerator_resetPeakStats": self.reset_peak,
            "_accelerator_getMemoryInfo": self.get_info,
            "_accelerator_getAllocatorSettings": self.get_settings,
            "_accelerator_setAllocatorSettings": self.set_settings,
        }

    def allocate(self, size: int, stream: int) -> int:
        """Return the address of ``size`` bytes for work on the stream with this handle."""
        return storages.allocate(self._machine, size, self._machine.streams.external(stream))

    def delete(self, address: int) -> None:
        """Free what ``allocate`` gave out."""
        if address:
            self._machine.memory.free(address)

    def enable(self, is_caching: bool) -> None:
        """Keep freed memory for later requests, or give it to the driver at once."""
        self._machine.memory.is_caching = bool(is_caching)

    def is_enabled(self) -> bool:
        """Tell whether freed memory is kept for later requests."""
        return bool(self._machine.memory.is_caching)

    def empty_cache(self) -> None:
        """Give unused segments back to the driver."""
        self._machine.memory.empty_cache()

    def empty_host_cache(self) -> None:
        """Give unused pinned memory back to the driver."""
        self._machine.pinned.empty_cache()

    def attach_observer(self, observer: Callable[[int, int, int, int], None]) -> None:
        """Let an observer be told of each out-of-memory error before it is raised."""
        self._machine.memory.allocator.observers.append(observer)

    def get_fraction(self, device: int) -> float:
        """Return the share of the device's memory that may be reserved."""
        check_device(device)
        return float(self._machine.memory.memory_fraction)

    def set_fraction(self, fraction: float, device: int) -> None:
        """Allow only a share of the device's memory to be reserved."""
        check_device(device)
        self._machine.memory.set_memory_fraction(fraction)

    def get_info(self, device: int) -> tuple[int, int]:
        """Return the free and the total bytes of the device."""
        check_device(device)
        memory = self._machine.memory
        memory.lifetimes.settle()
        return memory.driver.free_bytes, memory.driver.total_bytes

    def get_stats(self, device: int) -> dict[str, Any]:
        """Return the allocator's statistics as nested dictionaries; private pools by their ids."""
        check_device(device)
        memory = self._machine.memory
        memory.lifetimes.settle()
        nested: dict[str, Any] = memory.allocator.memory_stats_as_nested()
        by_pool = nested.pop(POOLS_KEY)
        if HAS_POOLS:
            nested[POOLS_KEY] = {tuple(map(int, key.split("_"))): figures for key, figures in by_pool.items()}
        return nested

    def reset_accumulated(self, device: int) -> None:
        """Start all sums and counters anew from 0."""
        check_device(device)
        self._machine.memory.lifetimes.settle()
        self._machine.memory.allocator.reset_accumulated_memory_stats()

    def reset_peak(self, device: int) -> None:
        """Start all peaks anew from the current values."""
        check_device(device)
        self._machine.memory.lifetimes.settle()
        self._machine.memory.allocator.reset_peak_memory_stats()

    def get_host_stats(self) -> dict[str, Any]:
        """Return the statistics of pinned memory as nested dictionaries."""
        pinned = self._machine.pinned
        pinned.lifetimes.settle()
        nested: dict[str, Any] = pinned.statistics.as_nested()
        return nested

    def reset_host_accumulated(self) -> None:
        """Start all sums and counters of pinned memory anew from 0."""
        self._machine.pinned.lifetimes.settle()
        self._machine.pinned.statistics.reset_accumulated()

    def reset_host_peak(self) -> None:
        """Start all peaks of pinned memory anew from the current values."""
        self._machine.pinned.lifetimes.settle()
        self._machine.pinned.statistics.reset_peaks()

    def get_settings(self) -> str:
        """Return the configuration string in force."""
        return str(self._machine.memory.allocator.settings.text)

    def set_settings(self, text: str) -> None:
        """Take a configuration string into force.

        Raises:
            ValueError: an option is unknown or its value is not allowed; PyTorch's text.
            NotSimulated: it asks for what only a real GPU has.
        """
        allocator = self._machine.memory.allocator
        settings = read_options(text, f"the allocator setting {text!r}", allocator.settings)
        allocator.configure(settings)
        self._machine.pinned.settings = settings


def check_device(index: int) -> None:
    """Refuse every device but the simulated one.

    Raises:
        NotSimulated: it is another.
    """
    if index != 0:
        raise NotSimulated(f"cuda:{index}", "one device is simulated, cuda:0")
