"""What a test leaves behind on the device."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from judge.harness.leftovers import restore_torch

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("mode", ["default", "warn", "error"])
def test_the_sync_debug_mode_is_put_back_in_silence(simulation: Any, mode: str) -> None:
    """PyTorch warns of a prototype whenever it is set, also by us: no learner has to read that."""
    torch.zeros(1, device="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.cuda.set_sync_debug_mode(mode)
    restore_torch()
    assert 0 == torch.cuda.get_sync_debug_mode()
