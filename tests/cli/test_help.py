"""Help and complaints: in the learner's language, with what to do next."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

import judge.cli
from judge.cli.layout import align, wrap
from tests.cli.checkout import Checkout

COMMANDS = ("list", "show", "start", "run", "hint", "solution", "reset", "history", "completion", "check", "new")


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a call in this process; return its status and what it printed."""
    code = judge.cli.main(list(arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.fixture(autouse=True)
def name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call the judge by its installed name."""
    monkeypatch.setattr("sys.argv", ["/usr/bin/judge"])


@pytest.mark.parametrize("command", ["", *COMMANDS], ids=lambda command: command or "top")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_help_page_speaks_one_language(capsys: pytest.CaptureFixture[str], command: str, language: str) -> None:
    """Usage, headings and click's own words included; no line is wider than a terminal."""
    words = [command] if command else []
    code, out, err = call(capsys, *words, "--lang", language, "--help")
    assert (0, "") == (code, err)
    has_chinese = [line for line in out.splitlines() if re.search("[\u4e00-\u9fff]", line)]
    if language == "en":
        assert [] == has_chinese
    else:
        assert out.startswith("用法：")
        assert not re.search(r"Usage|Options|Commands|Show |\bthis\b", out)
    assert [] == [line for line in out.splitlines() if cell_len(line) > 80]


def test_help_lists_every_command_in_a_learners_order(capsys: pytest.CaptureFixture[str]) -> None:
    """What a learner needs first stands first; what only authors need stands apart."""
    _, out, _ = call(capsys, "--lang", "en", "--help")
    at = [out.index(f"\n  {command} ") for command in COMMANDS]
    assert sorted(at) == at
    assert out.index("\n  completion") < out.index("For authors") < out.index("\n  check")


def test_help_is_a_word_too(capsys: pytest.CaptureFixture[str]) -> None:
    """People type it; it is no problem's name."""
    for words, command in ((["help"], []), (["help", "show"], ["show"]), (["help", "901"], ["run"])):
        assert call(capsys, "--lang", "en", *words) == call(capsys, "--lang", "en", *command, "--help")


def test_help_shows_how_the_judge_was_called(checkout: Checkout) -> None:
    """A usage line that can be typed."""
    answer = checkout.call("run", "--help")
    assert re.match(r"Usage: python\S* practice/judge\.py run \[OPTIONS\] PROBLEM \[FILE\]\n", answer.out)


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """By name and number."""
    assert (0, f"Tacit {judge.__version__}\n", "") == call(capsys, "--version")


@pytest.mark.parametrize(
    ("arguments", "english", "chinese"),
    [
        (["lst"], "no command 'lst'.", "没有“lst”这个命令"),
        (["901", "--jsn"], "no option '--jsn'. Did you mean: --j", "没有“--jsn”这个选项"),
        (["--colour"], "no option '--colour'.", "没有“--colour”这个选项"),
        (["901", "a.py", "b.py"], "One word too many: b.py.", "多余的参数：b.py"),
        (["show"], "PROBLEM is missing.", "缺少参数：题目"),
        (["901", "--seed", "x"], "--seed must be a whole number from 0 to", "--seed 必须是 0 到"),
        (["901", "--seed", "-1"], "--seed must be a whole number from 0 to", "--seed 必须是 0 到"),
        (
            ["901", "--device", "tpu"],
            "--device must be one of auto, cpu, cuda, sim.",
            "只能是以下之一：auto、cpu、cuda、sim",
        ),
        (["901", "--junit"], "--junit needs a value.", "--junit 需要一个值"),
        (["901", "--json=1"], "--json takes no value.", "--json 不接受值"),
        (["completion", "tcsh"], "must be one of bash, zsh, fish.", "只能是以下之一：bash、zsh、fish"),
        (["my.py"], "does not say which problem it is for.", "看不出对应哪一道题"),
    ],
    ids=lambda value: value[0] if isinstance(value, str) else " ".join(value),
)
def test_a_wrong_call_is_answered_on_one_line_with_a_remedy(
    capsys: pytest.CaptureFixture[str], arguments: list[str], english: str, chinese: str
) -> None:
    """Exit status 2 and nothing on standard output, in either language."""
    for language, text in (("en", english), ("zh", chinese)):
        code, out, err = call(capsys, "--lang", language, *arguments)
        assert (2, "", 1) == (code, out, err.count("\n"))
        assert text in err
        assert len(err.split(text)[1].strip()) > 3, "a remedy follows"


def test_an_unknown_language_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """It is no reason to guess."""
    code, _, err = call(capsys, "--lang", "fr")
    assert 2 == code
    assert "--lang must be one of en, zh." in err


def test_wrapping_counts_cells_and_keeps_punctuation_with_its_word() -> None:
    """No Chinese line begins with a comma, no Latin word is cut."""
    assert ["一二三，", "四五 abc", "defgh"] == wrap("一二三，四五 abc defgh", 8)
    assert ["two", "words"] == wrap("two words", 6)
    assert [""] == wrap("", 10)


def test_columns_line_up_by_cells() -> None:
    """A wide character takes two."""
    assert ["一  x", "ab  yz", "c"] == align([("一", "x"), ("ab", "yz"), ("c", "")])
