"""The example of each statement prints what the statement says."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("torch")

from judge.catalog.packs import discover
from judge.devices.sim.install import install
from judge.models.problem import DeviceNeed, Problem

EXAMPLE = re.compile(r"```python\n((?:(?!```).)*)```\n\n(?:prints|输出)\n\n```text\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
@pytest.mark.parametrize("problem", [pytest.param(one, id=one.name) for one in discover().problems])
def test_the_example_prints_what_the_statement_says(
    problem: Problem, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reference, on the simulated device where it needs one."""
    ((program, printed),) = EXAMPLE.findall((problem.folder / page).read_text(encoding="utf-8"))
    module = ModuleType("example_of_a_statement")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look for their module
    with contextlib.nullcontext() if problem.device is DeviceNeed.NONE else install():
        assert printed == run(problem.reference, program, page, vars(module))


def run(reference: Path, program: str, page: str, names: dict[str, Any]) -> str:
    """Return what a program prints that has the reference's names."""
    said = io.StringIO()
    exec(compile(reference.read_text(encoding="utf-8"), "solution.py", "exec", dont_inherit=True), names)
    with contextlib.redirect_stdout(said):
        exec(compile(program, page, "exec", dont_inherit=True), names)
    names.clear()  # tensors of the device go before it does
    return said.getvalue()
