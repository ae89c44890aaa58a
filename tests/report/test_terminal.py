"""A verdict on a terminal."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from samples import MERGE, NOT_WRITTEN, OWN_FRAME, RAISED, TESTS, both, outcome, verdict
from verdicts import GALLERY

from judge.models.status import Status
from judge.models.verdict import Verdict
from judge.report.terminal import render

GOLDEN = Path(__file__).parent / "golden"
REGENERATE = "TACIT_REGENERATE"
"""Environment variable: set it to rewrite the golden files, then look at every difference."""

NAMES = pytest.mark.parametrize("name", GALLERY)
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
VERBOSE = pytest.mark.parametrize("verbose", [False, True], ids=["short", "verbose"])


def show(shown: Verdict, language: str = "en", *, width: int = 80, verbose: bool = False) -> str:
    """Return the report as plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        render(shown, console, language, verbose=verbose)
    return capture.get()


def show_bytes(shown: Verdict, language: str, encoding: str) -> bytes:
    """Return the report as the bytes that a stream of that encoding gets, under strict errors."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    render(shown, Console(file=stream, width=80, color_system=None), language)
    stream.flush()
    return raw.getvalue()


@NAMES
@LANGUAGES
def test_the_report_is_the_golden_one(name: str, language: str) -> None:
    """Every status has a screen that someone has looked at."""
    path = GOLDEN / f"{name}.{language}.txt"
    text = show(GALLERY[name], language)
    if os.environ.get(REGENERATE):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_every_golden_file_belongs_to_a_verdict() -> None:
    """No stale screen is left behind."""
    expected = {f"{name}.{language}.txt" for name in GALLERY for language in ("en", "zh")}
    assert expected == {path.name for path in GOLDEN.iterdir()}


@NAMES
@LANGUAGES
@VERBOSE
@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_line_is_wider_than_the_terminal(name: str, language: str, width: int, verbose: bool) -> None:
    """Everything is laid out for the width, Chinese characters counted as two columns."""
    lines = show(GALLERY[name], language, width=width, verbose=verbose).split("\n")
    assert [] == [line for line in lines if cell_len(line) > width]


@NAMES
@pytest.mark.parametrize("width", [1, 12])
def test_a_terminal_that_is_far_too_narrow_breaks_nothing(name: str, width: int) -> None:
    """The lines overflow, and the report still ends with its last words."""
    assert str(GALLERY[name].seed) in show(GALLERY[name], width=width)


@NAMES
@VERBOSE
def test_learner_text_is_inert(name: str, verbose: bool) -> None:
    """No control character reaches a terminal that shows no colour."""
    text = show(GALLERY[name], verbose=verbose)
    assert [] == [character for character in text if not (character.isprintable() or character in "\n\u3000")]


def test_learner_text_can_not_colour_the_report() -> None:
    """On a terminal with colours, every escape sequence is one that only sets a style."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        render(GALLERY["hostile"], console, "en", verbose=True)
    assert [] == [end for end in re.findall(r"\x1b(\[[\d;]*m)?", capture.get()) if not end]


def test_markup_of_the_learner_stays_text() -> None:
    """What looks like rich's markup is shown as it was written."""
    assert "[bold]markup[/bold]" in show(GALLERY["hostile"])


@NAMES
@LANGUAGES
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "gbk", "utf-8"])
def test_no_encoding_breaks_the_report(name: str, language: str, encoding: str) -> None:
    """A stream that lacks characters gets escapes and simpler signs, never an error."""
    assert str(GALLERY[name].seed) in show_bytes(GALLERY[name], language, encoding).decode(encoding)


def test_chinese_falls_back_to_english_where_it_can_not_be_shown() -> None:
    """A page of escapes would help nobody."""
    assert show_bytes(GALLERY["wrong"], "en", "ascii") == show_bytes(GALLERY["wrong"], "zh", "ascii")


def test_a_drawing_stays_aligned_where_its_characters_are_missing() -> None:
    """Blocks and lines have ASCII substitutes of the same width."""
    diagnostic = MERGE.model_copy(update={"picture": both(*2 * ["┌─██░░─┐ 0 → 512"])})
    shown = verdict(Status.WRONG, (outcome("test_pools", Status.WRONG, diagnostic),))
    assert b"  +-##..-+ 0 > 512\n" in show_bytes(shown, "en", "ascii")


def test_chinese_is_kept_where_the_encoding_has_it() -> None:
    """GBK has Chinese, though not every sign."""
    assert "结果错误" in show_bytes(GALLERY["wrong"], "zh", "gbk").decode("gbk")


@pytest.mark.parametrize(
    "environment",
    [{"NO_COLOR": "1", "TERM": "xterm-256color"}, {"TERM": "dumb"}],
    ids=["no-color", "dumb"],
)
def test_colour_is_left_out_where_it_is_unwanted(environment: dict[str, str]) -> None:
    """NO_COLOR and dumb terminals get no colour, and the words say all that colour says."""
    stream = io.StringIO()
    console = Console(file=stream, width=80, force_terminal=True, _environ=environment)
    render(GALLERY["wrong"], console, "en")
    assert [] == re.findall(r"\x1b\[(?:[\d;]*;)?[34]\d(?:;\d+)*m", stream.getvalue())
    assert "Wrong" in stream.getvalue()


@NAMES
@LANGUAGES
def test_the_headline_comes_first(name: str, language: str) -> None:
    """The first line names the problem, and says how it ended."""
    shown = GALLERY[name]
    first = show(shown, language).split("\n")[0]
    assert str(shown.problem.number) == first.split()[0]
    assert shown.problem.title.in_language(language) in first


def test_only_the_first_failure_is_shown_in_full() -> None:
    """The others have two lines each; --verbose opens them."""
    assert 1 == show(GALLERY["wrong"]).count("  expected  ")
    assert 3 == show(GALLERY["wrong"], verbose=True).count("  expected  ")


def test_cases_of_one_test_that_passed_share_a_line() -> None:
    """Its name without the parameters, and how many there are; a single case keeps its own."""
    cases = [
        outcome("test_pools", id=f"{TESTS}::test_pools[{case}]", title=both(f"Pools [{case}]", f"池 [{case}]"))
        for case in ("a", "b", "c")
    ]
    tests = (outcome("test_rounds_up"), *cases, outcome("test_cost", id="t.py::test_cost[x]"))
    lines = show(verdict(Status.ACCEPTED, tests), verbose=True).split("\n")
    assert ["✓ A request is rounded up to a multiple of 512", "✓ Pools ×3"] == [
        line for line in lines if line.startswith("✓")
    ][:2]
    assert "✓ 5 passed (--verbose lists them)" in show(verdict(Status.ACCEPTED, tests))


def test_the_next_step_is_the_readers_own_command() -> None:
    """What is shown is what has to be typed."""
    console = Console(file=io.StringIO(), width=80, color_system=None)
    with console.capture() as capture:
        render(GALLERY["wrong"], console, "zh", call="python practice/judge.py")
    assert "\n  python practice/judge.py hint 101\n" in capture.get()


def test_paths_are_shown_from_where_the_reader_stands() -> None:
    """They are recorded as absolute ones."""
    frames = (OWN_FRAME.model_copy(update={"file": "/home/ada/my.py"}),)
    failed = outcome("test_pools", Status.WRONG, MERGE.model_copy(update={"frames": frames}))
    console = Console(file=io.StringIO(), width=80, color_system=None)
    for here, shown in ((Path("/home/ada"), "my.py:88"), (Path("/srv"), "/home/ada/my.py:88")):
        with console.capture() as capture:
            render(verdict(Status.WRONG, (failed,)), console, "en", here=here)
        assert f"  where     {shown} in free\n" in capture.get()


def test_the_difference_is_underlined() -> None:
    """The carets stand exactly under the part of the actual value that differs."""
    lines = show(GALLERY["wrong"]).split("\n")
    at = next(index for index, line in enumerate(lines) if line.startswith("  actual"))
    assert "4194304" == lines[at][lines[at + 1].index("^") : lines[at + 1].rindex("^") + 1]


@pytest.mark.parametrize(
    ("expected", "actual", "carets"),
    [
        pytest.param("显存 512", "显存 1024", ["          ^^^^"], id="after-wide-characters"),
        pytest.param("(1, 2)", "(1)", ["       ^"], id="missing-in-actual"),
        pytest.param("a\nb\nc", "a\nx\nc", ["     ^"], id="second-line"),
        pytest.param("a\nb", "a\n\nb", ["     ^"], id="one-empty-line-more"),
    ],
)
def test_carets_mark_what_differs(expected: str, actual: str, carets: list[str]) -> None:
    """Whatever the widths and lines, the marks stand under what differs."""
    diagnostic = MERGE.model_copy(update={"expected": expected, "actual": actual, "picture": None})
    text = show(verdict(Status.WRONG, (outcome("test_pools", Status.WRONG, diagnostic),)))
    found = [line.removeprefix(" " * 7) for line in text.split("\n") if line.strip() and set(line) <= {" ", "^"}]
    assert carets == found


def test_values_that_read_the_same_are_said_to() -> None:
    """Nobody has to search for a difference that is not there."""
    diagnostic = MERGE.model_copy(update={"expected": "1", "actual": "1"})
    assert "read the same" in show(verdict(Status.WRONG, (outcome("test_pools", Status.WRONG, diagnostic),)))


def test_long_values_are_cut_around_the_difference_with_a_note() -> None:
    """The rows that differ are shown, and how many are not."""
    values = [f"item {number}" for number in range(500)]
    changed = [*values[:300], "item X", *values[301:]]
    diagnostic = MERGE.model_copy(update={"expected": "\n".join(values), "actual": "\n".join(changed)})
    text = show(verdict(Status.WRONG, (outcome("test_pools", Status.WRONG, diagnostic),)))
    assert "item X" in text
    assert "(lines above left out: 298)" in text
    assert "(lines below left out: 194)" in text


def test_a_failure_that_is_only_optional_does_not_come_first() -> None:
    """Required tests lead, whatever the order in which they ran."""
    tests = (
        outcome("test_cost", Status.WRONG, MERGE, is_required=False),
        outcome("test_pools", Status.RUNTIME_ERROR, MERGE),
    )
    text = show(verdict(Status.RUNTIME_ERROR, tests))
    assert text.index("pools of their own") < text.index("(optional)")


def test_the_failure_that_names_the_verdict_is_shown_in_full() -> None:
    """Under a verdict *Runtime error* somebody looks for the error, though a mismatch came before it."""
    text = show(GALLERY["wrong_before_an_error"])
    first, _, rest = text.partition("The verdict is named after this failure")
    assert "4194304" in first
    assert "KeyError" in rest.partition("Also not passed (1)")[0]
    assert 1 == rest.count("KeyError")


def test_a_reason_that_many_tests_share_is_told_once() -> None:
    """Ten times *not written yet* would hide that one test failed for another reason."""
    names = ("test_pools", "test_best_fit", "test_out_of_memory", "test_cost")
    reasons = (MERGE, NOT_WRITTEN, NOT_WRITTEN, NOT_WRITTEN)
    text = show(verdict(Status.WRONG, tuple(map(lambda n, d: outcome(n, Status.WRONG, d), names, reasons))))
    assert 1 == text.count(NOT_WRITTEN.what.en.split(":")[0])
    assert "Also not passed (3)" in text


def test_a_recursion_is_one_line() -> None:
    """Twenty equal frames would push what matters off the screen."""
    text = show(GALLERY["wrong_before_an_error"])
    assert 1 == text.count(" ×5")
    assert 1 == text.count(f"{RAISED.frames[-1].file}:{RAISED.frames[-1].line} ")


def test_a_crash_is_shown_under_the_test_that_it_happened_in() -> None:
    """The run's diagnostic and the test that was running are one failure, not two."""
    text = show(GALLERY["crashed"])
    assert text.index("A freed block merges") < text.index("SIGSEGV")
    assert "Also not passed" not in text


@pytest.mark.parametrize("module", ["judge.report.as_json", "judge.report.junit"])
def test_json_and_junit_do_not_need_rich(module: str) -> None:
    """A graded run in CI does not pay for the terminal."""
    program = f"import sys, {module}; print('rich.console' in sys.modules)"
    assert "False\n" == subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
