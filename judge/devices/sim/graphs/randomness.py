"""Random numbers inside graphs: which generators a graph may draw from, and what a replay draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from judge.devices.sim.graphs.capture import Capture

if TYPE_CHECKING:
    from judge.devices.sim.streams import Stream

_STATE_BYTES = 8
"""Seed and offset lie on the device, as one 64-bit number each."""

_UNREGISTERED = "Attempt to increase offset for a CUDA generator not in capture mode."
_OTHER_SEED = (
    "CUDAGeneratorImpl::set_current_seed can be called during stream capture only if new seed is the same as the "
    "original seed."
)


class Generator(Protocol):
    """A generator of the device."""

    def initial_seed(self) -> int:
        """Return the seed that it was last given."""

    def get_state(self) -> Any:  # noqa: ANN401  # opaque
        """Return its state."""

    def set_state(self, state: Any) -> Any:  # noqa: ANN401  # opaque
        """Put a state back."""


class DeviceMemory(Protocol):
    """What holds the seeds on the device."""

    def allocate(self, size_bytes: int, stream: int = 0) -> int:
        """Return the address of a block for a stream, given by its handle."""

    def free(self, address: int) -> None:
        """Take a block back."""


class Randomness:
    """The generators that graphs are registered with.

    A capture leaves a generator's state as it found it. A replay draws from the live state, as many numbers as the
    same operations draw outside a graph: so replays differ, a new seed is respected, and both ways agree.

    Args:
        memory: where seed and offset lie while any graph is registered.
        find_default: gives the device's default generator, which every capture may draw from.

    Source: ``CUDAGeneratorState`` in aten/src/ATen/cuda/CUDAGeneratorImpl.cpp, torch 2.11.
    """

    def __init__(self, memory: DeviceMemory, find_default: Callable[[], Generator] | None = None) -> None:
        self.find_default = find_default
        self._memory = memory
        self._registered: dict[int, tuple[Generator, set[int], tuple[int, int]]] = {}
        """By a generator's key: itself, identities of its graphs, addresses of seed and offset."""

    def register(self, graph: object, generator: Generator, stream: Stream) -> None:
        """Let a graph's captures draw from a generator.

        Args:
            graph: which.
            generator: which.
            stream: the current one; the generator's state on the device belongs to it.

        Raises:
            RuntimeError: the stream is captured; PyTorch's text.
        """
        check_not_capturing(stream, "Cannot register the state during capturing stage.")
        entry = self._registered.get(_key(generator))
        if entry is None:
            addresses = self._allocate(stream), self._allocate(stream)
            entry = self._registered[_key(generator)] = (generator, set(), addresses)
        entry[1].add(id(graph))

    def register_default(self, graph: object, stream: Stream) -> None:
        """Let a graph's captures draw from the default generator, as :meth:`register` does."""
        if self.find_default is not None:
            self.register(graph, self.find_default(), stream)

    def unregister(self, graph: object) -> None:
        """Let a graph go; a generator without graphs gives its memory back."""
        for key, (_, graphs, addresses) in list(self._registered.items()):
            graphs.discard(id(graph))
            if not graphs:
                del self._registered[key]
                for address in addresses:
                    self._memory.free(address)

    def find(self, graph: object) -> list[Generator]:
        """Return the generators that a graph may draw from."""
        return [generator for generator, graphs, _ in self._registered.values() if id(graph) in graphs]

    def check_draw(self, stream: Stream, generator: object) -> None:
        """Refuse random numbers from a generator that the capture on a stream does not know.

        Raises:
            RuntimeError: PyTorch's text. The capture stays valid.
        """
        capture = stream.capture
        if not isinstance(capture, Capture):
            return
        key = _key(generator)
        if not any(key == _key(known) for known in capture.generators):
            raise RuntimeError(_UNREGISTERED)
        capture.is_random = True

    def check_seed(self, stream: Stream, generator: Generator, seed: int) -> None:
        """Refuse another seed while a stream is captured.

        Raises:
            RuntimeError: PyTorch's text. The capture stays valid.
        """
        if stream.capture is not None and generator.initial_seed() != seed:
            raise RuntimeError(_OTHER_SEED)

    def _allocate(self, stream: Stream) -> int:
        return self._memory.allocate(_STATE_BYTES, stream.handle)


def check_not_capturing(stream: Stream, attempt: str) -> None:
    """Refuse what can't be captured.

    Args:
        stream: the current one.
        attempt: the sentence that begins the text: ``Cannot call CUDAGeneratorImpl::seed``.

    Raises:
        RuntimeError: the stream is captured; PyTorch's text. The capture stays valid.

    Source: ``assertNotCapturing`` in aten/src/ATen/cuda/CUDAGraphsUtils.cuh, torch 2.11.
    """
    capture = stream.capture
    if capture is not None:
        status = "Active" if capture.is_active else "Invalidated"
        raise RuntimeError(
            f"{attempt} during CUDA graph capture. If you need this call to be captured, please file an issue. "
            f"Current cudaStreamCaptureStatus: cudaStreamCaptureStatus{status}"
        )


def _key(generator: object) -> int:
    """Return what stands for a generator: the dispatcher hands on the same one in another Python object."""
    return getattr(generator, "_cdata", None) or id(generator)
