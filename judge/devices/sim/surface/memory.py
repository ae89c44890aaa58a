"""The memory half of ``torch.cuda``: PyTorch's own Python code, on the simulated allocators. (torch)"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.surface.bases import swap_base
from judge.devices.sim.surface.memory_calls import MemoryCalls
from judge.devices.sim.surface.memory_history import HistoryCalls
from judge.devices.sim.surface.memory_pools import PoolCalls, make_pool_base

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

_NVML = "only NVML, the driver's management library, knows the processes on a GPU"
_FOREIGN = "allocators of other libraries call the CUDA driver themselves"
_TREES = "torch.compile's graph trees put allocator states back"

REFUSED = {
    "_cuda_cudaHostAllocator": ("torch.cuda.memory._host_allocator", "it is a pointer to C++ code"),
    "_cuda_customAllocator": ("torch._C._cuda_customAllocator", _FOREIGN),
    "_cuda_changeCurrentAllocator": ("torch.cuda.memory.change_current_allocator", _FOREIGN),
    "_cuda_getAllocator": ("torch.cuda.memory._get_current_allocator", _FOREIGN),
    "_cuda_getCheckpointState": ("torch._C._cuda_getCheckpointState", _TREES),
    "_cuda_setCheckpointPoolState": ("torch._C._cuda_setCheckpointPoolState", _TREES),
}
"""Functions of ``torch._C`` that can't be had without a GPU: how the user knows them, and why."""


def install(simulation: Simulation, patches: Patches) -> None:
    """Put the simulated allocators under ``torch.cuda.memory`` and under the memory half of ``torch.accelerator``."""
    machine = simulation.machine
    pools = PoolCalls(machine)
    workspaces = simulation.execution.workspaces
    functions: dict[str, Callable[..., Any]] = {
        **MemoryCalls(machine).as_functions(),
        **HistoryCalls(machine).as_functions(),
        **pools.as_functions(),
        "_cuda_clearCublasWorkspaces": workspaces.clear,
        "_cuda_getCublasWorkspaceSize": workspaces.find_size,
        "_cuda_getCurrentBlasHandle": lambda: workspaces.find_handle(machine.current),
        **{name: _refuse(what, why) for name, (what, why) in REFUSED.items()},
    }
    memory = torch.cuda.memory
    for name, function in functions.items():
        patches.set(torch._C, name, function)
        if name in vars(memory):  # imported there by name
            patches.set(memory, name, function)
    swap_base(patches, memory.MemPool, make_pool_base(pools))
    for module in (torch.cuda, memory):
        patches.set(module, "mem_get_info", _make_mem_get_info(simulation))
        patches.set(module, "list_gpu_processes", _refuse("torch.cuda.list_gpu_processes", _NVML))
    patches.set(
        memory.CUDAPluggableAllocator, "__init__", _refuse("torch.cuda.memory.CUDAPluggableAllocator", _FOREIGN)
    )
    if hasattr(memory, "_use_uvm"):
        patches.set(memory, "_use_uvm", _refuse("torch.cuda.memory._use_uvm", "managed memory pages on a real GPU"))


def _refuse(what: str, why: str) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise NotSimulated(what, why)

    return refuse


def _make_mem_get_info(simulation: Simulation) -> Callable[..., tuple[int, int]]:
    def mem_get_info(device: Any = None) -> tuple[int, int]:  # noqa: ANN401  # whatever names a device
        """Return the free and the total bytes of the device."""
        index = torch.cuda._utils._get_device_index(device, optional=True)
        return MemoryCalls(simulation.machine).get_info(index)

    return mem_get_info
