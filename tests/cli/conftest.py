"""Fixtures of the command line's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.checkout import Checkout, build, clear_practice


@pytest.fixture(scope="session")
def checkout_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout that all tests share: compiling its modules takes longer than most tests."""
    root = tmp_path_factory.mktemp("checkout")
    build(root)
    return root


@pytest.fixture
def checkout(checkout_root: Path, tmp_path: Path) -> Iterator[Checkout]:
    """Return the checkout with an empty practice folder and an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    yield Checkout(checkout_root, home)
    clear_practice(checkout_root)
