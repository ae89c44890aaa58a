"""The few functions of the CUDA runtime that ``torch.cuda.cudart()`` offers."""

from __future__ import annotations

import ctypes
from enum import IntEnum

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.machine import Machine


class CudaStatus(IntEnum):
    """``cudaError_t``, as far as callers compare with it."""

    success = 0
    invalidValue = 1


class Cudart:
    """Stands for the module that ``torch.cuda.cudart()`` returns.

    Args:
        machine: the device.

    Source: ``initCudartBindings`` of torch._C, torch 2.13.
    """

    cudaError = CudaStatus

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def cudaGetErrorString(self, error: int) -> str:
        """Return the text of an error."""
        return "no error" if error == CudaStatus.success else "unrecognized error code"

    def cudaProfilerStart(self) -> CudaStatus:
        """Do nothing: no profiler listens."""
        return CudaStatus.success

    def cudaProfilerStop(self) -> CudaStatus:
        """Do nothing: no profiler listens."""
        return CudaStatus.success

    def cudaStreamCreate(self, address: int) -> CudaStatus:
        """Make a *blocking* stream, and write its handle to an address."""
        ctypes.c_void_p.from_address(int(address)).value = self._machine.streams.create().handle
        return CudaStatus.success

    def cudaStreamDestroy(self, handle: int) -> CudaStatus:  # noqa: ARG002  # CUDA's name
        """Do nothing: what a stream still has to do is done all the same."""
        return CudaStatus.success

    def cudaMemGetInfo(self, device: int = 0) -> tuple[int, int]:  # noqa: ARG002  # CUDA's name
        """Return the free and the total bytes of the device."""
        driver = self._machine.memory.driver
        return driver.free_bytes, driver.total_bytes

    def cudaHostRegister(self, address: int, size: int, flags: int) -> CudaStatus:  # noqa: ARG002  # CUDA's name
        """Refuse: memory is pinned where it is allocated."""
        raise NotSimulated("cudaHostRegister", "memory that exists already cannot be pinned here; use pin_memory()")

    def cudaHostUnregister(self, address: int) -> CudaStatus:  # noqa: ARG002  # CUDA's name
        """Refuse, as registering does."""
        raise NotSimulated("cudaHostUnregister", "memory that exists already cannot be pinned here")
