"""Generators of the device: their state is a seed and an offset, as that of CUDA's. (torch)"""

from __future__ import annotations

import struct
import weakref
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.graphs.randomness import check_not_capturing
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine

STATE_BYTES = 16
OFFSET_STEP = 4
"""Source: offsets are multiples of four, aten/src/ATen/cuda/CUDAGeneratorImpl.cpp, torch 2.13."""
_MASK = (1 << 64) - 1
_Stock: Value = torch._C.Generator
_CUDA = torch.device("cuda", 0)

_known: weakref.WeakValueDictionary[int, DeviceGenerator] = weakref.WeakValueDictionary()
"""By address of torch's own object: the dispatcher hands over another Python object for it."""


class DeviceGenerator(_Stock):  # type: ignore[misc]  # torch's stub lacks what is used of it
    """A generator of the device. Its numbers are those of the host's algorithm, not CUDA's Philox.

    Each op draws from the host's algorithm, started from seed and offset, and moves the offset on. So the state is two
    numbers, and the same two numbers give the same values, as on CUDA.

    Args:
        machine: the device, whose captures forbid some calls.
    """

    _machine: Machine
    _seed: int
    _offset: int

    def __new__(cls, machine: Machine) -> DeviceGenerator:  # noqa: D102  # the class tells
        generator: DeviceGenerator = _Stock.__new__(cls, device="cpu")
        generator._machine = machine
        generator._seed = _Stock.initial_seed(generator)
        generator._offset = 0
        _known[generator._cdata] = generator
        return generator

    def __init__(self, machine: Machine) -> None:
        """Be made by ``__new__``."""

    @property
    def device(self) -> torch.device:
        """``cuda:0``."""
        return _CUDA

    def advance(self) -> None:
        """Start the numbers of one op."""
        mixed = self._seed * 6364136223846793005 + self._offset * 1442695040888963407
        _Stock.manual_seed(self, mixed & _MASK)
        self._offset += OFFSET_STEP

    def manual_seed(self, seed: int) -> DeviceGenerator:
        """Start over from a seed."""
        seed = int(seed)
        self._machine.randomness.check_seed(self._machine.current, self, seed & _MASK)
        self._seed, self._offset = seed & _MASK, 0
        return self

    def seed(self) -> int:
        """Start over from a seed of chance, and return it."""
        check_not_capturing(self._machine.current, "Cannot call CUDAGeneratorImpl::seed")
        self._seed, self._offset = _Stock.seed(self), 0
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed that it was last given."""
        return self._seed

    def get_offset(self) -> int:
        """Return how far it has drawn."""
        check_not_capturing(self._machine.current, "Cannot call CUDAGeneratorImpl::get_offset")
        return self._offset

    def set_offset(self, offset: int) -> DeviceGenerator:
        """Let it go on from somewhere else."""
        check_not_capturing(self._machine.current, "Cannot call CUDAGeneratorImpl::set_offset")
        self._offset = offset
        return self

    def get_state(self) -> torch.Tensor:
        """Return seed and offset, 16 bytes on the host."""
        with torch._C._DisableTorchDispatch():
            return torch.frombuffer(bytearray(struct.pack("<QQ", self._seed, self._offset)), dtype=torch.uint8)

    def set_state(self, state: torch.Tensor) -> DeviceGenerator:
        """Put seed and offset back.

        Raises:
            RuntimeError: the state is not 16 bytes long.
        """
        if state.numel() != STATE_BYTES:
            raise RuntimeError("RNG state is wrong size")
        self._seed, self._offset = struct.unpack("<QQ", bytes(state.tolist()))
        return self

    def graphsafe_get_state(self) -> DeviceGenerator:
        """Return another generator with the same state."""
        return self.clone_state()

    def graphsafe_set_state(self, other: Value) -> DeviceGenerator:
        """Take the state of another generator."""
        self._seed, self._offset = other._seed, other._offset
        return self

    def clone_state(self) -> DeviceGenerator:
        """Return another generator in the same state."""
        twin = DeviceGenerator(self._machine)
        return twin.graphsafe_set_state(self)


def find_known(generator: Value) -> DeviceGenerator | None:
    """Return the generator of the device behind an object that stands for it; ``None`` for one of the host."""
    return _known.get(generator._cdata)


def find_generator(args: Arguments, kwargs: Keywords) -> Value:
    """Return the generator that a call names, or ``None``."""
    generator = kwargs.get("generator")
    if generator is None:
        generator = next((value for value in args if isinstance(value, _Stock)), None)
    return generator


def check_host(generator: Value) -> None:
    """Refuse a generator of the device for a tensor of the host.

    Raises:
        RuntimeError: PyTorch's text.
    """
    if generator is not None and find_known(generator) is not None:
        raise RuntimeError("Expected a 'cpu' device type for generator but found 'cuda'")


def draw(op: Value, source: DeviceGenerator, /, *args: Value, **kwargs: Value) -> Value:
    """Run an op that draws from a generator; a replay of a graph draws anew."""
    source.advance()
    return op(*args, **kwargs)
