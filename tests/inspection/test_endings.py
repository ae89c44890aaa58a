"""How a script ended and where, from scripts run in this process; ``test_ends`` runs them as users do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.harness.inspected.report import Reporter
from judge.harness.inspected.script import Script, run_script
from judge.inspection.process import Ran
from judge.inspection.reader import ReportReader
from judge.inspection.records import ReportRecord
from judge.inspection.summary import find_error
from judge.models.inspection import ScriptError
from tests.inspection.samples import quiet
from tests.inspection.test_render import draw

Run = Callable[[str], tuple[int, ScriptError | None]]

ENDINGS = {
    "raises": (
        "def f():\n    return 1 / 0\nf()\n",
        "raised ZeroDivisionError",
        "ZeroDivisionError: division by zero",
        "script.py:2",
    ),
    "text": ("import sys\nsys.exit('no good')\n", "ended itself", "no good", "script.py:2"),
    "second GPU": (
        "import torch\ntorch.zeros(3, device='cuda:1')\n",
        "raised NotSimulated",
        "cuda:1 needs a real GPU",
        "script.py:2",
    ),
    "200 GB": (
        "import torch\ntorch.empty(200 << 30, dtype=torch.uint8, device='cuda')\n",
        "raised OutOfMemoryError",
        "CUDA out of memory. Tried to allocate 200.00 GiB",
        "script.py:2",
    ),
    "sparse": (
        "import torch\ntorch.zeros(3, 3, device='cuda').to_sparse()\n",
        "raised NotSimulated",
        "needs a real GPU",
        "script.py:2",
    ),
}
"""Sources, with what the report says, what standard error says, and the place."""


@pytest.fixture
def run(simulation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a source on the simulated device; it gives the exit status and the error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])

    def run(source: str) -> tuple[int, ScriptError | None]:
        Path("script.py").write_text(source, encoding="utf-8")
        reporter = Reporter(None, None, wants_snapshot=False)  # type: ignore[arg-type]  # never started
        status = run_script(Script.read("script.py"), reporter)
        report = ReportRecord(device="sim", device_name="", error=reporter.error, is_whole=True)
        return status, find_error(Ran(ReportReader(report=report), status, "", 0))

    return run


@pytest.mark.parametrize("name", ENDINGS)
def test_a_bad_ending_is_named_with_its_place(name: str, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """The status is 1, the innermost line of the script's is told, and no frame of the judge is shown.

    What Python has printed, the report does not say once more.
    """
    source, line, message, place = ENDINGS[name]
    status, error = run(source)
    assert error is not None
    assert (1, place) == (status, f"{error.file}:{error.line}")
    out = draw(quiet(), error)
    assert line in " ".join(out.split())
    assert place in out
    printed = capsys.readouterr()
    assert message in printed.err
    assert message not in out
    assert f"{os.sep}judge{os.sep}" not in printed.out + printed.err + out


def test_a_good_ending_is_no_error(run: Run) -> None:
    """Leaving with nothing, or with nought, is an end like any other."""
    assert [(0, None)] * 3 == [run(source) for source in ("x = 1\n", "raise SystemExit\n", "raise SystemExit(0)\n")]


def test_a_hook_of_the_script_s_is_used(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Who wants to show exceptions differently does so here too."""
    run("import sys\nsys.excepthook = lambda *a: print('mine', a[0].__name__)\n1 / 0\n")
    assert "mine ZeroDivisionError\n" == capsys.readouterr().out
