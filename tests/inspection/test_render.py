"""The report on a terminal, as JSON, and as a trace, from observations made by hand."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len
from rich.console import Console

from judge.devices.sim.sites import Site
from judge.inspection.strikes import find_strikes
from judge.inspection.summary import sum_up
from judge.instruments.observation import DeviceSpan, Observation, Sync
from judge.instruments.replacements import KINDS, find_replacement
from judge.models.inspection import Inspection, ScriptError
from judge.report.as_json import dumps
from judge.report.chart import fill
from judge.report.chrome_trace import dump_trace
from judge.report.closing import Outcome, Strike
from judge.report.inspection import render
from judge.report.inspection_schema import FILE, format_schema, inspection_schema
from judge.report.phrases import format_us
from tests.inspection.samples import HOSTILE, busy, place, quiet, stepping, straight

NOTHING_ASKED = Outcome()
ERRORS = {
    kind: ScriptError(kind=kind, type="KeyError", message="a\nb", file="script.py", line=3)
    for kind in ("syntax", "exception", "exit", "signal", "interrupted", "lost")
}

ENDS = {
    "syntax": "no Python program",
    "exception": "raised KeyError",
    "exit": "ended itself",
    "signal": "killed by KeyError",
    "interrupted": "interrupted",
    "lost": "no report",
}


def draw(
    seen: Observation,
    error: ScriptError | None = None,
    *,
    language: Literal["en", "zh"] = "en",
    encoding: str = "utf-8",
    width: int = 100,
    outcome: Outcome = NOTHING_ASKED,
) -> str:
    """Return the report as text."""
    page = io.TextIOWrapper(io.BytesIO(), encoding, errors="strict")
    console = Console(file=page, width=width)
    render(seen, error, console, language, script="script.py", is_whole=error is None, outcome=outcome)
    page.seek(0)
    return page.read()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 60, 80, 200], ids=["very narrow", "narrow", "usual", "wide"])
def test_every_line_fits(language: Literal["en", "zh"], width: int) -> None:
    """Chinese is measured in cells; a wide terminal is not filled."""
    outcome = Outcome(("step-syncs",), (Strike("step-syncs", 3, True),), ("out.json",))
    for seen in (busy(), stepping()):
        lines = draw(seen, ERRORS["exception"], language=language, width=width, outcome=outcome).splitlines()
        assert [] == [line for line in lines if cell_len(line) > min(width, 110)]


def test_the_report_says_what_was_found() -> None:
    """Waits by line and how long they took, both sides of the race, the chart, and who held the memory."""
    text = " ".join(draw(straight()).split())
    for part in (
        "5 host waits, 1 race",
        "Tensor.item, 4 times, waited 20 us for the stream default",
        "torch.cuda.synchronize, once, waited 15 us for the whole device",
        "Sync debug mode of PyTorch does not see this one.",
        "first: mul on stream 1, the script's `s`",
        "then: copy_ on the host",
        "Mend: call `x.record_stream(s)`",
        "mul read 1.0 in element 3; in another order that the code allows it reads nan.",
        "mul gave 2.0 in element 3; in another order that the code allows it gives nan.",
        "█ busy for more than 2/3 of the column",
        "In all 21 launches, 1 kernel, 1 copy",
        "What the script measures itself, as by time.perf_counter(), is this machine's time.",
        "Memory at its peak: 3 MiB allocated, 4 MiB reserved",
        "The script forked",
    ):
        assert part in text


def test_silence_is_a_result() -> None:
    """Nothing to complain of is said in one line; where nothing ran, there was nothing to complain of."""
    ran = replace(quiet(), spans=busy().spans[:1])
    assert "✓ no host wait, no race" in draw(ran)
    nothing = draw(quiet())
    assert "○ nothing to judge" in nothing
    assert "✓" not in nothing


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_end_has_words(kind: str, language: Literal["en", "zh"]) -> None:
    """The headline says what it was, the place follows, and what Python has printed is not repeated."""
    text = draw(quiet(), ERRORS[kind], language=language)
    assert "script.py:3" in text
    assert "no host wait" not in text
    assert ENDS[kind] in text if language == "en" else "✗ " in text.splitlines()[0]
    assert "b" not in [line.strip() for line in text.splitlines()]


def test_steps_are_told_and_their_waits_come_first() -> None:
    """What every step pays stands with its rate and advice; the set-up is one line for each of its waits."""
    text = " ".join(draw(stepping()).split())
    for part in (
        "✗ 8 host waits in the steps",
        "The host is the limit: a step takes it 60 us for 12 launches; the device does that work in 24 us, and idles",
        "First: take the waits below out of the step, then capture it in a CUDA graph",
        "Host waits in the steps: 8 on 1 line, 5 us of the 65 us of a step",
        "Tensor.item, once a step, 5 us a step Instead: keep the value",
        "Outside the steps: 1 host wait, 30 us in all",
        "Tensor.to, once, 30 us",
        "8 steps, told by",
        "in each 12 launches, 12 kernels",
    ):
        assert part in text
    assert text.index("Tensor.item") < text.index("Tensor.to")
    assert "pin the source" not in text
    assert "overlap" not in text


def test_a_wait_every_few_steps_does_not_stand_in_the_way_of_a_graph() -> None:
    """What is printed now and then stays outside what is captured."""
    text = " ".join(draw(stepping(every=4)).split())
    assert "Tensor.item, once in 4 steps, 1.25 us a step" in text
    assert "First: capture the step in a CUDA graph" in text


def test_waits_of_the_set_up_alone_are_no_fault() -> None:
    """A model has to be moved to the device once."""
    assert "✓ no host wait in the steps, no race" in draw(stepping(every=99))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome(), "--json FILE keeps every figure"),
        (Outcome(written=("a.json", "b.json")), "Written: a.json, b.json"),
        (Outcome(("races",)), "✓ --fail-on races did not strike."),
        (Outcome(("races",), (Strike("races", 2, False),)), "✗ --fail-on struck: 2 races."),
        (Outcome(("syncs",), (Strike("syncs", 1, True),)), "✗ --fail-on struck: 1 host wait."),
        (
            Outcome(("step-syncs", "races"), (Strike("step-syncs", 5, True), Strike("races", 1, True))),
            "✗ --fail-on struck: 5 host waits in the steps, 1 race.",
        ),
        (
            Outcome(("step-syncs",), (Strike("step-syncs", 5, False),)),
            "✗ --fail-on struck: 5 host waits (no steps were told, so all count).",
        ),
    ],
    ids=["nothing asked", "written", "not struck", "races", "syncs", "both", "no steps"],
)
def test_the_last_line_says_what_became_of_the_options(outcome: Outcome, expected: str) -> None:
    """Whether ``--fail-on`` struck, and for what."""
    assert expected in " ".join(draw(busy(), outcome=outcome).splitlines()[-2:])


def test_a_path_beside_the_reader_s_folder_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One level up is shorter than from the root."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    syncs = (Sync("item", "Tensor.item", Site(str(tmp_path / "script.py"), 3, ""), "default", 1.0, 1.0),)
    assert " ../script.py:3" in draw(replace(quiet(), syncs=syncs))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk"])
def test_every_encoding_is_served(encoding: str) -> None:
    """What the terminal lacks has a substitute: nothing fails, nothing is lost."""
    assert "2 MiB" in draw(busy(), encoding=encoding, language="zh")


def test_hostile_text_is_inert() -> None:
    """Names come from a script, and act on no terminal; markup in them is text."""
    for text in (draw(busy(HOSTILE)), dumps(sum_up(busy(HOSTILE), None)), dump_trace(busy(HOSTILE))):
        assert "" == "".join(character for character in text if character in "\x1b\u202e\x07")
    assert "[bold]" in draw(busy(HOSTILE))


@pytest.mark.parametrize("seen", [quiet(), busy(), stepping()], ids=["quiet", "busy", "steps"])
@pytest.mark.parametrize("error", [None, ERRORS["signal"]], ids=["well", "badly"])
def test_the_json_follows_its_schema(seen: Observation, error: ScriptError | None) -> None:
    """What is written is what the schema promises, and can be read back."""
    found = sum_up(seen, error)
    Draft202012Validator(inspection_schema()).validate(json.loads(dumps(found)))
    assert found == Inspection.model_validate_json(dumps(found))


def test_the_json_tells_steps_waits_and_launches() -> None:
    """All that the report says is there as figures."""
    found = sum_up(stepping(), None)
    timeline, step = found.timeline, found.timeline.step
    assert step is not None
    assert (97, 96, 1, 0.0, "host") == (
        timeline.launches, timeline.kernels, timeline.copies, timeline.overlap_us, timeline.limit,
    )  # fmt: skip
    assert (8, 12, 12, 65.0, 60.0, 5.0, 24.0) == (
        step.count, step.launches, step.kernels, step.period_us, step.host_us, step.waited_us, step.busy_us,
    )  # fmt: skip
    assert {("Tensor.item", 8, 40.0, 1.0), ("Tensor.to", 1, 30.0, None)} == {
        (sync.call, sync.count, sync.waited_us, sync.per_step) for sync in found.syncs
    }


@pytest.mark.parametrize(
    ("seen", "conditions", "expected"),
    [
        (stepping(), "syncs step-syncs races", [("syncs", 9), ("step-syncs", 8)]),
        (stepping(every=99), "step-syncs", []),
        (stepping(every=99), "syncs", [("syncs", 1)]),
        (straight(), "step-syncs races", [("step-syncs", 5), ("races", 1)]),
        (quiet(), "syncs step-syncs races", []),
    ],
    ids=["steps", "set-up only", "any", "no steps", "nothing"],
)
def test_fail_on_can_be_narrowed_to_the_steps(
    seen: Observation, conditions: str, expected: list[tuple[str, int]]
) -> None:
    """A wait of the set-up is no reason then; where no steps are told every wait is."""
    strikes = find_strikes(sum_up(seen, None), conditions.split())
    assert expected == [(strike.condition, strike.count) for strike in strikes]


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


def test_the_trace_has_one_launch_for_a_replay() -> None:
    """Its nodes are the device's, the call is the host's."""
    nodes = [DeviceSpan(f"node {at}", "default", "sm", 10.0 + at, 10.5 + at, 9.0, place(4)) for at in range(5)]
    events = json.loads(dump_trace(replace(quiet(), spans=tuple(nodes))))["traceEvents"]
    launches = [event for event in events if event.get("cat") == "launch" and event["ph"] == "X"]
    assert [("graph replay", 5)] == [(event["name"], event["args"]["kernels"]) for event in launches]
    assert 5 == sum(event.get("cat") == "kernel" for event in events)
    assert 1 == sum(event["ph"] == "f" for event in events)


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
