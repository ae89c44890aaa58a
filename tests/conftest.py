"""What all tests of the judge share."""

from __future__ import annotations

import pytest

from judge.devices.choice import find_obstacle


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a real GPU where none answers, with the reason."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    obstacle = find_obstacle() if marked else None
    if obstacle is not None:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=f"needs a real GPU: {obstacle.en}"))
