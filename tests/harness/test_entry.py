"""A run from request to done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.child import RIGHT, SHOWN, STUB, TESTS, run_child


def test_a_right_solution_is_reported_in_order(tmp_path: Path) -> None:
    """Records come in the order that the wire names, and fit the models."""
    report = run_child(tmp_path)
    assert ["hello", "collected", "started", "evidence", "finished", "done"] == report.kinds
    assert {"test_doubles": "accepted"} == report.statuses
    assert [{"exit_code": 0}] == report.of_kind("done")
    assert 0 == report.exit_code
    report.validate()


def test_a_title_has_both_languages(tmp_path: Path) -> None:
    """The first paragraph is English, the ``zh:`` paragraph Chinese."""
    (collected,) = run_child(tmp_path).of_kind("collected")
    expected = {"en": "It doubles small numbers.", "zh": "能把小的数加倍。"}
    assert expected == collected["tests"][0]["title"]


def test_evidence_is_sent_as_plain_data(tmp_path: Path) -> None:
    """The parent gets the value, the mode and the test's id."""
    (evidence,) = run_child(tmp_path).of_kind("evidence")
    expected = {
        "test": "test_double.py::test_doubles",
        "name": "doubles",
        "mode": "exact",
        "labels": [],
        "rtol": 0.0,
        "atol": 0.0,
        "value": [0, 2, 4],
    }
    assert expected == evidence


def test_the_stub_is_not_written_yet(tmp_path: Path) -> None:
    """An untouched stub is wrong, and the function is named."""
    report = run_child(tmp_path, STUB)
    assert {"test_doubles": "wrong"} == report.statuses
    assert "Not written yet: `double`." == report.diagnostic()["what"]["en"]
    assert SHOWN == report.diagnostic()["frames"][-1]["file"]


def test_tests_share_modules_that_lie_beside_them(tmp_path: Path) -> None:
    """A module of their own is importable by its name; it shadows no installed one."""
    (tmp_path / "problem").mkdir()
    (tmp_path / "problem" / "support_words.py").write_text('WORDS = ("off", "不对")\n', encoding="utf-8")
    (tmp_path / "problem" / "hypothesis.py").write_text("raise ImportError\n", encoding="utf-8")
    tests = "import hypothesis\nfrom support_words import WORDS\n" + TESTS
    report = run_child(tmp_path, tests=tests.replace('("double(2) is off", "double(2) 不对")', "WORDS"))
    assert {"test_doubles": "accepted"} == report.statuses


def test_what_a_test_prints_is_passed_on_and_kept(tmp_path: Path) -> None:
    """Output reaches the parent's pipe even when the child dies later, and the test's outcome."""
    report = run_child(tmp_path, "def double(number):\n    print('twice', number)\n    return number * 2\n")
    assert "twice 0\n" in report.outcome()["output"]
    assert "twice 0\n" in report.stdout


def test_a_flood_of_output_is_cut_with_a_note(tmp_path: Path) -> None:
    """Begin and end are kept, and how much is missing is said."""
    report = run_child(tmp_path, "def double(number):\n    print('x' * 100_000)\n    return number * 2\n")
    output = report.outcome()["output"]
    assert len(output) < 8_000
    assert "[… +" in output


def test_repository_folders_cannot_be_imported(tmp_path: Path) -> None:
    """``reference``, ``problems`` and ``tests`` are not on the import path."""
    solution = """
        import importlib
        FOUND = []
        for name in ("reference", "problems", "tests", "practice"):
            try:
                importlib.import_module(name)
                FOUND.append(name)
            except ImportError:
                pass

        def double(number):
            assert not FOUND, FOUND
            return number * 2
    """
    assert {"test_doubles": "accepted"} == run_child(tmp_path, solution).statuses


def test_the_channel_is_not_inherited(tmp_path: Path) -> None:
    """A program that the solution starts has none of our descriptors."""
    solution = """
        import subprocess, sys

        def double(number):
            code = "import os; print([n for n in os.listdir('/proc/self/fd') if int(n) > 3])"
            print(subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True).stdout)
            return number * 2
    """
    assert "[]\n" in run_child(tmp_path, solution).outcome()["output"]


def test_a_forked_copy_does_not_report(tmp_path: Path) -> None:
    """A solution that forks and returns twice is reported once."""
    solution = "import os\n\ndef double(number):\n    os.fork()\n    return number * 2\n"
    report = run_child(tmp_path, solution)
    assert 1 == len(report.of_kind("finished"))


def test_a_thread_that_never_ends_does_not_hold_the_process(tmp_path: Path) -> None:
    """The child leaves when it has said done."""
    solution = f"import threading\nthreading.Thread(target=threading.Event().wait).start()\n{RIGHT}"
    report = run_child(tmp_path, solution)
    assert ("done", 0) == (report.kinds[-1], report.exit_code)


def test_a_crash_leaves_a_stack_with_the_line(tmp_path: Path) -> None:
    """Faulthandler names the learner's line at a segmentation fault."""
    solution = "import ctypes\n\ndef double(number):\n    return ctypes.string_at(0)\n"
    report = run_child(tmp_path, solution)
    assert -11 == report.exit_code
    assert f'File "{SHOWN}", line 4 in double' in report.stack
    assert "started" == report.kinds[-1]


def test_the_first_failure_can_end_the_run(tmp_path: Path) -> None:
    """A mutant needs no more than one failed test."""
    tests = TESTS + "\n\ndef test_later(solution, expect):\n    expect.true(False, 'no')\n"
    report = run_child(tmp_path, STUB, tests, stop_at_first_failure=True)
    assert {"test_doubles": "wrong"} == report.statuses
    assert "done" == report.kinds[-1]


def test_pytest_settings_around_have_no_effect(tmp_path: Path) -> None:
    """An ini file above the tests and one in the working folder are not read."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", encoding="utf-8")
    assert {"test_doubles": "accepted"} == run_child(tmp_path).statuses


def test_a_broken_test_file_is_the_judges_fault(tmp_path: Path) -> None:
    """When the tests can't be collected, nothing is held against the learner."""
    report = run_child(tmp_path, tests="import no_such_module_here\n")
    assert "judge_error" == report.failure["status"]
    assert "no_such_module_here" in report.failure["diagnostic"]["what"]["en"]
    report.validate()


def test_no_tests_are_the_judges_fault(tmp_path: Path) -> None:
    """A problem without tests accepts nobody."""
    assert "judge_error" == run_child(tmp_path, tests="").failure["status"]


def test_a_wrong_mark_is_the_judges_fault(tmp_path: Path) -> None:
    """A budget that is no number, or a mark that does not exist, stops the run."""
    tests = "import pytest\n\n@pytest.mark.budget(syncs='none')\ndef test_x(solution):\n    pass\n"
    assert "judge_error" == run_child(tmp_path, tests=tests).failure["status"]


def test_marks_reach_the_parent(tmp_path: Path) -> None:
    """Weight, budget and optional stand in ``collected``."""
    tests = """
        import pytest

        pytestmark = pytest.mark.budget(syncs=3, time_ratio=2)

        @pytest.mark.budget(time_ratio=4.0)
        @pytest.mark.weight(2)
        @pytest.mark.optional
        @pytest.mark.parametrize("n", [1, 2], ids=["one", "two"])
        def test_marked(solution, n, measure):
            measure("syncs", 2, "waits", [{"file": "a.py", "line": 3}])
    """
    report = run_child(tmp_path, tests=tests)
    (collected,) = report.of_kind("collected")
    expected = {
        "id": "test_double.py::test_marked[one]",
        "title": {"en": "test_marked [one]", "zh": "test_marked [one]"},
        "weight": 2.0,
        "is_required": False,
        "budget": {"syncs": 3.0, "time_ratio": 4.0},
    }
    assert expected == collected["tests"][0]
    assert 2 == len(report.of_kind("measurement"))
    report.validate()


@pytest.mark.parametrize("name", ["pytest_timeout", "_hypothesis_pytestplugin", "harmful"])
def test_a_solution_cannot_bring_a_plugin(tmp_path: Path, name: str) -> None:
    """Neither a file that shadows one of ours on the path nor the environment loads one."""
    solution = f"""
        import os, sys
        with open("{name}.py", "w") as file:
            file.write("raise SystemExit('shadowed')")
        sys.path.insert(0, os.getcwd())
        os.environ["PYTEST_PLUGINS"] = "harmful"

        def double(number):
            return number * 2
    """
    assert {"test_doubles": "accepted"} == run_child(tmp_path, solution).statuses


@pytest.mark.parametrize("before", ["", "for _ in range(1):\n        "], ids=["plain", "nested"])
def test_an_assertion_tells_both_sides(tmp_path: Path, before: str) -> None:
    """Pytest leaves assertions as they are only where there are none."""
    tests = f"def test_a(solution):\n    {before}assert solution.double(2) == 4\n"
    diagnostic = run_child(tmp_path, "def double(number):\n    return 5\n", tests).diagnostic()
    assert ("4", "5") == (diagnostic["expected"], diagnostic["actual"])


def test_the_collector_is_on_in_a_test(tmp_path: Path) -> None:
    """It is off while modules are imported; a test that makes cycles must not fill the memory."""
    tests = "import gc\n\ndef test_a(solution, evidence):\n    evidence.exact('on', gc.isenabled())\n"
    (evidence,) = run_child(tmp_path, tests=tests).of_kind("evidence")
    assert evidence["value"] is True
