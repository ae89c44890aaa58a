"""One failure in full: what broke, the values, the drawing, where, and what to look at."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import PurePath

from rich.cells import cell_len
from rich.text import Text

from judge.models.record import Diagnostic, Frame, Measurement
from judge.report.page import Page
from judge.report.values import add_values
from judge.report.wrapping import crop

INDENT = 2
LABELS = ("expected", "actual", "where", "look", "counted", "printed")
MAX_TEXT = 2_000
"""Characters of one sentence or explanation; ten times as many with --verbose."""
MAX_RAW = 200_000
"""Characters of a drawing or of an output that are looked at; whatever is beyond is left out unread."""
MAX_FRAMES = 6
MAX_FRAMES_VERBOSE = 200
MAX_PICTURE_LINES = 40
MAX_OUTPUT_LINES = 10
MAX_OUTPUT_LINES_VERBOSE = 200


def label_width(page: Page) -> int:
    """Return the width of the column of labels, the gap after it included."""
    return max(cell_len(page.ink.say(label)) for label in LABELS) + 2


def add_diagnostic(page: Page, diagnostic: Diagnostic, submission: str) -> None:
    """Write one diagnostic in full; ``submission`` is the path whose frames are the learner's."""
    page.gap()
    add_text(page, diagnostic.what.in_language(page.ink.language).strip("\n"), indent=INDENT)
    if diagnostic.expected is not None or diagnostic.actual is not None:
        page.gap()
        add_values(page, diagnostic.expected, diagnostic.actual, INDENT, label_width(page))
    if diagnostic.picture:
        _add_picture(page, diagnostic.picture.in_language(page.ink.language))
    if diagnostic.is_cut:
        page.add(page.ink.say("shortened"), style="dim", indent=INDENT)
    _add_frames(page, diagnostic, submission)
    if diagnostic.look:
        page.gap()
        add_text(page, diagnostic.look.in_language(page.ink.language), indent=INDENT, lead=_lead(page, "look"))


def add_places(page: Page, measurements: tuple[Measurement, ...]) -> None:
    """Write the lines that the measurements count, the most frequent first."""
    for measurement in measurements:
        counts = Counter((place.file, place.line, place.code) for place in measurement.places)
        shown = counts.most_common(_frame_limit(page))
        label = "counted"
        page.gap()
        for (file, line, code), count in shown:
            times = page.ink.say("times", count=count)
            _add_labelled_line(page, label, f"{times}{page.ink.path(file)}:{line}  {page.ink.line(code)}")
            label = ""
        if len(counts) > len(shown):
            text = page.ink.say("more_places", count=len(counts) - len(shown))
            page.add(text, style="dim", indent=INDENT + label_width(page))


def add_output(page: Page, output: str, dropped_bytes: int = 0) -> None:
    """Write the end of what was printed, each line cut at the width."""
    if not output.strip():
        return
    output = output.rstrip()
    limit = MAX_OUTPUT_LINES_VERBOSE if page.is_verbose else MAX_OUTPUT_LINES
    count = output.count("\n") + 1
    heading = page.ink.say("printed")
    if count > limit:
        heading += page.ink.say("last_lines", shown=limit, count=count)
    if dropped_bytes:
        heading += page.ink.say("bytes_dropped", count=dropped_bytes)
    page.gap()
    page.add(heading, style="dim", indent=INDENT)
    bar = page.ink.glyph("bar")
    for line in page.ink.clean(output[-MAX_RAW:]).split("\n")[-limit:]:
        page.add_cropped(f"{bar} {line}", indent=INDENT)


def add_text(page: Page, text: str, *, indent: int = 0, lead: str = "", lead_style: str = "dim") -> None:
    """Write raw text that may be long: what is over the limit is left out, with a note of how much."""
    limit = MAX_TEXT * 10 if page.is_verbose else MAX_TEXT
    page.add(page.ink.clean(text[:limit]), indent=indent, lead=lead, lead_style=lead_style)
    if len(text) > limit:
        page.add(page.ink.say("characters_cut", count=len(text) - limit), style="dim", indent=indent)


def _frame_limit(page: Page) -> int:
    return MAX_FRAMES_VERBOSE if page.is_verbose else MAX_FRAMES


def _lead(page: Page, label: str) -> str:
    text = page.ink.say(label) if label else ""
    return text + " " * (label_width(page) - cell_len(text))


def _add_labelled_line(page: Page, label: str, text: str, style: str = "") -> None:
    room = max(page.width - INDENT - label_width(page), 8)
    shown = crop(text, room, page.ink.glyph("cut"))
    page.add_line(Text(" " * INDENT).append(_lead(page, label), "dim").append(shown, style))


def _add_picture(page: Page, picture: str) -> None:
    page.gap()
    lines = page.ink.clean(picture[:MAX_RAW]).expandtabs(4).strip("\n").split("\n")
    for line in lines[:MAX_PICTURE_LINES]:
        page.add_cropped(line, indent=INDENT)
    widest = max(cell_len(line) for line in lines)
    if widest > page.width - INDENT:
        page.add(page.ink.say("picture_cut", width=widest + INDENT), style="dim", indent=INDENT)
    if len(lines) > MAX_PICTURE_LINES:
        page.add(page.ink.say("rows_below", count=len(lines) - MAX_PICTURE_LINES), style="dim", indent=INDENT)


def _add_frames(page: Page, diagnostic: Diagnostic, submission: str) -> None:
    """Write the frames, innermost first."""
    page.gap()
    calls = [(frame, len(list(group))) for frame, group in groupby(diagnostic.frames[::-1])]
    shown = calls[: _frame_limit(page)]
    label = "where"
    for frame, count in shown:
        is_own = _is_own(frame, submission)
        # A recursion is one line, however deep it went.
        depth = f" {page.ink.clean('×')}{count}" if count > 1 else ""
        _add_labelled_line(page, label, _place(page, frame) + depth, "bold" if is_own else "dim")
        if frame.code:
            _add_labelled_line(page, "", "  " + page.ink.line(frame.code), "" if is_own else "dim")
        label = ""
    for name, count in (("more_frames", sum(count for _, count in calls[len(shown) :])), ("folded", diagnostic.folded)):
        if count:
            page.add(page.ink.say(name, count=count), style="dim", indent=INDENT, lead=_lead(page, label))
            label = ""


def _place(page: Page, frame: Frame) -> str:
    place = f"{page.ink.path(frame.file)}:{frame.line}"
    if frame.function in ("", "<module>"):
        return place
    return f"{place} {page.ink.say('in_function', function=page.ink.line(frame.function))}"


def _is_own(frame: Frame, submission: str) -> bool:
    return frame.file == submission or PurePath(frame.file).name == PurePath(submission).name
