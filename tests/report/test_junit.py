"""A verdict as JUnit XML."""

from __future__ import annotations

from io import StringIO
from xml.etree import ElementTree

import pytest
from junitparser import JUnitXml
from verdicts import GALLERY, accepted

from judge.report.junit import dumps

NAMES = pytest.mark.parametrize("name", GALLERY)
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


def outcomes(name: str) -> list[str]:
    """Return the tag of each case's result, in order, as junitparser reads it."""
    suite = next(iter(JUnitXml.fromfile(StringIO(dumps(GALLERY[name], "en")))))
    return [case.result[0]._tag if case.result else "passed" for case in suite]


@NAMES
@LANGUAGES
def test_the_counts_are_those_of_the_cases(name: str, language: str) -> None:
    """The suite's attributes agree with what stands in it."""
    suite = next(iter(JUnitXml.fromfile(StringIO(dumps(GALLERY[name], language)))))
    stated = (suite.tests, suite.failures, suite.errors, suite.skipped)
    suite.update_statistics()
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == stated


@NAMES
def test_the_suite_is_red_when_the_command_fails(name: str) -> None:
    """CI must see what the exit status says: 1 and 3 are red, 0 and 4 are not."""
    assert (GALLERY[name].status.exit_code in (1, 3)) == bool({"failure", "error"} & set(outcomes(name)))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wrong", ["passed", "passed", "failure", "failure", "failure", "passed", "skipped"]),
        ("accepted_in_part", ["passed", "passed", "skipped", "skipped"]),
        ("crashed", ["passed", "passed", "error", "error", "error", "error"]),
        ("compile_error", ["error"]),
        ("not_judged", ["skipped", "skipped"]),
        ("judge_error", ["error"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_status_has_its_element(name: str, expected: list[str]) -> None:
    """Wrong is a failure, other losses are errors, what was not judged is skipped."""
    assert expected == outcomes(name)


@NAMES
@LANGUAGES
def test_the_document_is_inert_ascii(name: str, language: str) -> None:
    """It holds no control character and no way out of a text."""
    text = dumps(GALLERY[name], language)
    assert "" == "".join(character for character in text if not (" " <= character <= "~" or character == "\n"))
    assert "]]>" not in text


def test_scores_and_conditions_are_properties() -> None:
    """What CI may want to plot or check stands in the suite's properties."""
    suite = ElementTree.fromstring(dumps(GALLERY["accepted_in_part"], "en"))[0]
    found = {one.get("name"): one.get("value") for one in suite.iter("property")}
    expected = {
        "status": "accepted",
        "total": "0.951",
        "seed": "184467",
        "device": "cpu",
        "isolation": "L0",
        "score.correctness": "1.0",
        "score.memory": "0.804",
        "score.time": "not judged",
    }
    assert expected == {name: found.get(name) for name in expected}


def test_the_message_is_in_the_language_asked_for() -> None:
    """A Chinese reader gets the Chinese title and sentence."""
    failure = ElementTree.fromstring(dumps(GALLERY["wrong_snapshot"], "zh")).find(".//failure")
    assert failure is not None
    assert "借出够用的最小块: 事件 23 之后的快照不同。" == failure.get("message")


def test_a_verdict_without_tests_is_never_an_empty_suite() -> None:
    """An empty suite would look green in CI for the wrong reason."""
    suite = ElementTree.fromstring(dumps(accepted().model_copy(update={"tests": ()}), "en"))[0]
    assert "1" == suite.get("tests")
