"""Write packs of problems to disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, str | bytes | None]

MANIFEST = """\
number = {number}
topic = "memory"
difficulty = 2
device = "none"
requires = ["torch>=2.11"]
sources = ["a book"]

[title]
en = "A ring"
zh = "环"

[limits]
wall_s = 30

[weights]
correctness = 0.5
time = 0.5
"""

HINTS = """\
[[hint]]
en = "Look."
zh = "看。"

[[hint]]
en = "Look closer."
zh = "再看。"
"""


def write_problem(pack: Path, name: str = "901_ring", files: Files | None = None) -> Path:
    """Write a sound problem into a pack and return its folder.

    Args:
        pack: root of the pack.
        name: name of the folder.
        files: other contents by file name; ``None`` leaves the file out.
    """
    folder, reference = pack / "problems" / name, pack / "reference" / name
    number = name.partition("_")[0]
    contents: dict[Path, str | bytes | None] = {
        folder / "problem.toml": MANIFEST.format(number=number),
        folder / "hints.toml": HINTS,
        folder / "README.md": "# A ring\n",
        folder / "README.zh.md": "# 环\n",
        folder / "stub.py": "def turn(): ...\n",
        folder / "test_solution.py": "def test_turn(): ...\n",
        reference / "solution.py": "def turn(): ...\n",
        reference / "explanation.md": "It turns.\n",
        reference / "explanation.zh.md": "它会转。\n",
    }
    given = dict(files or {})
    for path, content in contents.items():
        chosen = given.pop(path.name, content)
        if chosen is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(chosen if isinstance(chosen, bytes) else chosen.encode())
    assert {} == given
    return folder


def edit_manifest(old: str, new: str, number: int = 901) -> str:
    """Return the sound manifest with one piece exchanged."""
    manifest = MANIFEST.format(number=number)
    assert old in manifest
    return manifest.replace(old, new)
