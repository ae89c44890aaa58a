"""Submissions that bring their process down: crashed with the signal's name, or no result (row 33)."""

from __future__ import annotations

import sys

import pytest

from tests.attacks.process import HONEST, judge

CRASHES = {
    "segmentation fault": ("import ctypes\n\n\ndef double(numbers):\n    ctypes.string_at(0)\n", "SIGSEGV"),
    "abort": ("import os\n\n\ndef double(numbers):\n    os.abort()\n", "SIGABRT"),
    "stack overflow in C": (
        "import ctypes\nimport sys\n\n\n"
        "def again():\n    CALLBACK()\n\n\n"
        "CALLBACK = ctypes.CFUNCTYPE(None)(again)\n\n\n"
        "def double(numbers):\n    sys.setrecursionlimit(10**8)\n    again()\n",
        "SIGSEGV",
    ),
    "kills itself": ("import os\n\n\ndef double(numbers):\n    os.kill(os.getpid(), 9)\n", "SIGKILL"),
    "crash while it is imported": ("import os\n\nos.abort()\n", "SIGABRT"),
}


@pytest.mark.parametrize("name", CRASHES)
def test_a_crash_is_named_by_its_signal(name, tmp_path):
    """A crash is told as such, with the signal's name in words a beginner understands."""
    if name == "stack overflow in C" and sys.version_info >= (3, 12):
        pytest.skip("from Python 3.12 on the interpreter counts its C frames and raises instead")
    attack, signal = CRASHES[name]
    judged = judge(HONEST + "\n\n" + attack, tmp_path)
    assert (judged.exit_code, judged.status) == (1, "crashed")
    assert signal in judged.words


def test_a_segmentation_fault_names_its_line(tmp_path):
    """The line of the solution that ran last is shown."""
    source = HONEST + "\n\n" + CRASHES["segmentation fault"][0]
    line = 1 + source.splitlines().index("    ctypes.string_at(0)")
    assert line in judge(source, tmp_path).lines


ENDINGS = {
    "os._exit(0)": "import os\n\n\ndef double(numbers):\n    os._exit(0)\n",
    "os._exit(1)": "import os\n\n\ndef double(numbers):\n    os._exit(1)\n",
    "os._exit(0) at import": "import os\n\nos._exit(0)\n",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_leaving_in_the_middle_is_no_result(name, tmp_path):
    """A process that leaves by itself gives no result, whatever its exit code says."""
    judged = judge(HONEST + "\n\n" + ENDINGS[name], tmp_path)
    assert (judged.exit_code, judged.status) == (1, "no_result")


RAISES = {
    "sys.exit(0)": "import sys\n\n\ndef double(numbers):\n    sys.exit(0)\n",
    "KeyboardInterrupt": "def double(numbers):\n    raise KeyboardInterrupt\n",
    "pytest.skip": "import pytest\n\n\ndef double(numbers):\n    pytest.skip('not today')\n",
    "pytest.xfail": "import pytest\n\n\ndef double(numbers):\n    pytest.xfail('not today')\n",
    "pytest.exit": "import pytest\n\n\ndef double(numbers):\n    pytest.exit('done', 0)\n",
    "GeneratorExit": "def double(numbers):\n    raise GeneratorExit\n",
    "skip at import": "import pytest\n\npytest.skip('not today', allow_module_level=True)\n",
    "exit at import": "import sys\n\nsys.exit(0)\n",
}


@pytest.mark.parametrize("name", RAISES)
def test_an_exception_that_would_end_pytest_is_an_error_of_the_solution(name, tmp_path):
    """Exceptions by which pytest is skipped or ended are runtime errors, never a pass or a skip."""
    judged = judge(HONEST + "\n\n" + RAISES[name], tmp_path)
    assert (judged.exit_code, judged.status) == (1, "runtime_error")
