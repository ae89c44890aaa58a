"""The marks of a problem's tests, and the titles in their docstrings."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from judge.harness.diagnosis import NotJudged
from judge.harness.diagnostic import text


def read_case(item: pytest.Item) -> dict[str, Any]:
    """Return the fields of :class:`judge.models.record.TestCase`.

    Raises:
        ValueError: a mark is not written as it should be.
    """
    weight = item.get_closest_marker("weight")
    budget: dict[str, float] = {}
    for mark in reversed(list(item.iter_markers("budget"))):
        budget |= {name: _number(limit, f"budget({name}=…)") for name, limit in mark.kwargs.items()}
    return {
        "id": item.nodeid,
        "title": read_title(item),
        "weight": _number(weight.args[0] if weight and weight.args else 1.0, "weight"),
        "is_required": item.get_closest_marker("optional") is None,
        "budget": budget,
    }


def _number(value: object, name: str) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{name} is {value!r}, which is no number")
    return float(value)  # type: ignore[arg-type]  # narrowed by the line above


def read_title(item: pytest.Item) -> dict[str, str]:
    """Return the docstring's first paragraph and its ``zh:`` paragraph; the test's name where there is none."""
    document = getattr(getattr(item, "obj", None), "__doc__", None) or ""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(document).split("\n\n")]
    english = paragraphs[0] or item.name.partition("[")[0]
    chinese = next((part[3:].strip() for part in paragraphs if part.startswith("zh:")), english)
    callspec = getattr(item, "callspec", None)
    suffix = f" [{callspec.id}]" if callspec is not None else ""
    return {"en": english + suffix, "zh": chinese + suffix}


def refuse_unmet(item: pytest.Item, device: str) -> None:
    """Skip the test when the machine is not what its marks ask for.

    Raises:
        NotJudged: no CUDA device, or a requirement is not met.
    """
    if item.get_closest_marker("gpu") is not None and device != "cuda":
        raise NotJudged(text("needs_gpu"))
    for mark in item.iter_markers("requires"):
        for requirement in mark.args:
            _refuse_requirement(requirement)


def _refuse_requirement(requirement: str) -> None:
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import Requirement

    needed = Requirement(requirement)
    if needed.marker is not None and not needed.marker.evaluate():
        return
    try:
        found = version(needed.name)
    except PackageNotFoundError:
        raise NotJudged(text("needs_package", requirement=requirement)) from None
    if not needed.specifier.contains(found, prereleases=True):
        raise NotJudged(text("needs_version", requirement=requirement, found=found))
