"""Judge a submission as a user does: by the command line, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
JUDGE = ROOT / "practice" / "judge.py"
PACK = ROOT / "tests" / "packs" / "small"

HONEST = (PACK / "reference" / "901_double" / "solution.py").read_text(encoding="utf-8")
"""A right solution, to which an attack is added."""


class Judged(NamedTuple):
    """What the command line answered."""

    exit_code: int
    verdict: dict[str, Any]
    stdout: str
    stderr: str

    @property
    def status(self) -> str:
        """Status of the whole verdict."""
        return str(self.verdict["status"])

    @property
    def words(self) -> str:
        """Every sentence that explains the verdict, in English."""
        diagnostics = [
            *self.verdict["diagnostics"],
            *(d for test in self.verdict["tests"] for d in test["diagnostics"]),
        ]
        return "\n".join(
            " ".join(filter(None, (item["what"]["en"], (item["look"] or {}).get("en")))) for item in diagnostics
        )

    @property
    def lines(self) -> set[int]:
        """Lines of the submission that the diagnostics name."""
        diagnostics = [
            *self.verdict["diagnostics"],
            *(d for test in self.verdict["tests"] for d in test["diagnostics"]),
        ]
        return {frame["line"] for item in diagnostics for frame in item["frames"]}


def run_judge(*arguments: str | Path, home: Path, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Run ``practice/judge.py`` with its data and cache in ``home``."""
    environment = {**os.environ, "TACIT_DATA_DIR": str(home / "data"), "TACIT_CACHE_DIR": str(home / "cache")}
    return subprocess.run(
        [sys.executable, str(JUDGE), *map(str, arguments)],
        cwd=home,
        env={**environment, "TACIT_LANG": "en", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout_s,
        check=False,
    )


def judge(source: str | bytes, home: Path, name: str = "mine.py") -> Judged:
    """Judge a source on problem 901 of the small pack."""
    path = home / name
    path.write_bytes(source if isinstance(source, bytes) else source.encode("utf-8"))
    done = run_judge("901", path, "--problems", PACK, "--json", home=home)
    verdict = json.loads(done.stdout) if done.stdout.strip() else {}
    return Judged(done.returncode, verdict, done.stdout, done.stderr)
