"""What checking problems came to."""

from __future__ import annotations

from pathlib import Path

from judge.catalog.faults import show_path
from judge.locale import pair
from judge.models.base import Model, Text
from judge.models.verdict import ProblemName


def text(key: str, **values: object) -> Text:
    """Return a message of this layer in both languages; a value may itself be a text of both."""
    both = {
        language: {
            name: value.in_language(language) if isinstance(value, Text) else value for name, value in values.items()
        }
        for language in ("en", "zh")
    }
    return Text(**{language: pair(f"author.{key}", **filled)[language] for language, filled in both.items()})


class Finding(Model):
    """One thing that is wrong with a problem."""

    rule: str
    """Name of the broken rule, which is also its message's."""
    file: Path
    line: int | None = None
    """Line in ``file``, from 1."""
    what: Text
    """One sentence: what is wrong."""
    remedy: Text
    """One sentence: what to do."""

    @property
    def place(self) -> str:
        """File and line, relative to the working directory where the file lies below it."""
        return show_path(self.file) if self.line is None else f"{show_path(self.file)}:{self.line}"


def find(rule: str, file: Path, *, line: int | None = None, **values: object) -> Finding:
    """Return the finding for ``rule`` of ``author.toml``; its remedy is ``<rule>_remedy``."""
    remedy = f"{rule}_remedy"
    return Finding(rule=rule, file=file, line=line, what=text(rule, **values), remedy=text(remedy, **values))


class Survivor(Model):
    """A change of the reference that no required test noticed."""

    where: str
    """Function or class that holds the changed line, for example ``Pool.malloc``; ``module`` outside of all."""
    line: int
    """Number of the line in the reference."""
    before: str
    """The changed line as the reference has it, without indentation."""
    after: str
    """The line as it was changed to; empty where it was removed."""
    diff: str
    """The change as a unified diff."""
    why: Text | None = None
    """The author's explanation, where there is one."""
    is_equivalent: bool = False
    """Whether the author says that no test could ever notice."""


class Mutation(Model):
    """How many changes of the reference the tests noticed."""

    judged: int
    killed: int
    """Not accepted."""
    undecided: int = 0
    """Not counted in ``judged``: only tests that were skipped here could have noticed them."""
    survivors: tuple[Survivor, ...] = ()
    """By line."""

    @property
    def share(self) -> float:
        """Killed, of all that the author does not explain as equivalent: 0 to 1."""
        noticeable = self.judged - sum(survivor.is_equivalent for survivor in self.survivors)
        return self.killed / noticeable if noticeable else 1.0


class ProblemReport(Model):
    """What checking one problem came to."""

    problem: ProblemName
    findings: tuple[Finding, ...]
    unproven: tuple[Text, ...] = ()
    """What could not be proven on this machine, and why."""
    untried: Text | None = None
    """What the caller left out."""
    tests: int = 0
    wrong: int = 0
    """Wrong solutions that were judged."""
    trivial: int = 0
    """Trivial answers that were judged."""
    mutation: Mutation | None = None
    """None where no mutants were tried."""
    wall_s: float


class CheckReport(Model):
    """What checking some problems came to."""

    problems: tuple[ProblemReport, ...]
    findings: tuple[Finding, ...] = ()
    """About packs as a whole."""
    broken: tuple[str, ...] = ()
    """Faults of problems that could not even be read, in the caller's language."""

    @property
    def is_green(self) -> bool:
        """Return whether nothing is wrong with any problem."""
        return not self.broken and not self.findings and not any(report.findings for report in self.problems)

    @property
    def exit_code(self) -> int:
        """0: nothing is wrong; 1: something is; 4: nothing is, but not all could be proven on this machine."""
        if not self.is_green:
            return 1
        return 4 if any(report.unproven for report in self.problems) else 0
