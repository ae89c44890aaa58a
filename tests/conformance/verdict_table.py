"""The table of verdicts in docs/fidelity.md, made from the result files of ``tests.conformance.verdicts``.

Run as ``python -m tests.conformance.verdict_table``, this puts it into the pages of both languages.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from tests.conformance.agreement import DOCS

RESULTS = ("verdicts-simulated-torch-2.13.json", "verdicts-h200-torch-2.11.json")
BEGIN, END = "<!-- verdicts: made by `python -m tests.conformance.verdict_table` -->\n", "<!-- end of verdicts -->"
PLACE = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
REFERENCE = "solution.py"

Result = dict[str, Any]


class Words(NamedTuple):
    """The words of one page."""

    page: str
    problem: str
    solutions: str
    missing: str
    count: str
    separator: str


PAGES = (
    Words("fidelity.md", "problem", "solutions", "not run", "{} of {}", ", "),
    Words("fidelity.zh-CN.md", "题目", "份解答", "未运行", "{} / {}", "、"),
)


def read_results() -> list[Result | None]:
    """Return the result of each run, ``None`` for one that is yet to be made."""
    paths = [DOCS / "fidelity" / name for name in RESULTS]
    return [json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None for path in paths]


def is_as_expected(name: str, verdict: dict[str, Any]) -> bool:
    """Return whether the reference is accepted, the stub wrong, and a wrong solution caught by all that it names."""
    if name == REFERENCE:
        return verdict["status"] == "accepted"
    if name == "stub.py":
        return verdict["status"] == "wrong"
    return verdict["status"] not in ("accepted", "not_judged", "judge_error") and "missed" not in verdict


def list_exceptions(result: Result) -> list[str]:
    """Return what is not as expected, each as ``problem/file``."""
    return [
        f"{problem}/{name}"
        for problem, judged in result["problems"].items()
        for name, verdict in judged["solutions"].items()
        if not is_as_expected(name, verdict)
    ]


def build_table(results: list[Result | None], words: Words) -> str:
    """Return the table as Markdown: of each problem, how many solutions got the verdict that they are to get."""
    heads = [_describe(result, words) for result in results]
    lines = [f"| {words.problem} | {words.solutions} | {' | '.join(heads)} |", f"|---|---|{'---|' * len(heads)}"]
    problems = sorted({problem for result in results if result for problem in result["problems"]})
    for problem in problems:
        judged = [result["problems"].get(problem) if result else None for result in results]
        most = max(len(one["solutions"]) for one in judged if one)
        lines.append(f"| {problem} | {most} | {' | '.join(_count(one, words) for one in judged)} |")
    return "\n".join(lines) + "\n"


def _describe(result: Result | None, words: Words) -> str:
    if result is None:
        return words.missing
    return f"{result['device']['name']}{words.separator}torch {result['torch']}{words.separator}{result['date']}"


def _count(judged: dict[str, Any] | None, words: Words) -> str:
    if judged is None:
        return words.missing
    solutions = judged["solutions"]
    good = sum(is_as_expected(name, verdict) for name, verdict in solutions.items())
    return words.count.format(good, len(solutions))


def main() -> None:
    """Put the table into both pages."""
    results = read_results()
    for words in PAGES:
        path = DOCS / words.page
        text = path.read_text(encoding="utf-8")
        table = BEGIN + build_table(results, words) + END
        before, after = PLACE.split(text)
        path.write_text(before + table + after, encoding="utf-8")


if __name__ == "__main__":
    main()
