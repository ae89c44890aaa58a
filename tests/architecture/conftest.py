"""The judge's source, parsed once for all architecture tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.source import Module


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder that holds the project."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def modules(root: Path) -> tuple[Module, ...]:
    """Return every module of the judge, parsed."""
    found = []
    for path in sorted((root / "judge").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(name, path, ast.parse(path.read_text(encoding="utf-8"))))
    return tuple(found)
