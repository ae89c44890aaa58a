"""Events as PyTorch shows them: ``torch.Event`` and the base of ``torch.cuda.Event`` (torch)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim import events as engine
from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.machine import Machine
from judge.devices.sim.patches import Patches
from judge.devices.sim.surface.bases import swap_base
from judge.devices.sim.surface.streams import CUDA_DEVICE, check_index, engine_of

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation

UNTIMED = "Both events must be created with argument 'enable_timing=True'."
UNRECORDED = "Both events must be recorded before calculating elapsed time."
UNFINISHED = "Both events must be completed before calculating elapsed time."


def find_elapsed(machine: Machine, start: engine.Event, end: engine.Event) -> float:
    """Return the milliseconds from one event to another.

    Raises:
        ValueError: one has no timing, or was never recorded.
        RuntimeError: one is not done yet.

    Source: ``CUDAEvent::elapsed_time`` in c10/cuda/CUDAEvent.h, torch 2.13.
    """
    if not (start.is_timing and end.is_timing):
        raise ValueError(UNTIMED)
    if start.recorded is None or end.recorded is None:
        raise ValueError(UNRECORDED)
    if not (machine.query_event(start) and machine.query_event(end)):
        raise RuntimeError(UNFINISHED)
    times = [machine.find_time(event) for event in (start, end)]
    if times[0] is None or times[1] is None:
        raise RuntimeError(UNFINISHED)
    return (times[1] - times[0]) / 1000.0


class _EventMeta(type):
    """Lets events of other devices, which stay PyTorch's own, count as instances of ``torch.Event``."""

    _stock: type[Any]

    def __instancecheck__(cls, instance: object) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls.__name__ == "Event" and cls.__module__ == "torch" and isinstance(instance, cls._stock)


def make_event(machine: Machine, stock: type[Any]) -> type[Any]:
    """Return the class that takes the place of ``torch.Event``.

    Args:
        machine: the device.
        stock: PyTorch's own class; it makes the events of other devices.

    Source: torch/csrc/Event.cpp, torch 2.13.
    """

    class Event(metaclass=_EventMeta):
        """An event of the accelerator."""

        _engine: engine.Event

        def __new__(
            cls,
            device: object = None,
            *,
            enable_timing: bool = False,
            blocking: bool = False,
            interprocess: bool = False,
        ) -> Any:  # noqa: ANN401  # either class
            if device is not None:
                where = torch.device(device)  # type: ignore[call-overload]  # checked there
                if where.type != "cuda":
                    return stock(device, enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)
                check_index(where.index or 0, "torch.Event")
            machine.clock.advance(machine.profile.host.event_create_us)
            self = object.__new__(cls)
            self._engine = engine.Event(is_timing=enable_timing, is_blocking=blocking, is_interprocess=interprocess)
            return self

        @property
        def device(self) -> torch.device:
            """The device; without an index until it is recorded."""
            return CUDA_DEVICE if self._engine.handle else torch.device("cuda")

        @property
        def event_id(self) -> int:
            """The ``cudaEvent_t`` as a number; 0 until it is recorded."""
            return self._engine.handle

        def record(self, stream: Any = None) -> None:  # noqa: ANN401  # torch.Stream
            """Record it on a stream (the current one if left out)."""
            machine.record(self._engine, None if stream is None else engine_of(stream))

        def wait(self, stream: Any = None) -> None:  # noqa: ANN401  # torch.Stream
            """Let all future work of a stream wait for it."""
            machine.wait(machine.current if stream is None else engine_of(stream), self._engine)

        def query(self) -> bool:
            """Tell whether it has been reached. Synchronises: no."""
            return machine.query_event(self._engine)

        def synchronize(self) -> None:
            """Let the host wait for it. Synchronises: yes, if it was recorded."""
            name = "torch.cuda.Event" if isinstance(self, torch.cuda.Event) else "torch.Event"
            machine.synchronize_event(self._engine, call=f"{name}.synchronize")

        def elapsed_time(self, end_event: Any) -> float:  # noqa: ANN401  # torch.Event
            """Return the milliseconds from this event to another."""
            if type(end_event) is not type(self):
                raise RuntimeError("expected other to be a torch.Event object")
            return find_elapsed(machine, self._engine, end_event._engine)

        def ipc_handle(self) -> bytes:
            """Say that events cannot be shared with other processes here."""
            raise NotSimulated("Event.ipc_handle", "events are not shared between processes")

        @classmethod
        def from_ipc_handle(cls, device: object, handle: object) -> Any:  # noqa: ANN401, ARG003  # never returns
            """Say that events cannot be shared with other processes here."""
            raise NotSimulated("Event.from_ipc_handle", "events are not shared between processes")

        def __repr__(self) -> str:
            index = 0 if self._engine.handle else -1
            return (
                f"torch.Event device_type=cuda, device_index={index}, event_flag={int(self._engine.is_timing)}, "
                f"event_id={self._engine.handle}"
            )

    Event.__module__, Event.__qualname__ = "torch", "Event"
    Event._stock = stock
    return Event


def make_cuda_base(machine: Machine, generic: type[Any]) -> type[Any]:
    """Return the class that takes the place of ``torch._C._CudaEventBase``.

    Source: torch/csrc/cuda/Event.cpp, torch 2.13.
    """

    class _CudaEventBase(generic):  # type: ignore[misc]  # made at run time
        """What ``torch.cuda.Event`` is built upon."""

        def __new__(
            cls,
            enable_timing: bool = False,
            blocking: bool = False,
            interprocess: bool = False,
            external: bool = False,
        ) -> Any:  # noqa: ANN401  # an instance of cls
            machine.clock.advance(machine.profile.host.event_create_us)
            self = object.__new__(cls)
            self._engine = engine.Event(
                is_timing=enable_timing, is_blocking=blocking, is_interprocess=interprocess, is_external=external
            )
            return self

        @property
        def device(self) -> torch.device | None:
            """The device; ``None`` until it is recorded."""
            return CUDA_DEVICE if self._engine.handle else None

        @property
        def cuda_event(self) -> int:
            """The ``cudaEvent_t`` as a number; 0 until it is recorded."""
            return int(self._engine.handle)

        def elapsed_time(self, end_event: Any) -> float:  # noqa: ANN401  # torch.cuda.Event
            """Return the milliseconds from this event to another."""
            if not isinstance(end_event, _CudaEventBase):
                raise RuntimeError("expected other to be a torch.cuda.Event object")
            return find_elapsed(machine, self._engine, end_event._engine)

    _CudaEventBase.__module__, _CudaEventBase.__qualname__ = "torch._C", "_CudaEventBase"
    return _CudaEventBase


def install(simulation: Simulation, patches: Patches) -> None:
    """Put the events of a machine under PyTorch's."""
    machine = simulation.machine
    generic = make_event(machine, torch.Event)
    base = make_cuda_base(machine, generic)
    patches.set(torch, "Event", generic)
    patches.set(torch._C, "Event", generic)
    patches.set(torch._C, "_CudaEventBase", base)
    swap_base(patches, torch.cuda.Event, base)
