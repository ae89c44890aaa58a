"""How a test breaks its copy of a problem."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from judge.author.findings import Finding


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that stands in a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def brief(findings: Iterable[Finding]) -> list[tuple[str, str, int | None]]:
    """Return rule, file and line of each finding."""
    return [(finding.rule, finding.file.name, finding.line) for finding in findings]
