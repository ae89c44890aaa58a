"""Give a machine its memory, as the environment configures PyTorch's allocators."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from judge.devices.sim.allocator import Settings, parse_options
from judge.devices.sim.allocator.history import History
from judge.devices.sim.arena import PINNED_BASE, PINNED_SPAN_BYTES, Arena
from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.frames import gather_frames
from judge.devices.sim.machine import AllocatorEvents, Machine
from judge.devices.sim.memory import DeviceMemory, Watcher
from judge.devices.sim.pinned import PinnedMemory

CONFIGURATIONS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
"""Where PyTorch looks for the allocator's options; the first that is set wins."""

CACHING_SWITCH = "PYTORCH_NO_CUDA_MEMORY_CACHING"


def provide_memory(
    machine: Machine, watcher: Watcher | None = None, environment: Mapping[str, str] | None = None
) -> None:
    """Set ``machine.memory`` and ``machine.pinned``.

    Args:
        machine: whose.
        watcher: told when bytes change hands; by default the machine's shadow memory.
        environment: holds the allocators' options; by default that of the process.

    Raises:
        ValueError: an option is unknown or its value is not allowed; PyTorch's text.
        NotSimulated: the options ask for what only a real GPU has.
        MemoryError: the host has no addresses for the arenas.
    """
    if watcher is None:
        watcher = machine.shadow
    variables = os.environ if environment is None else environment
    settings = read_settings(variables)
    device = machine.profile.device
    events = AllocatorEvents(machine)
    calls = DriverCalls(machine)
    clock = machine.clock
    start_us = time.time_ns() // 1000

    def is_capturing() -> bool:
        return machine.current.capture is not None

    machine.memory = DeviceMemory(
        Arena(),
        events,
        total_bytes=device.total_bytes,
        used_bytes=device.context_bytes,
        settings=settings,
        is_capturing=is_capturing,
        watcher=watcher,
        on_call=calls.charge,
        history=History(gather_frames, lambda: start_us + int(clock.host_us)),
    )
    machine.memory.is_caching = variables.get(CACHING_SWITCH) is None
    machine.pinned = PinnedMemory(
        Arena(PINNED_BASE, PINNED_SPAN_BYTES),
        events,
        settings=settings,
        is_capturing=is_capturing,
        watcher=watcher,
        on_call=calls.charge,
        read_clock=lambda: clock.host_us,
    )


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings that environment variables ask for.

    Raises:
        ValueError: an option is unknown or its value is not allowed; PyTorch's text.
        NotSimulated: the options ask for what only a real GPU has.
    """
    for name in CONFIGURATIONS:
        if name in environment:
            return read_options(environment[name], f"{name}={environment[name]}")
    return Settings()


def read_options(text: str, what: str, before: Settings | None = None) -> Settings:
    """Return the settings that a configuration string asks for.

    Args:
        text: the string.
        what: how the user gave it, for the message.
        before: the settings in force.

    Raises:
        ValueError: an option is unknown or its value is not allowed; PyTorch's text.
        NotSimulated: it asks for what only a real GPU has.
    """
    try:
        return parse_options(text, before)
    except NotImplementedError as error:
        raise NotSimulated(what, str(error)) from None


class DriverCalls:
    """Charges the host for calls to the driver, and lets ``cudaFree`` wait for the device.

    Args:
        machine: whose host and device.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def charge(self, name: str, size: int) -> None:  # noqa: ARG002  # part of the interface
        """Let a call take its host time.

        Synchronises: ``cudaFree`` and ``cudaFreeHost`` wait for the device, which a capture going on forbids.
        """
        machine = self._machine
        if name in ("cudaFree", "cudaFreeHost") and not machine.captures and self._is_busy():
            machine.synchronize_device(name, kind="allocator_flush")
        machine.clock.host_us += machine.profile.host.malloc_us

    def _is_busy(self) -> bool:
        clock = self._machine.clock
        return any(not clock.has_ended(stream.frontier) for stream in self._machine.streams.streams)
