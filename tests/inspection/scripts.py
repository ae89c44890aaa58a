"""Scripts to inspect, and calls of ``inspect`` as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
JUDGE = ROOT / "practice" / "judge.py"

WAITING = """
import torch
x = torch.zeros(8, device="cuda")
for step in range(3):
    x += 1
    print(x.sum().item())
"""


@dataclass(frozen=True)
class Answer:
    """What a call printed and how it ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Inspected:
    """A run and the folder of its script, for all that look at it."""

    folder: Path
    answer: Answer


def environment(**changes: str) -> dict[str, str]:
    """Return an environment in English, without colours, as wide as a page."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TACIT_", "LC_", "COLUMNS"))}
    return {**kept, "TACIT_LANG": "en", "NO_COLOR": "1", "COLUMNS": "100", **changes}


def call(folder: Path, *arguments: str | Path, stdin: str = "", **changes: str) -> Answer:
    """Run ``judge.py inspect`` with these arguments in a folder."""
    done = subprocess.run(
        [sys.executable, str(JUDGE), "inspect", *map(str, arguments)],
        cwd=folder,
        env=environment(**changes),
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def inspect(folder: Path, source: str, *arguments: str | Path, stdin: str = "", **changes: str) -> Answer:
    """Inspect a script of this source on the simulated device."""
    (folder / "script.py").write_text(source, encoding="utf-8")
    return call(folder, "--device", "sim", "script.py", *arguments, stdin=stdin, **changes)


def read_json(path: Path) -> dict[str, Any]:
    """Return what ``--json`` wrote."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
