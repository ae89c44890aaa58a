"""The device half of ``torch.cuda``: what is there, which is current, what it is like, waiting for it (torch)."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim.cost import Work
from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.machine import Machine
from judge.devices.sim.patches import Patches
from judge.devices.sim.profile import Profile
from judge.devices.sim.surface.cudart import Cudart
from judge.devices.sim.surface.nvtx import Nvtx
from judge.devices.sim.surface.streams import check_index

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation

CUDA_VERSION = "13.0"
ARCHITECTURES = "sm_90"
DEBUG_MODE_TEXT = (
    "Synchronization debug mode is a prototype feature and does not yet detect all synchronizing operations"
)


class DeviceProperties:
    """What ``torch.cuda.get_device_properties`` returns; the attributes are PyTorch's.

    Args:
        profile: the device's constants.
    """

    def __init__(self, profile: Profile) -> None:
        device = profile.device
        self.name = device.name
        self.major, self.minor = device.compute_capability
        self.total_memory = device.total_bytes
        self.multi_processor_count = device.multiprocessors
        self.uuid = "00000000-0000-0000-0000-000000000000"
        self.pci_bus_id = self.pci_device_id = self.pci_domain_id = 0
        self.L2_cache_size = device.l2_bytes
        self.warp_size = 32
        self.max_threads_per_multi_processor = device.threads_per_multiprocessor
        self.max_threads_per_block = device.threads_per_block
        self.regs_per_multiprocessor = device.registers_per_multiprocessor
        self.shared_memory_per_block = device.shared_bytes_per_block
        self.shared_memory_per_block_optin = device.shared_bytes_per_block_optin
        self.shared_memory_per_multiprocessor = device.shared_bytes_per_multiprocessor
        self.clock_rate = device.clock_khz
        self.memory_clock_rate = device.memory_clock_khz
        self.memory_bus_width = device.memory_bus_bits
        self.is_integrated = self.is_multi_gpu_board = 0
        self.gcnArchName = device.name

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB, multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, pci_bus_id={self.pci_bus_id}, pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, L2_cache_size={self.L2_cache_size // 2**20}MB)"
        )


class DebugMode:
    """The switch of sync debug mode.

    Args:
        machine: the device.
    """

    def __init__(self, machine: Machine) -> None:
        self._ledger = machine.ledger
        self._was_warned = False

    def set(self, mode: int) -> None:
        """Set the mode: 0 quiet, 1 warn, 2 raise.

        Raises:
            RuntimeError: it is none of these.

        Source: ``THCPModule_cudaSetSyncDebugMode`` in torch/csrc/cuda/Module.cpp, torch 2.13.
        """
        if not self._was_warned:
            self._was_warned = True
            warnings.warn(DEBUG_MODE_TEXT, UserWarning, stacklevel=2)
        if mode not in (0, 1, 2):
            raise RuntimeError("invalid value of debug_mode, expected one of 0,1,2")
        self._ledger.debug_mode = mode

    def get(self) -> int:
        """Return the mode."""
        return self._ledger.debug_mode


def exchange_device(index: int) -> int:
    """Make a device current and return the one before: -1 and 0 are all there are.

    Raises:
        NotSimulated: another device was asked for.
    """
    if index < 0:
        return -1
    check_index(index, "torch.cuda.device")
    return 0


def _set_device(index: int) -> None:
    check_index(index, "torch.cuda.set_device")


def _refuse(what: str, why: str) -> Any:  # noqa: ANN401  # a function that never returns
    def refuse(*_: object, **__: object) -> None:
        raise NotSimulated(what, why)

    return refuse


def install(simulation: Simulation, patches: Patches) -> None:
    """Put one device under ``torch.cuda``."""
    machine = simulation.machine
    _install_state(machine, patches)
    _install_device(patches)
    _install_work(machine, patches)
    patches.set(torch.cuda.nvtx, "_nvtx", Nvtx())


def _install_state(machine: Machine, patches: Patches) -> None:
    """Let ``torch.cuda`` initialise itself lazily, as it does on a real device, with nothing to go wrong."""
    home: dict[str, int] = {}

    def initialise() -> None:
        home["process"] = os.getpid()

    def is_in_bad_fork() -> bool:
        return home.get("process", os.getpid()) != os.getpid()

    cuda: Any = torch.cuda
    properties = DeviceProperties(machine.profile)
    patches.set(torch._C, "_cuda_init", initialise)
    patches.set(torch._C, "_cuda_isInBadFork", is_in_bad_fork)
    patches.set(cuda, "_is_in_bad_fork", is_in_bad_fork)
    patches.set(cuda, "_initialized", False)
    patches.set(cuda, "_queued_calls", list(cuda._queued_calls))
    patches.set(cuda, "_lazy_seed_tracker", type(cuda._lazy_seed_tracker)())
    patches.set(cuda, "_cached_device_count", 1)
    patches.set(cuda, "_cudart", Cudart(machine))
    patches.set(cuda, "_get_device_properties", lambda index: properties)  # noqa: ARG005  # one device
    patches.set(torch._C, "_cudart", cuda._cudart)
    patches.set(torch._C, "_has_cuda", True)
    patches.set(torch.version, "cuda", CUDA_VERSION)


def _install_device(patches: Patches) -> None:
    cuda: Any = torch.cuda
    functions: dict[str, Any] = {
        "_cuda_getDeviceCount": lambda: 1,
        "_cuda_getDevice": lambda: 0,
        "_cuda_setDevice": _set_device,
        "_cuda_exchangeDevice": exchange_device,
        "_cuda_maybeExchangeDevice": exchange_device,
        "_cuda_canDeviceAccessPeer": lambda device, peer: False,  # noqa: ARG005  # there is no other
        "_cuda_hasPrimaryContext": lambda index: index == 0 and cuda.is_initialized(),
        "_cuda_getArchFlags": lambda: ARCHITECTURES,
        "_cuda_getCompiledVersion": lambda: 13000,
        "_cuda_lock_mutex": lambda: None,
        "_cuda_unlock_mutex": lambda: None,
        "_cuda_ipc_collect": lambda: None,
    }
    for name, function in functions.items():
        patches.set(torch._C, name, function)
    patches.set(cuda, "_exchange_device", exchange_device)
    patches.set(cuda, "_maybe_exchange_device", exchange_device)
    for name in ("utilization", "memory_usage", "temperature", "power_draw", "clock_rate", "device_memory_used"):
        if hasattr(cuda, name):
            patches.set(cuda, name, _refuse(f"torch.cuda.{name}", "a simulated device has no sensors"))


def _install_work(machine: Machine, patches: Patches) -> None:
    mode = DebugMode(machine)
    rate = machine.profile.device.sleep_cycles_per_us
    share = 1.0 / machine.profile.device.multiprocessors

    def sleep(cycles: int) -> None:
        machine.launch(Work("_sleep", max(0.0, cycles / rate), "sm", share), (), ())

    functions: dict[str, Any] = {
        "_cuda_synchronize": lambda: machine.synchronize_device("torch.cuda.synchronize"),
        "_cuda_sleep": sleep,
        "_cuda_set_sync_debug_mode": mode.set,
        "_cuda_get_sync_debug_mode": mode.get,
        "_cuda_getCurrentBlasHandle": _refuse("torch.cuda.current_blas_handle", "there is no cuBLAS"),
        "_cuda_getCurrentSolverHandle": _refuse("torch.cuda.current_solver_handle", "there is no cuSOLVER"),
        "_cuda_jiterator_compile_and_launch_kernel": _refuse("torch.cuda.jiterator", "CUDA C++ is not compiled"),
    }
    for name, function in functions.items():
        patches.set(torch._C, name, function)
    if hasattr(torch.cuda, "_compile_kernel"):
        patches.set(torch.cuda, "_compile_kernel", _refuse("torch.cuda._compile_kernel", "CUDA C++ is not compiled"))
