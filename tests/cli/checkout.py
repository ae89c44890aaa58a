"""A small checkout of its own, whose practice folder a test may fill, and calls of its command line."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "tests" / "packs" / "small"
SOLUTION = PACK / "reference" / "901_double" / "solution.py"

HINTS = """
[[hint]]
en = "First of three."
zh = "三条中的第一条。"

[[hint]]
en = "Second of three."
zh = "三条中的第二条。"

[[hint]]
en = "Third of three."
zh = "三条中的第三条。"
"""


@dataclass(frozen=True)
class Answer:
    """What a call printed and how it ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Checkout:
    """A folder with the judge's code and problems 901 and 902, and a home for the learner's data."""

    root: Path
    home: Path

    @property
    def practice(self) -> Path:
        """Folder of the practice files."""
        return self.root / "practice"

    @property
    def script(self) -> Path:
        """The entrance that learners call."""
        return self.practice / "judge.py"

    def environment(self, **changes: str) -> dict[str, str]:
        """Return an environment in which a call finds only this home, in English and without colours."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TACIT_", "LC_", "COLUMNS"))}
        own = {"TACIT_DATA_DIR": str(self.home / "data"), "TACIT_CACHE_DIR": str(self.home / "cache")}
        return {**kept, **own, "TACIT_LANG": "en", "NO_COLOR": "1", **changes}

    def call(self, *arguments: str | Path, cwd: Path | None = None, stdin: str = "", **changes: str) -> Answer:
        """Run ``python practice/judge.py`` with these arguments, in the root unless told otherwise."""
        script = "practice/judge.py" if cwd is None else str(self.script)
        done = subprocess.run(
            [sys.executable, script, *map(str, arguments)],
            cwd=cwd or self.root,
            env=self.environment(**changes),
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=90,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def call_on_terminal(self, *arguments: str | Path, stdin: str = "", **changes: str) -> Answer:
        """Run with a terminal as stdin, stdout and stderr; all that is shown comes back as ``out``."""
        outer, inner = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "practice/judge.py", *map(str, arguments)],
            cwd=self.root,
            env=self.environment(TERM="xterm", PAGER="cat", **changes),
            stdin=inner,
            stdout=inner,
            stderr=inner,
        )
        os.close(inner)
        os.write(outer, stdin.encode())
        shown = b""
        try:
            while part := os.read(outer, 65536):
                shown += part
        except OSError:
            pass  # Linux reports the end of a terminal as an error
        os.close(outer)
        return Answer(process.wait(30), shown.decode("utf-8").replace("\r\n", "\n"), "")


def build(root: Path) -> None:
    """Copy the judge and the small pack into a folder, and make a second problem with three hints."""
    shutil.copytree(ROOT / "judge", root / "judge", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACK, root, dirs_exist_ok=True)
    (root / "practice").mkdir()
    shutil.copy(ROOT / "practice" / "judge.py", root / "practice")
    for side in ("problems", "reference"):
        shutil.copytree(root / side / "901_double", root / side / "902_twice")
    second = root / "problems" / "902_twice"
    manifest = (second / "problem.toml").read_text(encoding="utf-8")
    changes = (("number = 901", "number = 902"), ('"testing"', '"other"'), ("把每个数翻倍", "两次"))
    for old, new in changes:
        manifest = manifest.replace(old, new)
    (second / "problem.toml").write_text(manifest, encoding="utf-8")
    (second / "hints.toml").write_text(HINTS, encoding="utf-8")


def clear_practice(root: Path) -> None:
    """Remove all but the entrance from the practice folder."""
    for path in (root / "practice").iterdir():
        if path.name != "judge.py":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
