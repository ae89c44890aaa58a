"""Under what conditions a run took place: the device and the isolation."""

from __future__ import annotations

from typing import Literal

from judge.models.base import Model, Text


class Missing(Model):
    """A protection that was not in force."""

    what: Text
    why: Text
    fix: Text | None = None


class Isolation(Model):
    """What stood between the submission and the machine."""

    level: Literal["L0", "L1", "L2", "L3", "L4"]
    enforced: tuple[Text, ...]
    missing: tuple[Missing, ...] = ()


class DeviceChoice(Model):
    """What the tests ran on, and why."""

    kind: Literal["none", "cpu", "sim", "cuda"]
    why: Text
