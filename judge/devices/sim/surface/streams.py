"""Streams as PyTorch shows them: ``torch.Stream``, the base of ``torch.cuda.Stream``, the current one (torch)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from judge.devices.sim import streams as engine
from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.machine import Machine
from judge.devices.sim.patches import Patches
from judge.devices.sim.surface.bases import swap_base

if TYPE_CHECKING:
    from judge.devices.sim.install import Simulation

CUDA = 1
"""``c10::DeviceType::CUDA``."""
CUDA_DEVICE = torch.device("cuda", 0)


def check_index(index: int, call: str) -> None:
    """Let device 0 and "the current one" (negative) pass.

    Raises:
        NotSimulated: another device was asked for.
    """
    if index > 0:
        raise NotSimulated(f"{call} on cuda:{index}", "one device is simulated, cuda:0")


def engine_of(stream: Any) -> engine.Stream:  # noqa: ANN401  # torch.Stream or torch.cuda.Stream, whichever is installed
    """Return the simulated stream behind one of PyTorch's.

    Raises:
        TypeError: it is no stream of the device.
    """
    try:
        found: engine.Stream = stream._engine
    except AttributeError:
        raise TypeError(f"expected a CUDA stream, got {type(stream).__name__}") from None
    return found


class _StreamMeta(type):
    """Lets streams of other devices, which stay PyTorch's own, count as instances of ``torch.Stream``."""

    _stock: type[Any]

    def __instancecheck__(cls, instance: object) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls.__name__ == "Stream" and cls.__module__ == "torch" and isinstance(instance, cls._stock)


def make_stream(machine: Machine, stock: type[Any]) -> type[Any]:
    """Return the class that takes the place of ``torch.Stream``.

    Args:
        machine: the device.
        stock: PyTorch's own class; it makes the streams of other devices.

    Source: torch/csrc/Stream.cpp, torch 2.13.
    """

    class Stream(metaclass=_StreamMeta):
        """A stream of the accelerator."""

        device = CUDA_DEVICE
        device_index = 0
        device_type = CUDA
        _engine: engine.Stream
        stream_id: int

        def __new__(cls, device: object = None, *_: object, **options: Any) -> Any:  # noqa: ANN401  # either class
            if "stream_id" in options:
                is_ours = options.get("device_type", CUDA) == CUDA
                where = torch.device("cuda", max(0, options.get("device_index", 0)))
            else:
                where = CUDA_DEVICE if device is None else torch.device(device)  # type: ignore[call-overload]  # checked there
                is_ours = where.type == "cuda"
            if not is_ours:
                return stock(**({} if device is None else {"device": device}), **options)
            check_index(where.index or 0, "torch.Stream")
            stream_id = options.get("stream_id")
            if stream_id is None:
                found = machine.streams.get(options.get("priority", 0))
                return cls._wrap(found, found.stream_id)
            return cls._wrap(machine.streams.find_id(stream_id), stream_id)

        @classmethod
        def _wrap(cls, found: engine.Stream, stream_id: int) -> Any:  # noqa: ANN401  # an instance of cls
            self = object.__new__(cls)
            self._engine = found
            self.stream_id = stream_id
            return self

        @property
        def native_handle(self) -> int:
            """The ``cudaStream_t`` as a number."""
            return self._engine.handle

        def is_capturing(self) -> bool:
            """Tell whether a graph capture has this stream."""
            return self._engine.capture is not None

        def query(self) -> bool:
            """Tell whether all work has ended. Synchronises: no."""
            return machine.query_stream(self._engine)

        def synchronize(self) -> None:
            """Let the host wait for all work. Synchronises: yes."""
            name = "torch.cuda.Stream" if isinstance(self, torch.cuda.Stream) else "torch.Stream"
            machine.synchronize_stream(self._engine, kind="stream_synchronize", call=f"{name}.synchronize")

        def record_event(self, event: Any = None) -> Any:  # noqa: ANN401  # torch.Event
            """Record an event, a new one if none is given, and return it."""
            if event is None:
                event = torch.Event(device="cuda")
            event.record(self)
            return event

        def wait_event(self, event: Any) -> None:  # noqa: ANN401  # torch.Event
            """Let all future work wait for an event."""
            event.wait(self)

        def wait_stream(self, stream: Any) -> None:  # noqa: ANN401  # torch.Stream
            """Let all future work wait for what another stream has been given so far."""
            machine.wait_stream(self._engine, engine_of(stream))

        def __enter__(self) -> Any:  # noqa: ANN401  # an instance of this class
            before: list[engine.Stream] = self.__dict__.setdefault("_before", [])
            before.append(machine.current)
            machine.current = self._engine
            return self

        def __exit__(self, *_: object) -> None:
            machine.current = self.__dict__["_before"].pop()

        def __eq__(self, other: object) -> bool:
            return type(other) is type(self) and other.stream_id == self.stream_id

        def __hash__(self) -> int:
            return hash((CUDA, 0, self.stream_id))

        def __repr__(self) -> str:
            return f"torch.Stream device_type=cuda, device_index=0, stream_id={self.stream_id}"

    Stream.__module__, Stream.__qualname__ = "torch", "Stream"
    Stream._stock = stock
    if not hasattr(stock, "is_capturing"):
        del Stream.is_capturing  # versions before 2.13 do not have it
    return Stream


def make_cuda_base(machine: Machine, generic: type[Any]) -> type[Any]:
    """Return the class that takes the place of ``torch._C._CudaStreamBase``.

    Source: torch/csrc/cuda/Stream.cpp, torch 2.13.
    """

    class _CudaStreamBase(generic):  # type: ignore[misc]  # made at run time
        """What ``torch.cuda.Stream`` is built upon."""

        def __new__(
            cls,
            priority: int = 0,
            stream_id: int = 0,
            device_index: int = 0,
            device_type: int = 0,
            stream_ptr: int = 0,
        ) -> Any:  # noqa: ANN401  # an instance of cls
            if stream_ptr and priority:
                raise RuntimeError("Priority was explicitly set for a external stream")
            check_index(device_index, "torch.cuda.Stream")
            if stream_id or device_index or device_type:
                return cls._wrap(machine.streams.find_id(stream_id), stream_id)
            if stream_ptr:
                return cls._wrap(machine.streams.external(stream_ptr), stream_ptr)
            found = machine.streams.get(priority)
            return cls._wrap(found, found.stream_id)

        @property
        def cuda_stream(self) -> int:
            """The ``cudaStream_t`` as a number."""
            return engine_of(self).handle

        @property
        def priority(self) -> int:
            """The priority; lower goes first."""
            return engine_of(self).priority

        @staticmethod
        def priority_range() -> tuple[int, int]:
            """Return the lowest and the highest priority."""
            return engine.LOWEST_PRIORITY, engine.HIGHEST_PRIORITY

        def __eq__(self, other: object) -> bool:
            return isinstance(other, _CudaStreamBase) and bool(other.stream_id == self.stream_id)

        def __hash__(self) -> int:
            return hash((self.cuda_stream, self.device))

    _CudaStreamBase.__module__, _CudaStreamBase.__qualname__ = "torch._C", "_CudaStreamBase"
    return _CudaStreamBase


def install(simulation: Simulation, patches: Patches) -> None:
    """Put the streams of a machine under PyTorch's."""
    machine = simulation.machine
    costs = machine.profile.host
    generic = make_stream(machine, torch.Stream)
    base = make_cuda_base(machine, generic)
    patches.set(torch, "Stream", generic)
    patches.set(torch._C, "Stream", generic)
    patches.set(torch._C, "_CudaStreamBase", base)
    swap_base(patches, torch.cuda.Stream, base)

    def describe(stream: engine.Stream) -> tuple[int, int, int]:
        return stream.stream_id, 0, CUDA

    def get_current(index: int) -> tuple[int, int, int]:
        check_index(index, "torch.cuda.current_stream")
        machine.clock.advance(costs.current_stream_us)
        return describe(machine.current)

    def get_default(index: int) -> tuple[int, int, int]:
        check_index(index, "torch.cuda.default_stream")
        return describe(machine.streams.default)

    def get_external(handle: int, index: int) -> tuple[int, int, int]:
        check_index(index, "torch.cuda.get_stream_from_external")
        machine.streams.external(handle)
        return handle, 0, CUDA

    def set_current(stream_id: int, device_index: int, device_type: int) -> None:
        check_index(device_index, "torch.cuda.set_stream")
        if device_type != CUDA:
            raise RuntimeError(f"a stream of device type {device_type} cannot be the current CUDA stream")
        machine.clock.advance(costs.set_stream_us)
        machine.current = machine.streams.find_id(stream_id)

    patches.set(torch._C, "_cuda_getCurrentStream", get_current)
    patches.set(torch._C, "_cuda_getDefaultStream", get_default)
    patches.set(torch._C, "_cuda_getStreamFromExternal", get_external)
    patches.set(torch._C, "_cuda_setStream", set_current)
    patches.set(torch._C, "_cuda_getCurrentRawStream", lambda index: machine.current.handle)  # noqa: ARG005  # one device
    patches.set(torch._C, "_accelerator_getStream", lambda index: _current(generic, machine, index))
    patches.set(torch._C, "_accelerator_setStream", lambda stream: setattr(machine, "current", engine_of(stream)))


def _current(generic: type[Any], machine: Machine, index: int) -> Any:  # noqa: ANN401  # an instance of generic
    check_index(index, "torch.accelerator.current_stream")
    return generic._wrap(machine.current, machine.current.stream_id)
