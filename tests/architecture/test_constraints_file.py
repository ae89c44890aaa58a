"""constraints.txt pins everything that an installation with all extras brings."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PIN = re.compile(r"^([a-z0-9-]+)==(\d[0-9a-z.]*)$")


def read_pins(root: Path) -> list[str]:
    """Return the lines that are no comments."""
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def find_needed(root: Path) -> set[str]:
    """Return the names of the declared packages and, where installed, of all that they require."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    todo = [Requirement(text) for text in declared]
    needed: set[str] = set()
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        if name == canonicalize_name(project["name"]) or name in needed:
            continue
        needed.add(name)
        try:
            required = [Requirement(text) for text in distribution(name).requires or []]
        except PackageNotFoundError:
            continue
        todo += [one for one in required if one.marker is None or one.marker.evaluate({"extra": ""})]
    return needed


def test_each_line_pins_one_version_for_every_platform(root: Path) -> None:
    """No address of an index, no local version such as ``+cpu``, no range, in alphabetical order."""
    lines = read_pins(root)
    assert [] == [line for line in lines if not PIN.match(line)]
    names = [line.split("==")[0] for line in lines]
    assert sorted(set(names)) == names


def test_every_needed_package_is_pinned(root: Path) -> None:
    """Two people who install today and in a year get the same versions."""
    pinned = {line.split("==")[0] for line in read_pins(root)}
    # A CUDA build of torch brings its own exactly pinned packages.
    needed = {name for name in find_needed(root) if not name.startswith(("nvidia-", "cuda-", "triton"))}
    assert set() == needed - pinned


def test_the_pins_satisfy_the_project(root: Path) -> None:
    """No declared lower or upper bound excludes the pinned version."""
    pins = dict(line.split("==") for line in read_pins(root))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    requirements = [Requirement(text) for text in declared if not text.startswith(project["name"])]
    refused = [str(one) for one in requirements if not one.specifier.contains(pins[canonicalize_name(one.name)])]
    assert [] == refused
