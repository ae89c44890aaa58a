"""Sources that can't be judged, and odd ones that can."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.child import RIGHT, SHOWN, Report, run_child

BODY = RIGHT.encode()


def failure(tmp_path: Path, source: str | bytes, **request: object) -> dict[str, object]:
    """Return status, first sentence, line and the rest of a load that fails."""
    report: Report = run_child(tmp_path, source, **request)  # type: ignore[arg-type]  # fields of the request
    report.validate()
    assert ["hello", "load_failed", "done"] == [kind for kind in report.kinds if kind != "warning"]
    found = report.failure["diagnostic"]
    line = found["frames"][-1]["line"] if found["frames"] else None
    return {**found, "status": report.failure["status"], "said": found["what"]["en"], "line": line}


@pytest.mark.parametrize(
    ("source", "said", "line"),
    [
        pytest.param(b"", "The file is empty.", None, id="empty"),
        pytest.param(b"\xef\xbb\xbf \n", "The file is empty.", None, id="only a BOM"),
        pytest.param(b"x = 1\n\0\0\0", "Line 2, column 1 holds a NUL byte", 2, id="NUL bytes"),
        pytest.param("x = 1".encode("utf-16"), "The file is saved as UTF-16", None, id="UTF-16"),
        pytest.param(b"x = 1\ny = '\xff'\n", "Line 2, column 6: byte 0xff is not utf-8.", 2, id="not UTF-8"),
        pytest.param(
            b"# coding: ascii\n\n\nx = '\xe9'\n", "Line 4, column 6: byte 0xe9 is not ascii.", 4, id="not as declared"
        ),
        pytest.param(b"# coding: nonsense\n", "The encoding that the file declares", 1, id="unknown encoding"),
        pytest.param(b"def double(n)\n    return n\n", "SyntaxError, line 1, column 14: expected ':'.", 1, id="colon"),
        pytest.param(b"x = (1,\n\ny = 2\n", "SyntaxError, line 1, column 5: '(' was never closed.", 1, id="bracket"),
        pytest.param(b"def f():\n\tx = 1\n        y = 2\n", "TabError, line 3", 3, id="tabs"),
        pytest.param(b"def f():\nreturn 1\n", "IndentationError, line 2", 2, id="indentation"),
        pytest.param("x = 1\nprint（x）\n".encode(), "SyntaxError, line 2, column 6: invalid character", 2, id="wide"),
        pytest.param(b"return 1\n", "SyntaxError, line 1, column 1: 'return' outside function", 1, id="return"),
        pytest.param(b"x = " + b"(" * 300 + b")" * 300, "SyntaxError, line 1", 1, id="parentheses"),
        pytest.param(b"x = " + b"-" * 100_000 + b"1", "The program is nested too deeply", None, id="nested"),
        pytest.param(b"x = 1" + b"+1" * 100_000, "The program is nested too deeply", None, id="long sum"),
        pytest.param(b"x = " + b"9" * 5000, "SyntaxError, line 1", 1, id="long number"),
    ],
)
def test_what_is_no_program_is_a_compile_error(tmp_path: Path, source: bytes, said: str, line: int | None) -> None:
    """The message names line and column."""
    found = failure(tmp_path, source)
    assert ("compile_error", "compile", line) == (found["status"], found["kind"], found["line"])
    assert str(found["said"]).startswith(said)


def test_a_syntax_error_shows_the_line_with_a_caret(tmp_path: Path) -> None:
    """The caret stands under the place, also behind wide characters."""
    found = failure(tmp_path, "名字 = 1\n名字 名字 = 3\n")
    assert "2 | 名字 名字 = 3\n  |      ^^^^" == found["picture"]["en"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        pytest.param("x = 1\n1 / 0\n", "The file raised ZeroDivisionError: division by zero while", id="exception"),
        pytest.param("import sys\nsys.exit(0)\n", "The file raised SystemExit: 0 while", id="exit"),
        pytest.param("x = 1\nraise KeyboardInterrupt\n", "The file raised KeyboardInterrupt while", id="interrupt"),
        pytest.param(
            "import pytest\npytest.skip('x', allow_module_level=True)\n", "The file raised Skipped", id="skip"
        ),
        pytest.param("import pytest\npytest.exit('x')\n", "The file raised Exit", id="pytest exit"),
        pytest.param("x = 1\nimport reference\n", "The file raised ModuleNotFoundError", id="import"),
        pytest.param("class E(BaseException): pass\nraise E\n", "The file raised E while", id="base exception"),
        pytest.param("x = 1\ninput()\n", "Waits for keyboard input at line 2: `input()`.", id="keyboard"),
        pytest.param("x = 1\nwhile x: pass\n", "Still running after 0.5 s, at line 2: `while x: pass`.", id="loop"),
    ],
)
def test_what_does_not_import_names_the_line(tmp_path: Path, source: str, said: str) -> None:
    """An exception, an exit and an endless loop at import are the learner's, with their line."""
    found = failure(tmp_path, source, load_s=0.5)
    is_clock = said.startswith(("Still", "Waits"))
    assert ("timed_out" if is_clock else "runtime_error") == found["status"]
    assert 2 == found["line"]
    assert str(found["said"]).startswith(said)


def test_an_exception_in_a_function_at_import_names_the_innermost_line(tmp_path: Path) -> None:
    """The frames lead from the module to the line that raised."""
    found = failure(tmp_path, "def f():\n    return {}['x']\n\nf()\n")
    assert "`f` raised KeyError: 'x'" == found["said"]
    frames = found["frames"]
    assert isinstance(frames, list)
    assert [(SHOWN, 4, "<module>", "f()"), (SHOWN, 2, "f", "return {}['x']")] == [
        (frame["file"], frame["line"], frame["function"], frame["code"]) for frame in frames
    ]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b"\xef\xbb\xbf" + BODY, id="BOM"),
        pytest.param(BODY.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(BODY.replace(b"\n", b"\r"), id="CR"),
        pytest.param(b"'doc'\nfrom __future__ import annotations\n" + BODY, id="future"),
        pytest.param(
            "加倍 = lambda n: n * 2\ndef double(number):\n    return 加倍(number)\n".encode(), id="identifiers"
        ),
        pytest.param(b"# coding: latin-1\nx = '\xe9'\nassert len(x) == 1\n" + BODY, id="latin-1"),
        pytest.param(b"import solution, sys\nassert sys.modules[__name__] is solution\n" + BODY, id="own module"),
        pytest.param(
            b"from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
            + BODY,
            id="dataclass",
        ),
        pytest.param(
            b"import inspect\n" + BODY + b"assert 'number * 2' in inspect.getsource(double)\n", id="getsource"
        ),
        pytest.param(b"if __name__ == '__main__':\n    raise SystemExit\n" + BODY, id="main guard"),
        pytest.param(BODY + b"pytest = judge = os = sys = None\n", id="shadowing names"),
    ],
)
def test_odd_sources_are_accepted(tmp_path: Path, source: bytes) -> None:
    """What Python reads, the judge reads."""
    assert {"test_doubles": "accepted"} == run_child(tmp_path, source).statuses


def test_a_syntax_warning_is_told_and_does_not_stop(tmp_path: Path) -> None:
    """A SyntaxWarning becomes a warning with its line, and the run goes on."""
    report = run_child(tmp_path, RIGHT + "\n\nx = 1 is 1\n")
    (warning,) = report.of_kind("warning")
    assert 'SyntaxWarning, line 6: "is" with' in warning["diagnostic"]["what"]["en"]
    assert 6 == warning["diagnostic"]["frames"][0]["line"]
    assert {"test_doubles": "accepted"} == report.statuses
    report.validate()
