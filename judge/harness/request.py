"""What the parent asks of a child."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Request:
    """One run of a problem's tests."""

    role: str
    """``subject`` or ``oracle``; told to nobody in this process."""
    tests_dir: str
    """Folder that holds the tests."""
    solution_path: str
    """Private copy of the source that is judged."""
    shown_path: str
    """The name that tracebacks and reports give it."""
    stub_path: str
    """Stub whose names and signatures the solution must have."""
    seed: int
    device: str
    """``cpu``, ``cuda``, ``sim`` or ``none``."""
    test_s: float
    """Clock of one test, in seconds."""
    language: str = "en"
    load_s: float = 30.0
    """Clock of importing the solution, in seconds; a cold import of torch is slow."""
    evidence_bytes: int = 64 << 20
    """All evidence of the run together."""
    only: list[str] = field(default_factory=list)
    """Ids of the tests to run, without parameters for all cases of one; all tests when it is empty."""
    stop_at_first_failure: bool = False
    """End the run after the first test that fails; a mutant needs no more."""


def read_request(descriptor: int) -> Request:
    """Read the request to its end and close the descriptor.

    Raises:
        TypeError, ValueError: the bytes are no request, or a field is unknown or missing.
    """
    with os.fdopen(descriptor, "rb") as pipe:
        fields = json.loads(pipe.read())
    return Request(**fields)
