"""What the tests of this problem share: calls of the solution that check types, and that the snapshot is left alone."""

from __future__ import annotations

import gzip
import io
import pickle
from dataclasses import astuple
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

GOLDEN = Path(__file__).parent / "goldens" / "train_snapshot.pickle.gz"


class PlainUnpickler(pickle.Unpickler):
    """Admits dicts, lists, strings and numbers, and nothing else: a pickle may otherwise run any code."""

    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse."""
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a snapshot")


class Detective:
    """Calls the solution's functions; the snapshot must be unchanged after each."""

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any) -> None:
        self.solution, self.expect, self.evidence = solution, expect, evidence
        self.findings: list[Any] = []
        self.labels: list[str] = []

    def find_peak(self, snapshot: Any, device: int = 0) -> Any:
        """Return the solution's peak."""
        __tracebackhide__ = True
        return self._call("find_peak", "Peak", snapshot, device)

    def find_leaks(self, snapshot: Any, step_starts: list[int], device: int = 0) -> list[Any]:
        """Return the solution's leaks."""
        __tracebackhide__ = True
        return self._call("find_leaks", "Leak", snapshot, step_starts, device)

    def find_largest_request(self, snapshot: Any, stream: int = 0, device: int = 0) -> int:
        """Return the solution's bytes."""
        __tracebackhide__ = True
        return self._call("find_largest_request", None, snapshot, stream, device)

    def inspect_segments(self, snapshot: Any, device: int = 0) -> list[Any]:
        """Return the solution's reports."""
        __tracebackhide__ = True
        return self._call("inspect_segments", "SegmentReport", snapshot, device)

    def record(self, name: str = "findings") -> None:
        """Hand the findings over as evidence."""
        self.evidence.exact(name, self.findings, labels=self.labels)

    def _call(self, name: str, kind: str | None, snapshot: Any, *arguments: Any) -> Any:
        __tracebackhide__ = True
        while arguments and arguments[-1] == 0:
            arguments = arguments[:-1]  # stream and device 0 are the defaults
        before = pickle.dumps((snapshot, arguments))  # much faster than a deep copy
        found = getattr(self.solution, name)(snapshot, *arguments)
        changed = (f"{name}() changed the snapshot", f"{name}() 改动了快照")
        look = ("A snapshot is read, never written: copy what you change.", "快照只读不写：要改的先拷贝。")
        self.expect.true(pickle.dumps((snapshot, arguments)) == before, changed, look)
        wanted: type = int if kind is None else getattr(self.solution, kind)
        is_list = name in ("find_leaks", "inspect_segments")
        is_right = type(found) is (list if is_list else wanted)
        if not is_right or (is_list and any(type(it) is not wanted for it in found)):
            told = f"list[{wanted.__name__}]" if is_list else wanted.__name__
            self.expect.fail((f"{name}() must return {told}", f"{name}() 应返回 {told}"), told, repr(found))
        self.findings.append([_plain(it) for it in found] if is_list else _plain(found))
        self.labels.append(f"{name}()")
        return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, int) else list(astuple(value))


@pytest.fixture
def detect(solution: ModuleType, expect: Any, evidence: Any) -> Detective:
    """Return a caller of the solution."""
    return Detective(solution, expect, evidence)


@pytest.fixture
def real_snapshot() -> dict[str, Any]:
    """Return the snapshot of the H200."""
    return PlainUnpickler(io.BytesIO(gzip.decompress(GOLDEN.read_bytes()))).load()
