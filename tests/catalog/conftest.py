"""Only the packs that a test writes, in English unless it says otherwise."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the repository's own problems and the user's cache, speak English, stand in the test's folder."""
    monkeypatch.setattr("judge.catalog.places.repository_root", lambda: None)
    monkeypatch.setattr(sys, "argv", ["judge.py"])
    monkeypatch.setenv("TACIT_LANG", "en")
    monkeypatch.setenv("TACIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Return the root of a pack without problems."""
    root = tmp_path / "pack"
    (root / "problems").mkdir(parents=True)
    (root / "reference").mkdir()
    return root
