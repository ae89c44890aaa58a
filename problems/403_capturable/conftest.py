"""What the tests of this problem share: inputs, and a bench for the solution's step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_bench import Bench
from support_rules import Draw


@pytest.fixture(autouse=True)
def idle_device(device: str) -> Iterator[None]:
    """Begin each test with an idle device, on the default stream, whatever the test before has left."""
    default = torch.cuda.default_stream(device)
    torch.cuda.set_stream(default)
    torch.cuda.synchronize(device)
    yield
    torch.cuda.set_stream(default)


@pytest.fixture
def draw(rng: Random, device: str) -> Draw:
    """Return what draws inputs."""
    return Draw(rng, device)


@pytest.fixture
def bench(solution: ModuleType, expect: Any, evidence: Any, draw: Draw) -> Callable[..., Bench]:
    """Return a maker of benches: ``bench(rows=3, dtype=torch.float16)``."""

    def make(dtype: torch.dtype = torch.float32, **options: Any) -> Bench:
        return Bench(solution, expect, evidence, draw, dtype, **options)

    return make
