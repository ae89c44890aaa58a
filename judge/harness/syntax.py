"""Source that is no Python program, explained to a beginner."""

from __future__ import annotations

import io
import tokenize
import unicodedata
import warnings
from types import CodeType
from typing import Any

from judge.harness.diagnostic import Text, diagnostic, text
from judge.harness.show import cut, message_of
from judge.models.status import Status

BOM = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
SHOWN_COLUMNS = 100
MOST_WARNINGS = 20


class LoadFailure(Exception):
    """The solution can't be judged: it does not compile, does not import, or lacks a name.

    Args:
        status: compile_error, runtime_error, timed_out or wrong.
        found: the diagnostic.
    """

    def __init__(self, status: Status, found: dict[str, Any]) -> None:
        super().__init__(found["what"]["en"])
        self.status = status
        self.diagnostic = found


def decode_source(source: bytes, shown_path: str) -> list[str]:
    """Return the lines of the source as Python reads them: PEP 263, BOM, any line end.

    Raises:
        LoadFailure: it is empty, has NUL bytes, or is not in the encoding that it declares.
    """
    if not source.removeprefix(BOM).strip():
        raise _refuse(text("source_empty"), shown_path, look=text("look_empty"))
    if source.startswith(UTF16_MARKS):
        raise _refuse(text("source_utf16"), shown_path, look=text("look_utf8"))
    if b"\0" in source:
        line, column = _place(source, source.index(b"\0"))
        raise _refuse(text("source_nul", line=line, column=column), shown_path, line=line)
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(source).readline)[0]
        with io.TextIOWrapper(io.BytesIO(source), encoding) as stream:
            return list(stream)
    except UnicodeDecodeError as fault:
        raise _undecodable(source, fault, shown_path) from None
    except (SyntaxError, LookupError) as fault:
        try:
            source.decode("utf-8")
        except UnicodeDecodeError as first:
            raise _undecodable(source, first, shown_path) from None
        raise _refuse(text("source_encoding", message=_message(fault)), shown_path, line=1) from None


def compile_source(lines: list[str], filename: str, shown_path: str) -> tuple[CodeType, list[Any]]:
    """Return the code and a diagnostic for each warning of the compiler.

    Raises:
        LoadFailure: it is no Python program.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            # From text: from bytes, Python would count columns in bytes.
            code = compile("".join(lines), filename, "exec", dont_inherit=True)
        except SyntaxError as fault:
            raise _syntax_error(fault, lines, shown_path) from None
        except (RecursionError, MemoryError) as fault:
            raise _refuse(text("source_nested", name=type(fault).__name__), shown_path) from None
        except Exception as fault:
            raised = f"{type(fault).__name__}: {_message(fault)}"
            raise _refuse(text("source_refused", raised=raised), shown_path) from None
    found = {(warning.lineno, str(warning.message)): warning for warning in caught}
    return code, [_warn(warning, lines, shown_path) for warning in list(found.values())[:MOST_WARNINGS]]


def _message(fault: BaseException) -> str:
    return cut(getattr(fault, "msg", None) or message_of(fault), 300)[0]


def _place(source: bytes, at: int) -> tuple[int, int]:
    """Line and column, from 1, of a byte; the column counts bytes."""
    return source.count(b"\n", 0, at) + 1, at - source.rfind(b"\n", 0, at)


def _frame(shown_path: str, line: int, code: str = "") -> list[dict[str, Any]]:
    return [{"file": shown_path, "line": line, "function": "", "code": cut(code.strip(), 200)[0]}]


def _refuse(
    what: Text, shown_path: str, *, line: int = 0, look: Text | None = None, picture: str | None = None, code: str = ""
) -> LoadFailure:
    frames = _frame(shown_path, line, code) if line else []
    found = diagnostic("compile", what, look=look, picture=picture, frames=frames)
    return LoadFailure(Status.COMPILE_ERROR, found)


def _undecodable(source: bytes, fault: UnicodeDecodeError, shown_path: str) -> LoadFailure:
    at = source.find(bytes(fault.object[fault.start : fault.end])) if fault.object is not source else fault.start
    line, column = _place(source, at)
    byte = f"0x{fault.object[fault.start]:02x}"
    what = text("source_bytes", byte=byte, encoding=fault.encoding, line=line, column=column)
    return _refuse(what, shown_path, line=line, look=text("look_utf8"))


def _syntax_error(fault: SyntaxError, lines: list[str], shown_path: str) -> LoadFailure:
    line = fault.lineno or 1
    code = lines[line - 1].rstrip("\r\n") if line <= len(lines) else (fault.text or "").rstrip("\r\n")
    column = max(fault.offset or 1, 1)
    end = fault.end_offset if fault.end_lineno == fault.lineno and fault.end_offset else column + 1
    name = type(fault).__name__
    what = text("syntax", name=name, message=_message(fault), line=line, column=column)
    picture = draw_caret(code, line, column, end)
    return _refuse(what, shown_path, line=line, look=_look(fault), picture=picture, code=code)


_LOOKS = (
    ("look_block", ("expected an indented block",)),
    ("look_indent", ("unindent", "unexpected indent")),
    ("look_bracket", ("was never closed", "unmatched", "does not match", "Perhaps you forgot a comma")),
    ("look_quotes", ("unterminated",)),
    ("look_colon", ("expected ':'",)),
    ("look_character", ("invalid character", "invalid non-printable")),
    ("look_before", ("invalid syntax",)),
)


def _look(fault: SyntaxError) -> Text | None:
    if isinstance(fault, TabError):
        return text("look_tabs")
    message = _message(fault)
    return next((text(name) for name, signs in _LOOKS if any(sign in message for sign in signs)), None)


def _width(character: str) -> int:
    if character == "\t":
        return 4
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def draw_caret(code: str, line: int, column: int, end: int) -> str:
    """Return the line with carets under columns ``column`` to ``end`` (from 1, end exclusive).

    Wide characters count two columns and a tab four; of a very long line only the part around the
    place is shown.
    """
    start = max(0, column - SHOWN_COLUMNS // 2)
    part = code[start : start + SHOWN_COLUMNS]
    before = sum(map(_width, part[: column - 1 - start]))
    marked = max(1, sum(map(_width, part[column - 1 - start : max(end, column + 1) - 1 - start])))
    shown = part.replace("\t", "    ")
    margin = " " * len(str(line))
    return f"{line} | {shown}\n{margin} | {' ' * before}{'^' * marked}"


def _warn(warning: warnings.WarningMessage, lines: list[str], shown_path: str) -> dict[str, Any]:
    line = warning.lineno
    code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    message = cut(message_of(warning.message) if isinstance(warning.message, Warning) else warning.message, 300)[0]
    what = text("syntax_warning", name=warning.category.__name__, message=message, line=line)
    return diagnostic("warning", what, frames=_frame(shown_path, line, code))
