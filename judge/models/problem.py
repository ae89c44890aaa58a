"""What the judge knows about a problem once its manifest has been read."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field

from judge.models.base import Model, Text


class DeviceNeed(StrEnum):
    """What a problem's tests run on."""

    NONE = "none"
    """No device code: plain Python."""
    ANY = "any"
    """Device code that also runs on the CPU, where that is asked for."""
    CUDA = "cuda"
    """Device code that needs CUDA, real or simulated; single tests may ask for a real GPU by their mark."""


class Limits(Model):
    """What a run may use before the judge ends it."""

    wall_s: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Wall clock of the whole run, in seconds, held outside the process."""
    test_s: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """Wall clock of one test, in seconds."""
    output_bytes: Annotated[int, Field(gt=0)] = 1 << 20
    """Kept of stdout and stderr each; the rest is drained and counted."""
    evidence_bytes: Annotated[int, Field(gt=0)] = 64 << 20
    """All records of one run together."""

    @property
    def load_s(self) -> float:
        """Wall clock of importing the solution: one test's and what ``import torch`` may take."""
        return self.test_s + 5.0


class Weights(Model):
    """Share of each score in the total; a score of weight 0 does not apply to the problem."""

    correctness: Annotated[float, Field(ge=0)] = 1.0
    syncs: Annotated[float, Field(ge=0)] = 0.0
    memory: Annotated[float, Field(ge=0)] = 0.0
    time: Annotated[float, Field(ge=0)] = 0.0


class Problem(Model):
    """One problem of a pack, validated."""

    number: Annotated[int, Field(ge=1, le=99999)]
    """Unique number over all packs; also the start of the folder's name."""
    slug: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    """Rest of the folder's name."""
    title: Text
    """Title in both languages."""
    topic: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    """Topic of the catalogue, for example ``memory``."""
    difficulty: Annotated[int, Field(ge=1, le=5)]
    """1 (a card) to 5 (a weekend)."""
    device: DeviceNeed = DeviceNeed.ANY
    """What the tests run on."""
    requires: tuple[str, ...] = ()
    """Python requirements beyond the judge's own, for example ``torch>=2.11``."""
    limits: Limits = Limits()
    weights: Weights = Weights()
    sources: tuple[str, ...] = ()
    """Where the problem's rules and figures come from."""
    folder: Path
    """Folder with statement, stub, hints and tests."""
    reference_folder: Path
    """Folder with the reference, explanations and wrong solutions; never shown to a run of the learner's code."""

    @property
    def name(self) -> str:
        """Folder name, for example ``101_caching_allocator``."""
        return f"{self.number}_{self.slug}"

    @property
    def stub(self) -> Path:
        """File a learner starts from."""
        return self.folder / "stub.py"

    @property
    def reference(self) -> Path:
        """Reference solution."""
        return self.reference_folder / "solution.py"
