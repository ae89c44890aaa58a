"""A verdict as JUnit XML, for continuous integration.

The suite is red (a failure or an error) exactly when the command's exit status is 1 or 3.
"""

from __future__ import annotations

import math
from xml.etree import ElementTree

from judge.models.record import Diagnostic, DiagnosticKind
from judge.models.status import Status
from judge.models.verdict import TestVerdict, Verdict
from judge.report.ink import Ink

MAX_TEXT = 100_000
"""Characters of one text; a report that no one can open helps no one."""


def dumps(verdict: Verdict, language: str) -> str:
    """Return one ``testsuites`` document, ASCII only (other characters by reference), in ``"en"`` or ``"zh"``."""
    ink = Ink(language, "utf-8")
    suite = ElementTree.Element("testsuite", name=f"{verdict.problem.number}_{verdict.problem.slug}")
    _add_properties(suite, verdict, ink)
    cases = [_add_case(suite, test, verdict, ink) for test in verdict.tests]
    if not cases or (verdict.status.exit_code in (1, 3) and (_errors(verdict.diagnostics) or not _is_red(cases))):
        cases.append(_add_run(suite, verdict, ink))
    suite.set("tests", str(len(cases)))
    for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(attribute, str(cases.count(kind)))
    suite.set("time", _seconds(verdict.wall_s))
    suite.set("timestamp", verdict.started_at.isoformat())
    _add_text(suite, "system-out", _output(verdict, ink))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_properties(suite: ElementTree.Element, verdict: Verdict, ink: Ink) -> None:
    total = "" if verdict.total is None else repr(verdict.total)
    pairs = {
        "status": verdict.status.value,
        "total": total,
        "seed": str(verdict.seed),
        "device": verdict.device.kind,
        "isolation": verdict.isolation.level,
        "submission": verdict.submission.path,
        "sha256": verdict.submission.sha256,
    }
    for score in verdict.scores:
        if score.weight > 0:
            pairs[f"score.{score.name}"] = "not judged" if score.points is None else repr(score.points)
            pairs |= {} if score.measured is None else {f"measured.{score.name}": repr(score.measured)}
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in pairs.items():
        ElementTree.SubElement(properties, "property", name=name, value=ink.line(value))


def _add_case(suite: ElementTree.Element, test: TestVerdict, verdict: Verdict, ink: Ink) -> str:
    """Add one test and return its outcome: passed, failure, error or skipped."""
    path, _, name = test.id.partition("::")
    case = ElementTree.SubElement(
        suite, "testcase", classname=_class_name(verdict, path), name=ink.line(name), time=_seconds(test.duration_s)
    )
    outcome = _outcome_of(test, verdict)
    title = ink.line(test.title.in_language(ink.language))
    if outcome != "passed":
        _add_outcome(case, outcome, test.status, title, test.diagnostics, ink)
    _add_text(case, "system-out", ink.clean(test.output))
    return outcome


def _outcome_of(test: TestVerdict, verdict: Verdict) -> str:
    if test.status is Status.ACCEPTED:
        return "passed"
    is_optional_loss = not test.is_required and verdict.status in (Status.ACCEPTED, Status.NOT_JUDGED)
    if test.status is Status.NOT_JUDGED or is_optional_loss:
        return "skipped"
    return "failure" if test.status is Status.WRONG else "error"


def _add_run(suite: ElementTree.Element, verdict: Verdict, ink: Ink) -> str:
    """Add a case for the run as a whole, which no test speaks for, and return its outcome."""
    name = _class_name(verdict, "")
    case = ElementTree.SubElement(suite, "testcase", classname=name, name="run", time=_seconds(verdict.wall_s))
    outcome = {Status.ACCEPTED: "passed", Status.NOT_JUDGED: "skipped", Status.WRONG: "failure"}.get(
        verdict.status, "error"
    )
    if outcome != "passed":
        title = ink.say(f"status_{verdict.status}")
        _add_outcome(case, outcome, verdict.status, title, verdict.diagnostics, ink)
    return outcome


def _add_outcome(
    case: ElementTree.Element,
    outcome: str,
    status: Status,
    title: str,
    diagnostics: tuple[Diagnostic, ...],
    ink: Ink,
) -> None:
    shown = _errors(diagnostics)
    what = ink.line(shown[0].what.in_language(ink.language)) if shown else ""
    message = f"{title}: {what}" if what else title
    element = ElementTree.SubElement(case, outcome, message=message[:MAX_TEXT], type=status.value)
    element.text = "\n\n".join(_describe(one, ink) for one in shown)[:MAX_TEXT]


def _errors(diagnostics: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    return [one for one in diagnostics if one.kind is not DiagnosticKind.WARNING]


def _is_red(outcomes: list[str]) -> bool:
    return "failure" in outcomes or "error" in outcomes


def _describe(diagnostic: Diagnostic, ink: Ink) -> str:
    lines = [ink.read(diagnostic.what)]
    for label, value in (("expected", diagnostic.expected), ("actual", diagnostic.actual)):
        if value is not None:
            lines.append(f"{ink.say(label)}: {ink.clean(value)}")
    if diagnostic.picture:
        lines.append(ink.read(diagnostic.picture))
    for frame in reversed(diagnostic.frames):
        lines.append(f"{ink.line(frame.file)}:{frame.line}: {ink.line(frame.code)}")
    if diagnostic.look:
        lines.append(f"{ink.say('look')}: {ink.read(diagnostic.look)}")
    return "\n".join(lines)


def _add_text(parent: ElementTree.Element, tag: str, text: str) -> None:
    if text.strip():
        ElementTree.SubElement(parent, tag).text = text[-MAX_TEXT:]


def _output(verdict: Verdict, ink: Ink) -> str:
    dropped = verdict.output_dropped_bytes
    note = f"{ink.say('printed')}{ink.say('bytes_dropped', count=dropped)}\n" if dropped else ""
    return note + ink.clean(verdict.output)


def _class_name(verdict: Verdict, path: str) -> str:
    problem = f"{verdict.problem.number}_{verdict.problem.slug}"
    module = path.removesuffix(".py").replace("/", ".")
    return f"{problem}.{module}" if module else problem


def _seconds(value: float | None) -> str:
    return f"{value:.3f}" if value is not None and math.isfinite(value) else "0.000"
