"""The example in the statement of problem 401 prints what the statement says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

from judge.devices.sim.install import install

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
def test_the_example_prints_what_the_statement_says(page: str) -> None:
    """With the reference, on the simulated device."""
    blocks = FENCE.findall((ROOT / "problems" / "401_graph_runner" / page).read_text(encoding="utf-8"))
    programs = [text for language, text in blocks if language == "python" and "import torch" in text]
    printed = [text for language, text in blocks if language == "text"]
    assert (1, 1) == (len(programs), len(printed))
    reference = (ROOT / "reference" / "401_graph_runner" / "solution.py").read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "reference"}
    said = io.StringIO()
    with install():
        exec(compile(reference, "solution.py", "exec"), names)
        with contextlib.redirect_stdout(said):
            exec(compile(programs[0], page, "exec"), names)
        names.clear()  # tensors of the device go before it does
    assert printed[0] == said.getvalue()
