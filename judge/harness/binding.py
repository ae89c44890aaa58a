"""What a pytest session is bound to: the solution, the seed, the device and where records go."""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import ModuleType

import pytest

from judge.harness.channel import Sink


@dataclass(frozen=True)
class Binding:
    """Everything the fixtures hand out."""

    solution: ModuleType
    seed: int
    device: str
    sink: Sink
    evidence_bytes: int = 64 << 20


BINDING = pytest.StashKey[Binding]()
"""Set by the judge before collection; absent when a learner runs pytest."""


def draw_seed() -> int:
    """Return a fresh seed of 32 bits."""
    return int.from_bytes(os.urandom(4), "big")
