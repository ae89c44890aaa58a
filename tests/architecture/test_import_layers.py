"""Imports go one way, and heavy packages stay where they are needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import Module

ORDER = (
    {"errors"},
    {"locale"},
    {"models"},
    {"catalog", "devices"},
    {"instruments"},
    {"sandbox"},
    {"runner"},
    {"verdict"},
    {"report", "store"},
    {"author", "inspection"},
    {"cli"},
)
RANK = {layer: rank for rank, layers in enumerate(ORDER) for layer in layers}

HARNESS_MAY_IMPORT = (
    "judge.models.wire",
    "judge.models.status",
    "judge.locale",
    "judge.harness",
    "judge.devices.sim.install",
    "judge.instruments",
    "judge.sandbox.supervisor",
)
HARNESS_PACKAGES = {
    "pytest",
    "_pytest",
    "pluggy",
    "hypothesis",
    "packaging",
    "torch",
    # the plugins that a judged run names, bound before the solution can put others in their place
    "pytest_timeout",
    "_hypothesis_pytestplugin",
}

MAY_IMPORT_TORCH = (
    # under plain pytest, ``device`` has to ask torch whether there is a GPU
    "judge.harness.plugin",
    # the simulated device's front end: everything that touches tensors
    "judge.devices.sim.install",
    "judge.devices.sim.storages",
    "judge.devices.sim.compat",
    "judge.devices.sim.tensors",
    "judge.devices.sim.surface",
    "judge.devices.sim.graphs.frozen",
    # what reads a device at work
    "judge.instruments.simulated",
    "judge.instruments.cuda",
)
"""Modules and packages that may import torch; elsewhere the learner's process takes it from ``sys.modules``."""

LIGHT = (
    ("judge.cli", ("pydantic", "torch", "pytest", "hypothesis", "rich.console", "sqlite3")),
    ("judge.runner.nursery", ("pydantic", "torch", "pytest", "hypothesis", "rich")),
    ("judge.harness.plugin", ("pydantic", "torch", "rich")),
    ("judge.devices.sim.machine", ("pydantic", "torch", "rich")),
)


def layer_of(name: str) -> str:
    """Return the second part of a dotted name, the layer."""
    return name.split(".")[1] if "." in name else ""


def inside_judge(names: frozenset[str]) -> list[str]:
    """Return the imports that name a layer of the judge; ``judge.__version__`` is free to all."""
    return sorted(name for name in names if name.split(".")[0] == "judge" and layer_of(name) not in ("", "__version__"))


def test_every_module_belongs_to_a_known_layer(modules: tuple[Module, ...]) -> None:
    """A new layer has to be given its place in the order first."""
    unknown = [module.name for module in modules if layer_of(module.name) not in {"", "harness", *RANK}]
    assert [] == unknown


def test_imports_go_one_way(modules: tuple[Module, ...]) -> None:
    """A layer imports itself and lower layers; not its neighbours, and nothing above it."""
    wrong = [
        f"{module.name} imports {name}"
        for module in modules
        if layer_of(module.name) in RANK
        for name in inside_judge(module.imports())
        if layer_of(name) != layer_of(module.name) and RANK.get(layer_of(name), 99) >= RANK[layer_of(module.name)]
    ]
    assert [] == wrong


def test_nothing_imports_the_harness(modules: tuple[Module, ...]) -> None:
    """What runs in the learner's process is started by path, never imported by the parent."""
    wrong = [
        f"{module.name} imports {name}"
        for module in modules
        if layer_of(module.name) != "harness"
        for name in inside_judge(module.imports())
        if layer_of(name) == "harness"
    ]
    assert [] == wrong


def test_the_harness_imports_only_what_is_safe_beside_a_learner(modules: tuple[Module, ...]) -> None:
    """The learner's process holds the standard library, pytest, the wire format and the messages."""
    wrong = []
    for module in modules:
        if layer_of(module.name) != "harness":
            continue
        for name in sorted(module.imports(with_typing=False)):
            package = name.split(".")[0]
            if package == "judge":
                is_allowed = name == package or any(
                    name == allowed or name.startswith(f"{allowed}.") for allowed in HARNESS_MAY_IMPORT
                )
            else:
                is_allowed = package in sys.stdlib_module_names or package in HARNESS_PACKAGES
            if not is_allowed:
                wrong.append(f"{module.name} imports {name}")
    assert [] == wrong


def test_torch_is_imported_only_in_named_places(modules: tuple[Module, ...]) -> None:
    """Importing torch takes a second, and the parent must never touch a GPU."""
    wrong = [
        module.name
        for module in modules
        if any(name.split(".")[0] == "torch" for name in module.imports(with_typing=False))
        and not any(module.name == place or module.name.startswith(f"{place}.") for place in MAY_IMPORT_TORCH)
    ]
    assert [] == wrong


@pytest.mark.parametrize(("module", "heavy"), LIGHT, ids=[module for module, _ in LIGHT])
def test_importing_stays_light(module: str, heavy: tuple[str, ...], root: Path) -> None:
    """Importing an entrance loads none of the packages that would slow down its start."""
    show = f"import sys, {module}; print(*sorted(set({heavy!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", show], cwd=root, capture_output=True, text=True, timeout=60, check=True)
    assert "" == run.stdout.strip()
