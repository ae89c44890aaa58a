"""Commands that show something: list, show, hint, solution, history, and the judge without a word."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from judge.cli.layout import reflow
from judge.store.attempts import AttemptLog
from tests.cli.checkout import SOLUTION, Checkout


@pytest.fixture
def log(checkout: Checkout) -> AttemptLog:
    """Return the learner's store."""
    return AttemptLog(checkout.home / "data" / "attempts.db")


def solve(log: AttemptLog, number: int) -> None:
    """Put an accepted attempt on record."""
    log.finish(log.begin(number, "double", "mine.py", "ab"), "accepted", '{"total": 0.999, "wall_s": 12.34}')


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_columns_of_the_list_line_up(checkout: Checkout, log: AttemptLog, language: str) -> None:
    """A Chinese character is two cells wide; solved problems carry a mark."""
    solve(log, 902)
    answer = checkout.call("list", "--lang", language)
    assert (0, "") == (answer.code, answer.err)
    header, *rows = answer.out.splitlines()[:3]
    topic = {"en": "topic", "zh": "主题"}[language]
    starts = [
        cell_len(line[: line.index(word)]) for line, word in ((header, topic), (rows[0], "testing"), (rows[1], "other"))
    ]
    assert 1 == len(set(starts))
    assert [" ", "✓"] == [row[0] for row in rows]
    assert {"en": "1 of 2 solved.", "zh": "共 2 题，已通过 1 题。"}[language] in answer.out


def test_the_list_can_be_narrowed(checkout: Checkout, log: AttemptLog) -> None:
    """By topic, and to what is unsolved; an unknown topic is told the known ones."""
    solve(log, 902)
    assert "901" not in checkout.call("list", "--topic", "other").out
    assert "902" not in checkout.call("list", "--unsolved").out
    unknown = checkout.call("list", "--topic", "song")
    assert (2, "") == (unknown.code, unknown.out)
    assert "there are: other, testing." in unknown.err


def test_a_broken_problem_is_listed_below_with_its_fault(checkout: Checkout) -> None:
    """The others stay judgeable."""
    folder = checkout.home / "pack" / "problems" / "903_broken"
    folder.mkdir(parents=True)
    (folder / "problem.toml").write_text("number = 904\n")
    answer = checkout.call("list", "--problems", checkout.home / "pack")
    assert 0 == answer.code
    above, _, below = answer.out.partition("Broken problems")
    assert "901" in above
    assert "903_broken/problem.toml" in below


def test_a_problem_of_a_given_pack_is_found(checkout: Checkout) -> None:
    """``--problems`` works before and after the command."""
    missing = checkout.call("list", "--problems", checkout.home)
    assert (2, "") == (missing.code, missing.out)
    assert "--problems" in missing.err


def test_a_statement_is_written_as_it_is_for_a_pipe(checkout: Checkout) -> None:
    """Each language has its own."""
    folder = checkout.root / "problems" / "901_double"
    for language, name in (("en", "README.md"), ("zh", "README.zh.md")):
        answer = checkout.call("show", "901", "--lang", language)
        assert (0, "") == (answer.code, answer.err)
        assert (folder / name).read_text(encoding="utf-8").rstrip("\n") + "\n" == answer.out


def test_a_statement_is_drawn_on_a_terminal(checkout: Checkout) -> None:
    """Markdown's signs are gone, and the next step is named."""
    answer = checkout.call_on_terminal("show", "901")
    assert "# Double" not in answer.out
    assert "Double every number" in answer.out
    assert "Judge it with: " in answer.out


def test_each_call_shows_one_more_hint(checkout: Checkout) -> None:
    """First, second, third; then the last one again, and the way to the solution."""
    shown = [checkout.call("hint", "902").out for _ in range(4)]
    assert ["First", "Second", "Third", "Third"] == [text.splitlines()[1].split()[0] for text in shown]
    assert shown[0].startswith("Hint 1 of 3\n")
    assert "hint 902" in shown[1]
    assert "solution 902" in shown[2]


def test_a_hint_can_be_named_or_all_be_shown(checkout: Checkout) -> None:
    """A hint that was named is not shown again as the next one."""
    assert "First of three." in checkout.call("hint", "902", "1").out
    assert "Second of three." in checkout.call("hint", "902").out
    everything = checkout.call("hint", "902", "--all")
    assert 3 == everything.out.count("of three.")
    assert 2 == everything.out.count("of three.\n\nHint ")
    beyond = checkout.call("hint", "902", "4")
    assert (2, "") == (beyond.code, beyond.out)
    assert "Problem 902 has 3 hints" in beyond.err


def test_what_follows_the_hints_depends_on_what_was_seen(checkout: Checkout) -> None:
    """Only the last hint is the last one, and who has seen all is not offered another."""
    checkout.call("hint", "902", "--all")
    again = checkout.call("hint", "902", "1").out
    assert "last one" not in again
    assert "You have seen all hints. What is left is the solution: " in again
    assert "That was the last one." in checkout.call("hint", "902", "3").out
    declined = checkout.call_on_terminal("solution", "902", stdin="\n").out
    assert "hint 902" not in declined
    assert "practice/judge.py show 902" in declined


def test_a_number_that_no_hint_has_is_refused_by_name(checkout: Checkout) -> None:
    """By how many there are; help's brackets are not part of the name."""
    answer = checkout.call("hint", "902", "0")
    assert (2, "") == (answer.code, answer.out)
    assert "Problem 902 has 3 hints" in answer.err
    assert "error: N must be a whole number." in checkout.call("hint", "902", "one").err


def test_a_hint_is_wrapped_to_the_terminal(checkout: Checkout) -> None:
    """Line ends of its file are no line ends of the text; Chinese is joined without a space."""
    assert "one two three four\nfive\n\nsix" == reflow("one\ntwo three four five\n\nsix\n", 20)
    assert "先想账本，不要先写" == reflow("先想账本，\n不要先写", 40)
    assert "before\n\n    code = 1\n    more" == reflow("before\n\n    code = 1\n    more\n", 40)


def test_hints_work_without_a_store(checkout: Checkout) -> None:
    """Which were seen is only a convenience; the warning comes once."""
    (checkout.home / "data").touch()
    answer = checkout.call("hint", "902")
    assert 0 == answer.code
    assert "First of three." in answer.out
    assert 1 == answer.err.count("\n")


def test_the_solution_needs_consent_unless_solved(checkout: Checkout, log: AttemptLog) -> None:
    """A script must say --yes; who has solved the problem need not."""
    refused = checkout.call("solution", "901")
    assert (2, "") == (refused.code, refused.out)
    assert "solution 901 --yes" in refused.err
    asked = checkout.call("solution", "901", "--yes")
    solve(log, 901)
    solved = checkout.call("solution", "901")
    assert (0, 0, asked.out) == (asked.code, solved.code, solved.out)
    assert SOLUTION.read_text(encoding="utf-8").strip() in solved.out
    assert solved.out.startswith("# Why\n")


@pytest.mark.parametrize(("typed", "is_shown"), [("y\n", True), ("是\n", True), ("\n", False), ("\x04", False)])
def test_the_solution_asks_on_a_terminal(checkout: Checkout, typed: str, is_shown: bool) -> None:
    """Enter alone, or the end of input, means no."""
    answer = checkout.call_on_terminal("solution", "901", stdin=typed)
    assert 0 == answer.code
    assert "You have not solved problem 901 yet. Show the solution all the same? [y/N]" in answer.out
    assert is_shown == ("Multiplication by two." in answer.out)
    assert is_shown != ("hint 901" in answer.out)


def test_history_shows_time_status_points_and_duration(checkout: Checkout, log: AttemptLog) -> None:
    """Newest first; points are rounded down; what never ended is interrupted."""
    solve(log, 901)
    log.begin(902, "twice", "mine.py", "ab")
    answer = checkout.call("history")
    assert (0, "") == (answer.code, answer.err)
    header, newest, oldest = answer.out.splitlines()
    assert ["time", "problem", "status", "points", "duration"] == header.split()
    assert ["902_twice", "interrupted", "-", "-"] == newest.split()[2:]
    assert ["901_double", "accepted", "99", "12.3", "s"] == oldest.split()[2:]
    assert 2 == len(checkout.call("history", "901").out.splitlines())
    assert 2 == len(checkout.call("history", "double").out.splitlines())
    assert 2 == len(checkout.call("history", "-n", "1").out.splitlines())


def test_history_of_nothing_says_how_to_begin(checkout: Checkout) -> None:
    """No table of no rows, and a number that nobody knows is named."""
    answer = checkout.call("history")
    assert 0 == answer.code
    assert answer.out.startswith("No attempts yet.")
    unknown = checkout.call("history", "7")
    assert 2 == unknown.code
    assert "There is no problem 7." in unknown.err


def test_history_of_a_damaged_store_is_a_fault(checkout: Checkout) -> None:
    """Here the store is the matter itself."""
    (checkout.home / "data").mkdir()
    (checkout.home / "data" / "attempts.db").write_bytes(b"no database at all" * 99)
    answer = checkout.call("history")
    assert (3, "") == (answer.code, answer.out)
    assert "is damaged" in answer.err


def test_the_judge_without_a_word_says_what_to_type_next(checkout: Checkout, log: AttemptLog) -> None:
    """The next problem is the first that is not solved."""
    solve(log, 901)
    answer = checkout.call()
    assert (0, "") == (answer.code, answer.err)
    assert "Next: 902, Double every number" in answer.out
    assert "practice/judge.py 902 " in answer.out
    assert "1 of 2 solved." in answer.out


def test_the_judge_without_a_word_knows_when_nothing_is_left(checkout: Checkout, log: AttemptLog) -> None:
    """What is solved already is not the next one."""
    solve(log, 901)
    solve(log, 902)
    answer = checkout.call().out
    assert "Next:" not in answer
    assert "All of them are solved. To try one again: 901, Double every number" in answer


def test_a_topic_has_a_name_in_both_languages(checkout: Checkout) -> None:
    """It is found by the name that is shown as well as by the manifest's; a pack's own stays as it is."""
    manifest = checkout.root / "problems" / "902_twice" / "problem.toml"
    before = manifest.read_text(encoding="utf-8")
    manifest.write_text(before.replace('"other"', '"memory"'), encoding="utf-8")
    try:
        listed = checkout.call("list", "--lang", "zh").out
        assert "显存" in listed
        assert "testing" in listed
        for topic in ("显存", "memory"):
            assert "902" in checkout.call("list", "--topic", topic, "--lang", "zh").out
    finally:
        manifest.write_text(before, encoding="utf-8")
