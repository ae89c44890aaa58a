"""The report of a check on a terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from judge.author.findings import CheckReport, Mutation, ProblemReport, Survivor, find
from judge.author.render import render_check
from judge.models.base import Text
from judge.models.verdict import ProblemName

NAME = ProblemName(number=901, slug="double", title=Text(en="Double every number", zh="把每个数翻倍"))
DIFF = "--- solution.py\n+++ solution.py\n@@ -1 +1 @@\n-a < b\n+a <= b"
ALIVE = Survivor(where="f", line=1, before='a < "b"', after="a <= b", diff=DIFF)
EXPLAINED = ALIVE.model_copy(update={"where": "g", "why": Text(en="It is equal.", zh="它们等价。")})


def show(report: CheckReport, language: str = "en", *, verbose: bool = False, encoding: str = "utf-8") -> str:
    """Return the report as it is printed on 70 columns."""
    out = io.TextIOWrapper(io.BytesIO(), encoding)
    render_check(report, Console(file=out, width=70), language, verbose=verbose)
    out.seek(0)
    return out.read()


def report_on(*rules: str, **fields: object) -> ProblemReport:
    """Return a report with one finding for each rule."""
    values = {"name": "draft.txt", "known": "stub.py", "where": "f", "before": "a < b", "after": "a <= b"}
    findings = tuple(find(rule, Path("problems/901_double/draft.txt"), line=3, **values) for rule in rules)
    return ProblemReport.model_validate({"problem": NAME, "findings": findings, "wall_s": 2.0, "tests": 3, **fields})


@pytest.mark.parametrize(("language", "told"), [("en", "nothing wrong"), ("zh", "没有问题")])
def test_a_green_problem_says_what_was_tried(language: str, told: str) -> None:
    """The headline and the counts, in both languages."""
    text = show(CheckReport(problems=(report_on(trivial=12, mutation=Mutation(judged=9, killed=9)),)), language)
    assert told in text.splitlines()[0]
    assert "12" in text
    assert "100%" in text


def test_a_finding_has_place_fault_and_remedy() -> None:
    """File and line come first."""
    lines = [line.strip() for line in show(CheckReport(problems=(report_on("stray"),))).splitlines()]
    at = lines.index("✗ problems/901_double/draft.txt:3")
    assert lines[at + 1].startswith("`draft.txt` is not a file")
    assert lines[at + 2].startswith("Remove or rename it")


def test_an_unexplained_survivor_is_shown_with_its_diff_and_a_form() -> None:
    """The form can be pasted into survivors.toml."""
    text = show(
        CheckReport(problems=(report_on("survivor", mutation=Mutation(judged=9, killed=8, survivors=(ALIVE,))),))
    )
    assert "    +a <= b\n" in text
    assert '    before = "a < \\"b\\""\n' in text


def test_an_explained_survivor_is_shown_with_its_reason() -> None:
    """Its whole diff is for who asks for more."""
    report = CheckReport(problems=(report_on(mutation=Mutation(judged=9, killed=8, survivors=(EXPLAINED,))),))
    assert "It is equal." in show(report)
    assert "@@" not in show(report)
    assert "它们等价。" in show(report, "zh")
    assert "@@" in show(report, verbose=True)


def test_many_survivors_are_cut_unless_all_are_wanted() -> None:
    """How many are left out is said."""
    mutation = Mutation(judged=20, killed=8, survivors=(ALIVE,) * 12)
    report = CheckReport(problems=(report_on(*["survivor"] * 12, mutation=mutation),))
    assert "not shown: 2" in show(report)
    assert 12 == show(report, verbose=True).count("before = ")


def test_what_could_not_be_proven_is_said() -> None:
    """It is no finding, and no success either."""
    report = CheckReport(problems=(report_on(unproven=(Text(en="No GPU.", zh="没有 GPU。"),)),))
    assert "not proven in full" in show(report)
    assert "No GPU." in show(report)
    assert (True, 4) == (report.is_green, report.exit_code)


def test_a_broken_problem_and_findings_of_a_pack_are_shown() -> None:
    """The sum counts what could not even be read."""
    orphan = find("orphan", Path("reference/902_gone"), problem="problems/902_gone")
    report = CheckReport(problems=(report_on(),), findings=(orphan,), broken=("problem.toml:3: \x1b[31mno",))
    text = show(report)
    assert "\x1b" not in text
    assert "reference/902_gone" in text
    assert "Without findings: 1 of 2." in text
    assert (False, 1) == (report.is_green, report.exit_code)


def test_an_ascii_terminal_gets_english_and_ascii_signs() -> None:
    """Nothing is asked of the encoding that it can't show."""
    assert show(CheckReport(problems=(report_on("stray"),)), "zh", encoding="ascii").isascii()
