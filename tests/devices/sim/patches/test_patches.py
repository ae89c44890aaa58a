"""Replaced attributes come back exactly."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from judge.devices.sim.patches import Patches


class Parent:
    """Has a method."""

    def speak(self) -> str:
        """Say who it is."""
        return "parent"


class Child(Parent):
    """Inherits it."""


def test_a_replaced_attribute_comes_back() -> None:
    """The very object that was there."""
    owner = SimpleNamespace(value=[1])
    before = owner.value
    patches = Patches()
    patches.set(owner, "value", [2])
    patches.restore()
    assert owner.value is before


def test_an_attribute_that_was_not_there_is_gone_again() -> None:
    """Not left as ``None``."""
    owner = SimpleNamespace()
    patches = Patches()
    patches.set(owner, "value", 1)
    patches.restore()
    assert {} == vars(owner)


def test_an_inherited_attribute_is_not_left_on_the_child() -> None:
    """The child inherits it as before."""
    patches = Patches()
    patches.set(Child, "speak", lambda self: "child")
    spoken = Child().speak()
    patches.restore()
    assert ("child", "parent", False) == (spoken, Child().speak(), "speak" in vars(Child))


def test_a_static_method_comes_back_as_one() -> None:
    """Descriptors are put back, not what they yield."""

    class Owner:
        @staticmethod
        def value() -> int:
            return 1

    before = vars(Owner)["value"]
    patches = Patches()
    patches.set(Owner, "value", staticmethod(lambda: 2))
    patches.restore()
    assert vars(Owner)["value"] is before


def test_replacements_are_undone_in_reverse() -> None:
    """The second replacement of a name gives way to the first, and that to the original."""
    owner = SimpleNamespace(value=0)
    patches = Patches()
    patches.set(owner, "value", 1)
    patches.wrap(owner, "value", lambda before: before + 1)
    assert 2 == owner.value
    patches.restore()
    assert 0 == owner.value


def test_items_of_a_mapping_come_back() -> None:
    """Replaced ones, and added ones are gone."""
    mapping = {"a": 1}
    patches = Patches()
    patches.set_item(mapping, "a", 2)
    patches.set_item(mapping, "b", 3)
    patches.restore()
    assert {"a": 1} == mapping


def test_a_failing_undo_does_not_keep_the_others_from_running() -> None:
    """The first error is raised once all is done."""

    def fail() -> None:
        raise ValueError("broken")

    owner = SimpleNamespace(value=0)
    patches = Patches()
    patches.set(owner, "value", 1)
    patches.add_undo(fail)
    with pytest.raises(ValueError, match="broken"):
        patches.restore()
    assert 0 == owner.value
