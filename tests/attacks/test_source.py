"""Sources that are no ordinary text, and names that are missing or wrong (rows 37 and 38)."""

from __future__ import annotations

import os

import pytest

from tests.attacks.process import HONEST, PACK, judge, run_judge

UNCOMPILABLE = {
    "empty": (b"", None),
    "only a comment": (b"# later\n", None),
    "filled with NUL": (b"\0" * 100, 1),
    "NUL in a line": (b"x = 1\ny = \0 2\n", 2),
    "not UTF-8": (b"x = 1\ny = '\xff\xfe'\n", 2),
    "an encoding that does not exist": (b"# -*- coding: klingon -*-\n", 1),
    "a syntax error": (b"x = 1\ndef double(numbers:\n    pass\n", 2),
    "a tab error": (b"def double(numbers):\n\tif numbers:\n        return 1\n", 3),
    "an indentation error": (b"def double(numbers):\nreturn 1\n", 2),
    "an unfinished string": (b"x = 'abc\n", 1),
    "return outside a function": (b"return 1\n", 1),
    "brackets nested too deeply": (b"x = " + b"(" * 5000 + b")" * 5000, None),
}


@pytest.mark.parametrize("name", UNCOMPILABLE)
def test_what_is_no_program_is_a_compile_error(name, tmp_path):
    """A source that is no Python program is told what is wrong and where."""
    source, line = UNCOMPILABLE[name]
    judged = judge(source, tmp_path)
    expected = "wrong" if name == "only a comment" else "compile_error"
    assert (judged.exit_code, judged.status) == (1, expected)
    assert len(judged.words) > 20
    if line is not None:
        assert line in judged.lines or f"line {line}" in judged.words, judged.words


HARMLESS = {
    "a byte order mark": ("\ufeff" + HONEST).encode("utf-8"),
    "Windows line ends": HONEST.replace("\n", "\r\n").encode(),
    "a future import": HONEST.replace('"""The reference of 901."""', "from __future__ import annotations").encode(),
    "names that are not ASCII": (HONEST + "\nдвойной = double\nπ = 3\n变量 = 1\n").encode(),
    "Latin-1, declared": b"# -*- coding: latin-1 -*-\nname = '\xe9'\n" + HONEST.encode(),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_unusual_but_legal_sources_are_accepted(name, tmp_path):
    """What Python accepts, the judge accepts."""
    judged = judge(HARMLESS[name], tmp_path)
    assert (judged.exit_code, judged.status) == (0, "accepted"), judged.words


@pytest.mark.parametrize("name", ["torch.py", "json.py", "pytest.py", "test_solution.py", "conftest.py", "judge.py"])
def test_a_file_name_that_shadows_a_module_does_no_harm(name, tmp_path):
    """The submission's name is not a module's name."""
    assert judge(HONEST, tmp_path, name=name).status == "accepted"


def test_a_syntax_warning_is_shown_and_does_no_harm(tmp_path):
    """A SyntaxWarning is part of an accepted verdict."""
    judged = judge(HONEST + "\n\nPATTERN = '\\d'\nSAME = 1 is 1\n", tmp_path)
    assert judged.status == "accepted"
    assert any(item["kind"] == "warning" for item in judged.verdict["diagnostics"])


def make_directory(path):
    """Make a directory of that name."""
    path.mkdir()


def make_loop(path):
    """Make a symbolic link to itself."""
    path.symlink_to(path)


def make_large(path):
    """Make a file of 100 MB that takes no room."""
    with path.open("wb") as file:
        file.truncate(100 << 20)


NO_FILES = {
    "a directory": (make_directory, "folder"),
    "a pipe": (lambda path: os.mkfifo(path), "regular file"),
    "a symbolic link to itself": (make_loop, "symbolic link"),
    "100 MB": (make_large, "bytes"),
    "nothing": (lambda path: None, "no file"),
}


@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_file_is_a_usage_error(name, tmp_path):
    """What can't be read as a source is refused at once with its reason, and nothing runs."""
    make, word = NO_FILES[name]
    path = tmp_path / "mine.py"
    make(path)
    done = run_judge("901", path, "--problems", PACK, home=tmp_path)
    assert done.returncode == 2, done.stderr
    assert word in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


INTERFACES = {
    "missing function": ("double = None\ndel double\n", "def double(numbers: list[int]) -> list[int]"),
    "too few parameters": ("def double():\n    return []\n", "def double(numbers: list[int]) -> list[int]"),
    "too many parameters": ("def double(numbers, factor):\n    return []\n", "def double(numbers: list[int])"),
    "async": ("async def double(numbers):\n    return []\n", "def double(numbers: list[int])"),
    "generator": ("def double(numbers):\n    yield 1\n", "def double(numbers: list[int])"),
    "class for a function": ("class double:\n    pass\n", "def double(numbers: list[int])"),
    "function for a class": ("def Counter():\n    return None\n", "class Counter"),
    "missing method": ("del Counter.add\n", "def add(self, amount: int, *, twice: bool = False) -> int"),
    "missing keyword": (
        "class Counter:\n    def add(self, amount):\n        return amount\n",
        "def add(self, amount: int, *, twice: bool = False) -> int",
    ),
}


@pytest.mark.parametrize("name", INTERFACES)
def test_a_wrong_interface_names_the_expected_signature(name, tmp_path):
    """A name that is missing or differs is wrong, and the message shows the stub's signature."""
    attack, signature = INTERFACES[name]
    judged = judge(HONEST + "\n\n" + attack, tmp_path)
    assert (judged.exit_code, judged.status) == (1, "wrong")
    diagnostic = judged.verdict["diagnostics"][0]
    shown = " ".join(filter(None, (diagnostic["what"]["en"], diagnostic["expected"], diagnostic["actual"])))
    assert diagnostic["kind"] == "interface"
    assert signature in shown
