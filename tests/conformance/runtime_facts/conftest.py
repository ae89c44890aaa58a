"""torch, with a device under it."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.conformance.device import OnDevice


@pytest.fixture
def torch(on_device: OnDevice) -> ModuleType:
    """Return torch with a device under it, real or simulated."""
    import torch

    return torch
