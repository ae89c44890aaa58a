"""Profiles are data, and checked."""

from __future__ import annotations

import pytest

from judge.devices.sim import profile


def test_every_profile_that_ships_can_be_read():
    """And says what it is."""
    for key in profile.list_profiles():
        assert key == profile.load_profile(key).key


def test_the_h200_is_what_the_gpu_said_it_is():
    """Name, size, capability."""
    device = profile.load_profile("h200").device
    assert ("NVIDIA H200", 150_109_880_320, (9, 0), 132) == (
        device.name,
        device.total_bytes,
        device.compute_capability,
        device.multiprocessors,
    )


def test_an_unknown_name_names_those_that_exist():
    """So that a typing error is easily mended."""
    with pytest.raises(ValueError, match=r"no device profile named 'h2000'; there are: .*h200"):
        profile.load_profile("h2000")


def test_a_missing_key_is_named(tmp_path, monkeypatch):
    """With the table that lacks it."""
    text = (profile.FOLDER / "h200.toml").read_text(encoding="utf-8")
    (tmp_path / "odd.toml").write_text(text.replace("view_us = 1.3\n", ""), encoding="utf-8")
    monkeypatch.setattr(profile, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"odd.toml: \[host\] is missing or does not know: view_us"):
        profile.load_profile("odd")
