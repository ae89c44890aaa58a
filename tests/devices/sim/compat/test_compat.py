"""A version of torch that is not as expected is refused by name."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

from judge.devices.sim import compat
from judge.devices.sim.install import install


def test_this_version_passes_its_checks(simulation: Any) -> None:
    """Names and behaviour are as they should be, and the version is a known one."""
    compat.check_names()
    compat.check_behaviour(simulation)
    assert compat.is_known()


def test_a_missing_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With torch's version, before anything is replaced."""
    monkeypatch.setattr(compat, "NEEDED", ("_C._no_such_thing",))
    with pytest.raises(compat.UnknownTorch, match=r"it lacks torch\._C\._no_such_thing\. It is tested with 2\.11"):
        install()
    assert not torch.cuda.is_available()


def test_an_unknown_version_is_tried_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be used if it behaves; the trial leaves no trace in the device that is installed then."""
    monkeypatch.setattr(compat, "KNOWN", ("1.0",))
    with install() as simulation:
        assert (0, 0.0) == (torch.cuda.memory_allocated(), simulation.machine.clock.host_us)


def test_an_unknown_version_that_misbehaves_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check that failed is named, and torch is as it was."""
    monkeypatch.setattr(compat, "KNOWN", ("1.0",))
    monkeypatch.setattr(compat, "_CHECKS", {"ops compute": lambda _: False})
    with pytest.raises(compat.UnknownTorch, match="the check 'ops compute' failed"):
        install()
    assert not torch.cuda.is_available()
