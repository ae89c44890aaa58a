"""What every command is told: the language, how the program was called, which packs to look in."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from judge.cli import outlet
from judge.errors import JudgeError, JudgeFault, UsageError
from judge.locale import Language, say
from judge.locale.paths import quote_path
from judge.locale.refusals import explain_refusal

if TYPE_CHECKING:
    from judge.models.problem import Problem
    from judge.store.attempts import AttemptLog

Answer = TypeVar("Answer")

NUMBERED = re.compile(r"[1-9]\d{0,4}(_\w*)?", re.ASCII)
"""A problem's number, or the name of its folder."""


@dataclass(frozen=True)
class Session:
    """One call of the command line."""

    language: Language
    program: str
    """How the user called the judge: ``judge`` or ``python practice/judge.py``."""
    packs: tuple[Path, ...] = ()
    """Folders given with ``--problems``."""
    said: set[str] = field(default_factory=set, compare=False)
    """Warnings that were given in this call."""

    @property
    def call(self) -> str:
        """What the user has to type in front of a problem to ask about the same packs again."""
        options = (f"--problems {quote_path(pack)}" for pack in self.packs)
        return " ".join((self.program, *options))

    def say(self, key: str, **values: object) -> str:
        """Return the message ``domain.name`` in the session's language."""
        return say(key, self.language, **values)

    def find(self, key: str) -> Problem:
        """Return the problem that a number, slug, folder or practice file names.

        Raises:
            ProblemNotFound: there is none.
            BrokenProblem: there is one, and it is broken.
        """
        from judge.catalog.lookup import find
        from judge.catalog.packs import discover

        return find(discover(self.packs), self.read_key(key), self.call)

    def read_key(self, word: str) -> str:
        """Return the number, slug or folder name in a word that may also be a path.

        Raises:
            UsageError: the word is a path, and its last part does not begin with a number.
        """
        if not is_path(word):
            return word
        name = Path(word).name.split(".")[0]
        if not NUMBERED.fullmatch(name):
            raise UsageError(
                self.say("cli.whose_file", file=word),
                remedy=self.say("cli.whose_file_remedy", file=quote_path(word), program=self.call),
            )
        return name

    @property
    def attempts(self) -> AttemptLog:
        """The user's attempt store."""
        from judge.store.attempts import AttemptLog

        return AttemptLog.open_default(self.language)

    def ask_store(self, question: Callable[[AttemptLog], Answer], otherwise: Answer) -> Answer:
        """Return what the store answers; when it is unusable, warn and return ``otherwise``.

        For commands that only lose a convenience without the store.
        """
        try:
            return question(self.attempts)
        except JudgeFault as fault:
            self.warn(fault)
            return otherwise

    def explain(self, refusal: OSError) -> str:
        """Return why the system refused, as a part of a sentence."""
        return explain_refusal(refusal, self.language)

    def describe(self, fault: JudgeError) -> str:
        """Return place, fault and remedy on one line; a Chinese full stop has its space built in."""
        where = f"{fault.place}: " if fault.place else ""
        gap = "" if fault.what.endswith("。") else " "
        return " ".join(f"{where}{fault.what}{gap}{fault.remedy or ''}".split())

    def warn(self, fault: JudgeError) -> None:
        """Say once what went wrong beside the matter; the command goes on."""
        what = self.describe(fault)
        if what not in self.said:
            outlet.tell(self.say("cli.warning", what=what))
        self.said.add(what)


def is_path(word: str) -> bool:
    """Return whether a word names a file or folder, not a problem."""
    return "/" in word or word.endswith(".py")


def name_program() -> str:
    """Return what the user has to type, where they stand, to call the judge again."""
    script = sys.argv[0]
    if script.endswith(".py"):
        return f"{Path(sys.orig_argv[0]).name} {quote_path(script)}"
    return Path(script).name or "judge"
