"""The documents agree with each other, with CI and with the files that they point to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge.cli.app import AUTHOR_COMMANDS, LEARNER_COMMANDS

READMES = ("README.md", "README.zh-CN.md")
DOCUMENTS = (*READMES, "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
COMMAND_ROW = re.compile(r"^\| `judge\.py (\w+)", re.MULTILINE)
SHELL_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) ", re.MULTILINE)


def read(root: Path, name: str) -> str:
    """Return a document's text."""
    return (root / name).read_text(encoding="utf-8")


def find_commands(text: str) -> list[str]:
    """Return the lines that install the project, in order, each once."""
    return list(dict.fromkeys(line for line in text.splitlines() if line.startswith("pip install -e")))


@pytest.mark.parametrize("name", READMES)
def test_ci_runs_the_very_commands_of_the_readme(name: str, root: Path) -> None:
    """The learner's and the developer's command are the same text in both READMEs and in CI."""
    in_ci = find_commands(read(root, ".ci/run"))
    assert 2 == len(in_ci)
    assert in_ci == find_commands(read(root, name))


def test_ci_is_executable(root: Path) -> None:
    """CI's script can be started as it is."""
    assert (root / ".ci" / "run").stat().st_mode & 0o111 == 0o111


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_to_a_file_leads_somewhere(name: str, root: Path) -> None:
    """A relative link names a file of the project."""
    folder = (root / name).parent
    broken = [link for link in LINK.findall(read(root, name)) if not (folder / link).exists()]
    assert [] == broken


def test_the_readmes_have_the_same_sections_and_commands(root: Path) -> None:
    """The Chinese README is a whole one: same order of headings, same shell blocks."""
    english, chinese = (read(root, name) for name in READMES)
    assert HEADING.findall(english) == HEADING.findall(chinese)
    commands = [[line.split("  #")[0].rstrip() for line in SHELL_BLOCK.findall(text)] for text in (english, chinese)]
    assert commands[0] == commands[1]


@pytest.mark.parametrize("name", READMES)
def test_the_readmes_list_every_command_and_no_other(name: str, root: Path) -> None:
    """The table of commands is complete; its first row, without a command's name, is ``run``."""
    listed = ["run" if word.isdigit() else word for word in COMMAND_ROW.findall(read(root, name))]
    assert sorted((*LEARNER_COMMANDS, *AUTHOR_COMMANDS)) == sorted(listed)
