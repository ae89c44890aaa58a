"""``new``: the files of a new problem, whole and already green, for its author to make their own."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from judge.errors import JudgeFault, UsageError
from judge.locale import choose_language, pair, say
from judge.locale.paths import show_path
from judge.locale.refusals import explain_refusal

SLUG = re.compile(r"[a-z][a-z0-9_]*")
MAX_NUMBER = 99_999
SUFFIX = ".tmpl"
"""Keeps linters and pytest away from the templates."""


def create_problem(number: int, slug: str, root: Path) -> Path:
    """Write a new problem that ``check`` finds nothing wrong with, and return its folder.

    Args:
        number: of the problem, 1 to 99999.
        slug: rest of the folder's name: small letters, digits, underscores.
        root: the pack, which holds ``problems/`` and ``reference/``.

    Raises:
        UsageError: number or slug are no good, or the number is taken.
        JudgeFault: the folder can't be written.
    """
    if number not in range(1, MAX_NUMBER + 1):
        raise _refuse("new_number", number=number)
    if not SLUG.fullmatch(slug):
        raise _refuse("new_slug", slug=slug)
    taken = {int(found) for found in _list_numbers(root)}
    if number in taken:
        free = next(one for one in range(number, number + len(taken) + 2) if one not in taken)
        raise _refuse("new_taken", number=number, free=free)
    name = f"{number}_{slug}"
    words = slug.replace("_", " ").strip()
    title = pair("author.new_title_zh", words=words)
    values = {"number": str(number), "title": words.capitalize(), "title_zh": title["zh"]}
    homes = {side: root / side / name for side in ("problems", "reference")}
    try:
        _write(homes, values)
    except OSError as fault:
        for home in homes.values():
            shutil.rmtree(home, ignore_errors=True)
        language = choose_language(sys.argv[1:])
        raise JudgeFault(
            say("author.new_unwritable", language, detail=explain_refusal(fault, language)),
            place=show_path(root),
            remedy=say("author.new_unwritable_remedy", language),
        ) from fault
    return homes["problems"]


def _list_numbers(root: Path) -> Iterator[str]:
    """Yield the numbers that folders of the pack claim."""
    for side in ("problems", "reference"):
        for path in (root / side).glob("[1-9]*_*"):
            number = path.name.partition("_")[0]
            if number.isascii() and number.isdigit():
                yield number


def _write(homes: dict[str, Path], values: dict[str, str]) -> None:
    """Fill the templates in; nothing that exists is overwritten."""
    templates = files("judge.author").joinpath("templates")
    for side, home in homes.items():
        home.mkdir(parents=True)
        for template in _list_templates(templates.joinpath(side)):
            text = Template(template.read_text(encoding="utf-8")).substitute(values)
            (home / template.name.removesuffix(SUFFIX)).write_text(text, encoding="utf-8")


def _list_templates(folder: Traversable) -> list[Traversable]:
    return sorted((one for one in folder.iterdir() if one.name.endswith(SUFFIX)), key=lambda one: one.name)


def _refuse(what: str, **values: object) -> UsageError:
    language = choose_language(sys.argv[1:])
    return UsageError(
        say(f"author.{what}", language, **values), remedy=say(f"author.{what}_remedy", language, **values)
    )
