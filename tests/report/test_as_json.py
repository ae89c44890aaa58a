"""A verdict as JSON, and its schema."""

from __future__ import annotations

import json
import math

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from samples import HOSTILE
from verdicts import GALLERY, accepted, over_budget

from judge.models.verdict import Verdict
from judge.report.as_json import dumps
from judge.report.schema import FILE, format_schema, verdict_schema

NAMES = pytest.mark.parametrize("name", GALLERY)


def test_the_committed_schema_is_the_models() -> None:
    """``python -m judge.report.schema`` was run after the last change of the models."""
    assert FILE.read_text(encoding="utf-8") == format_schema()


def test_the_schema_is_a_schema() -> None:
    """It follows draft 2020-12."""
    Draft202012Validator.check_schema(verdict_schema())


@NAMES
def test_every_verdict_follows_the_schema(name: str) -> None:
    """What is printed is what the schema promises."""
    validator = Draft202012Validator(verdict_schema(), format_checker=FormatChecker())
    assert [] == [error.message for error in validator.iter_errors(json.loads(dumps(GALLERY[name])))]


@NAMES
def test_a_verdict_can_be_read_back(name: str) -> None:
    """JSON loses nothing."""
    assert GALLERY[name] == Verdict.model_validate_json(dumps(GALLERY[name]))


@NAMES
def test_json_is_inert(name: str) -> None:
    """Only visible ASCII and line ends are printed."""
    text = dumps(GALLERY[name])
    assert "" == "".join(character for character in text if not (" " <= character <= "~" or character == "\n"))


def test_hostile_text_is_kept_exactly() -> None:
    """The escapes are JSON's, so a reader gets what the learner's code wrote."""
    assert HOSTILE == json.loads(dumps(GALLERY["hostile"]))["output"]


@pytest.mark.parametrize("figure", [math.nan, math.inf, -math.inf], ids=["nan", "inf", "minus-inf"])
def test_a_figure_that_is_not_finite_is_null(figure: float) -> None:
    """JSON has no such numbers, and the schema allows null in their place."""
    made = over_budget()
    test = made.tests[-1]
    odd = test.model_copy(update={"measurements": (test.measurements[0].model_copy(update={"value": figure}),)})
    data = json.loads(dumps(made.model_copy(update={"tests": (odd,)})))
    assert data["tests"][0]["measurements"][0]["value"] is None
    assert Draft202012Validator(verdict_schema()).is_valid(data)


def test_an_unpaired_surrogate_is_spelt_out() -> None:
    """It is no character, and many readers refuse it."""
    assert r"a\ud800" == json.loads(dumps(accepted().model_copy(update={"output": "a\ud800"})))["output"]
