"""The report on a terminal, as JSON, and as a trace, from observations made by hand."""

from __future__ import annotations

import io
import json
from typing import Literal

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len
from rich.console import Console

from judge.inspection.summary import sum_up
from judge.instruments.observation import Observation
from judge.models.inspection import Inspection, ScriptError
from judge.report.as_json import dumps
from judge.report.chart import fill
from judge.report.chrome_trace import dump_trace
from judge.report.inspection import render
from judge.report.inspection_schema import FILE, format_schema, inspection_schema
from judge.report.replacements import KINDS, find_replacement
from judge.report.waits import format_us
from tests.inspection.samples import HOSTILE, busy, quiet

ERRORS = {
    kind: ScriptError(kind=kind, type="KeyError", message="a\nb", file="script.py", line=3)
    for kind in ("syntax", "exception", "exit", "signal", "interrupted", "lost")
}


def draw(
    seen: Observation,
    error: ScriptError | None = None,
    *,
    language: Literal["en", "zh"] = "en",
    encoding: str = "utf-8",
    width: int = 100,
) -> str:
    """Return the report as text."""
    page = io.TextIOWrapper(io.BytesIO(), encoding, errors="strict")
    render(seen, error, Console(file=page, width=width), language, script="script.py", is_whole=error is None)
    page.seek(0)
    return page.read()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 80, 200], ids=["narrow", "usual", "wide"])
def test_every_line_fits(language: Literal["en", "zh"], width: int) -> None:
    """Chinese is measured in cells; a wide terminal is not filled."""
    lines = draw(busy(), ERRORS["exception"], language=language, width=width).splitlines()
    assert [] == [line for line in lines if cell_len(line) > min(width, 110)]


def test_the_report_says_what_was_found() -> None:
    """Waits by line and how long they took, both sides of the race, the chart, and who held the memory."""
    text = " ".join(draw(busy()).split())
    for part in (
        "5 host wait(s), 1 race(s)",
        "Tensor.item, 4 times, waited 20 us for default",
        "torch.cuda.synchronize, once, waited 15 us for the whole device",
        "Sync debug mode of PyTorch does not see this one.",
        "first: mul on stream 1",
        "then: copy_ on the host",
        "Mend: call `x.record_stream(s)`",
        "1.0 here, nan in another order",
        "Memory at its peak: 3 MiB allocated, 4 MiB reserved",
        "The script forked",
    ):
        assert part in text


def test_silence_is_a_result() -> None:
    """Nothing to complain of is said in one line."""
    assert "no host wait, no race" in draw(quiet())


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_end_has_words(kind: str, language: Literal["en", "zh"]) -> None:
    """The first line of the message, and the place."""
    text = draw(quiet(), ERRORS[kind], language=language)
    assert "script.py:3" in text
    assert "no host wait" not in text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk"])
def test_every_encoding_is_served(encoding: str) -> None:
    """What the terminal lacks has a substitute: nothing fails, nothing is lost."""
    assert "2 MiB" in draw(busy(), encoding=encoding, language="zh")


def test_hostile_text_is_inert() -> None:
    """Names come from a script, and act on no terminal; markup in them is text."""
    for text in (draw(busy(HOSTILE)), dumps(sum_up(busy(HOSTILE), None)), dump_trace(busy(HOSTILE))):
        assert "" == "".join(character for character in text if character in "\x1b\u202e\x07")
    assert "[bold]" in draw(busy(HOSTILE))


@pytest.mark.parametrize("seen", [quiet(), busy()], ids=["quiet", "busy"])
@pytest.mark.parametrize("error", [None, ERRORS["signal"]], ids=["well", "badly"])
def test_the_json_follows_its_schema(seen: Observation, error: ScriptError | None) -> None:
    """What is written is what the schema promises, and can be read back."""
    found = sum_up(seen, error)
    Draft202012Validator(inspection_schema()).validate(json.loads(dumps(found)))
    assert found == Inspection.model_validate_json(dumps(found))


def test_the_committed_schema_is_the_models() -> None:
    """``python -m judge.report.inspection_schema`` was run after the last change of the models."""
    assert FILE.read_text(encoding="utf-8") == format_schema()


def test_the_schema_is_a_schema() -> None:
    """It follows draft 2020-12."""
    Draft202012Validator.check_schema(inspection_schema())


def test_the_trace_begins_at_the_start() -> None:
    """Slices are never empty, and every arrow has both ends."""
    events = json.loads(dump_trace(busy()))["traceEvents"]
    assert all(event["dur"] > 0 for event in events if event["ph"] == "X")
    assert [event["id"] for event in events if event["ph"] == "s"] == [
        event["id"] for event in events if event["ph"] == "f"
    ]
    assert 21 == sum(event["ph"] == "f" for event in events)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_wait_has_its_replacement(kind: str) -> None:
    """In both languages."""
    text = find_replacement(kind, "torch.something")
    assert text is not None
    assert {"en", "zh"} == set(text)


def test_what_has_no_replacement_gets_none() -> None:
    """Silence is better than a guess; a call may say more than its kind."""
    assert find_replacement("mode", "torch.mode") is None
    mask = find_replacement("nonzero", "Tensor[mask]")
    assert mask == find_replacement("masked_select", "torch.masked_select")


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [([], [0, 0, 0, 0]), ([(0, 8)], [1, 1, 1, 1]), ([(1, 3)], [0.5, 0.5, 0, 0]), ([(-4, 1), (7, 9)], [0.5, 0, 0, 0.5])],
    ids=["none", "whole", "part", "outside"],
)
def test_columns_are_filled_by_their_share(intervals: list[tuple[float, float]], expected: list[float]) -> None:
    """Four columns of two."""
    assert expected == fill(intervals, 0.0, 8.0, 4)


@pytest.mark.parametrize(
    ("microseconds", "expected"),
    [(0.0, "0 us"), (12.34, "12.3 us"), (1500.0, "1.5 ms"), (2.5e6, "2.5 s")],
    ids=["nothing", "micro", "milli", "seconds"],
)
def test_times_have_a_unit_that_suits_them(microseconds: float, expected: str) -> None:
    """Three digits are enough."""
    assert expected == format_us(microseconds)
