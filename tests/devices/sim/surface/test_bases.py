"""A class gets another base, whether or not Python will swap it."""

from __future__ import annotations

import sys
import types

import pytest

from judge.devices.sim.patches import Patches
from judge.devices.sim.surface.bases import swap_base


class Ours:
    """A base of ours."""

    def __new__(cls, *_: object) -> Ours:
        """Take any arguments."""
        return object.__new__(cls)

    def greet(self) -> str:
        """Say who answers."""
        return "ours"


def make_kind(base: type) -> type:
    """Return a class whose methods lean on its base, as PyTorch's do."""

    class Kind(base):
        """A class of PyTorch's."""

        def greet(self) -> str:
            return "stock over " + super().greet()

        @property
        def greeting(self) -> str:
            return self.greet() + "!"

        @classmethod
        def make(cls):
            return cls()

        def __repr__(self) -> str:
            return f"<Kind over {super().greet()}>"

    return Kind


class Dummy:
    """What a build without CUDA has."""


class Solid(dict):
    """Stands for a C type: its layout differs from ours."""


@pytest.fixture(params=[Dummy, Solid], ids=["a build without CUDA", "a build with CUDA"])
def kind(request, monkeypatch):
    """Return a class in a module of torch's, over one base or the other."""
    made = make_kind(request.param)
    module = types.ModuleType("torch.made_up")
    made.__module__ = module.__name__
    module.Kind = made
    module.Child = type("Child", (made,), {"__module__": module.__name__})
    monkeypatch.setitem(sys.modules, "torch.made_up", module)
    return made


def test_the_methods_run_over_the_new_base(kind):
    """``super()`` finds it."""
    patches = Patches()
    swapped = swap_base(patches, kind, Ours)
    thing = swapped.make()
    assert ("stock over ours", "stock over ours!", "<Kind over ours>") == (thing.greet(), thing.greeting, repr(thing))
    assert isinstance(thing, Ours)
    patches.restore()


def test_modules_of_torch_have_the_class_while_it_lasts(kind):
    """And the stock one again afterwards."""
    module = sys.modules["torch.made_up"]
    bases = kind.__bases__
    patches = Patches()
    swapped = swap_base(patches, kind, Ours)
    assert module.Kind is swapped
    assert (kind.__name__, kind.__qualname__, kind.__module__) == (
        swapped.__name__,
        swapped.__qualname__,
        swapped.__module__,
    )
    patches.restore()
    assert module.Kind is kind
    assert bases == kind.__bases__


def test_classes_built_upon_it_follow(kind):
    """As ``ExternalStream`` is built upon ``Stream``."""
    module = sys.modules["torch.made_up"]
    child = module.Child
    patches = Patches()
    swapped = swap_base(patches, kind, Ours)
    assert issubclass(module.Child, swapped)
    assert "stock over ours" == module.Child().greet()
    patches.restore()
    assert module.Child is child
    assert issubclass(module.Child, kind)
