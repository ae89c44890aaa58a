"""One failure in full: what broke, the values, the drawing, where, and what to look at."""

from __future__ import annotations

from collections import Counter
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
MAX_FRAMES = 6
MAX_PICTURE_LINES = 40
MAX_OUTPUT_LINES = 10
MAX_OUTPUT_LINES_VERBOSE = 200


def label_width(page: Page) -> int:
    """Return the width of the column of labels, the gap after it included."""
    return max(cell_len(page.ink.say(label)) for label in LABELS) + 2


def add_diagnostic(page: Page, diagnostic: Diagnostic, submission: str) -> None:
    """Write one diagnostic in full; ``submission`` is the path whose frames are the learner's."""
    page.gap()
    add_text(page, page.ink.read(diagnostic.what).strip("\n"), indent=INDENT)
    if diagnostic.expected is not None or diagnostic.actual is not None:
        page.gap()
        add_values(page, diagnostic.expected, diagnostic.actual, INDENT, label_width(page))
    if diagnostic.picture:
        _add_picture(page, diagnostic.picture)
    if diagnostic.is_cut:
        page.add(page.ink.say("shortened"), style="dim", indent=INDENT)
    _add_frames(page, diagnostic, submission)
    if diagnostic.look:
        page.gap()
        add_text(page, page.ink.read(diagnostic.look), indent=INDENT, lead=_lead(page, "look"))


def add_places(page: Page, measurements: tuple[Measurement, ...]) -> None:
    """Write the lines that the measurements count, the most frequent first."""
    for measurement in measurements:
        if not measurement.places:
            continue
        counts = Counter((place.file, place.line, place.code) for place in measurement.places)
        label = "counted"
        page.gap()
        for (file, line, code), count in counts.most_common(None if page.is_verbose else MAX_FRAMES):
            times = page.ink.say("times", count=count)
            text = f"{times}{page.ink.line(file)}:{line}  {page.ink.line(code)}"
            _add_labelled_line(page, label, Text(text))
            label = ""
        left_out = len(counts) - MAX_FRAMES
        if left_out > 0 and not page.is_verbose:
            page.add(page.ink.say("more_places", count=left_out), style="dim", indent=INDENT + label_width(page))


def add_output(page: Page, output: str, dropped_bytes: int = 0) -> None:
    """Write the end of what was printed, each line cut at the width."""
    lines = page.ink.clean(output).rstrip().split("\n")
    if not output.strip():
        return
    limit = MAX_OUTPUT_LINES_VERBOSE if page.is_verbose else MAX_OUTPUT_LINES
    page.gap()
    heading = page.ink.say("printed")
    if len(lines) > limit:
        heading += page.ink.say("last_lines", shown=limit, count=len(lines))
    if dropped_bytes:
        heading += page.ink.say("bytes_dropped", count=dropped_bytes)
    page.add(heading, style="dim", indent=INDENT)
    bar = page.ink.glyph("bar")
    for line in lines[-limit:]:
        page.add_cropped(f"{bar} {line}", indent=INDENT)


def add_text(page: Page, text: str, *, indent: int = 0, lead: str = "", lead_style: str = "dim") -> None:
    """Write text that may be long: what is over the limit is left out, with a note of how much."""
    limit = MAX_TEXT * 10 if page.is_verbose else MAX_TEXT
    page.add(text[:limit], indent=indent, lead=lead, lead_style=lead_style)
    if len(text) > limit:
        page.add(page.ink.say("characters_cut", count=len(text) - limit), style="dim", indent=indent)


def _lead(page: Page, label: str) -> str:
    text = page.ink.say(label) if label else ""
    return text + " " * (label_width(page) - cell_len(text))


def _add_labelled_line(page: Page, label: str, line: Text) -> None:
    room = max(page.width - INDENT - label_width(page), 8)
    shown = crop(line.plain, room, page.ink.glyph("cut"))
    if shown != line.plain:
        line = Text(shown, style=line.style)
    page.add_line(Text(" " * INDENT).append(_lead(page, label), "dim").append_text(line))


def _add_picture(page: Page, picture: str) -> None:
    page.gap()
    lines = page.ink.clean(picture).expandtabs(4).strip("\n").split("\n")
    room = max(page.width - INDENT, 8)
    for line in lines[:MAX_PICTURE_LINES]:
        page.add_cropped(line, indent=INDENT)
    widest = max(cell_len(line) for line in lines)
    if widest > room:
        page.add(page.ink.say("picture_cut", width=widest + INDENT), style="dim", indent=INDENT)
    if len(lines) > MAX_PICTURE_LINES:
        page.add(page.ink.say("rows_below", count=len(lines) - MAX_PICTURE_LINES), style="dim", indent=INDENT)


def _add_frames(page: Page, diagnostic: Diagnostic, submission: str) -> None:
    """Write the frames, innermost first."""
    page.gap()
    frames = diagnostic.frames[::-1]
    shown = frames if page.is_verbose else frames[:MAX_FRAMES]
    label = "where"
    for frame in shown:
        is_own = _is_own(frame, submission)
        place = f"{page.ink.line(frame.file)}:{frame.line}"
        function = (
            "" if frame.function == "<module>" else page.ink.say("in_function", function=page.ink.line(frame.function))
        )
        _add_labelled_line(page, label, Text(f"{place} {function}".rstrip(), style="bold" if is_own else "dim"))
        if frame.code:
            _add_labelled_line(page, "", Text("  " + page.ink.line(frame.code), style="" if is_own else "dim"))
        label = ""
    for name, count in (("more_frames", len(frames) - len(shown)), ("folded", diagnostic.folded)):
        if count:
            page.add(page.ink.say(name, count=count), style="dim", indent=INDENT, lead=_lead(page, label))
            label = ""


def _is_own(frame: Frame, submission: str) -> bool:
    return frame.file == submission or PurePath(frame.file).name == PurePath(submission).name
