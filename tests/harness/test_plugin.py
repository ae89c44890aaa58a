"""Plain pytest: the learner's own runs, and strangers' sessions."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.harness.child import RIGHT, STUB, TESTS, run_child

Finished = subprocess.CompletedProcess[str]


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A pack with one problem, and a right solution in practice/. It wants no device: preparing one takes seconds."""
    problem = tmp_path / "problems" / "9_double"
    problem.mkdir(parents=True)
    (tmp_path / "practice").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n", encoding="utf-8")
    for name, text in {"problem.toml": 'device = "none"\n', "stub.py": STUB, "test_double.py": TESTS}.items():
        (problem / name).write_text(text, encoding="utf-8")
    (tmp_path / "practice" / "9_double.py").write_text(RIGHT, encoding="utf-8")
    return tmp_path


def run_pytest(folder: Path, *arguments: str, language: str = "en") -> Finished:
    """Run pytest as a learner does."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"TACIT_LANG": language, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


def write_solution(pack: Path, text: str) -> None:
    """Write the practice file."""
    (pack / "practice" / "9_double.py").write_text(textwrap.dedent(text), encoding="utf-8")


def test_the_practice_file_is_the_default(pack: Path) -> None:
    """``pytest problems/9_double`` runs the learner's own file; a problem that does not say so wants a device."""
    (pack / "problems" / "9_double" / "problem.toml").write_text("", encoding="utf-8")
    done = run_pytest(pack, "problems/9_double")
    assert (0, True) == (done.returncode, "1 passed" in done.stdout)


def test_another_file_can_be_given(pack: Path) -> None:
    """``--submission`` names it."""
    (pack / "mine.py").write_text(STUB, encoding="utf-8")
    done = run_pytest(pack, "problems/9_double", "--submission", "mine.py")
    assert (1, True) == (done.returncode, "1 failed" in done.stdout)
    assert "NotImplementedError" in done.stdout


def test_a_failure_is_shown_as_pytest_shows_it(pack: Path) -> None:
    """The message of the mismatch stands in the report, without the judge's own frames."""
    write_solution(pack, "def double(number):\n    return number + 2 if number else 1\n")
    done = run_pytest(pack, "problems/9_double", language="zh")
    assert 0 == done.returncode
    write_solution(pack, "def double(number):\n    return 5\n")
    done = run_pytest(pack, "problems/9_double", language="zh")
    assert "double(2) 不对\n" in done.stdout
    assert "实际: 5" in done.stdout
    assert "judge/harness" not in done.stdout.partition("short test summary")[0]


def test_no_file_says_what_to_give(pack: Path) -> None:
    """One message, and pytest's exit status for wrong usage."""
    (pack / "practice" / "9_double.py").unlink()
    done = run_pytest(pack, "problems/9_double")
    assert 4 == done.returncode
    assert "9_double.py is not a file. Give your solution with --submission FILE" in done.stdout + done.stderr


def test_a_file_that_cannot_be_loaded_is_told_once(pack: Path) -> None:
    """Thirty tests give one message, not thirty errors."""
    (pack / "problems" / "9_double" / "test_more.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(30))\ndef test_n(solution, n): pass\n", encoding="utf-8"
    )
    write_solution(pack, "def double(number)\n    return 1\n")
    done = run_pytest(pack, "problems/9_double")
    assert 1 == done.returncode
    assert 1 == done.stdout.count("SyntaxError, line 1, column 19: expected ':'.")
    assert "practice/9_double.py:1" in done.stdout
    assert "error" not in done.stdout.splitlines()[-1].lower()


def test_another_signature_is_told(pack: Path) -> None:
    """The interface is checked here too."""
    write_solution(pack, "def double(): return 1\n")
    done = run_pytest(pack, "problems/9_double")
    assert "`double` lacks the parameter `number`." in done.stdout
    assert "def double(number: int) -> int" in done.stdout


def test_a_seed_repeats_a_run(pack: Path) -> None:
    """``--seed`` reaches the fixtures and hypothesis."""
    (pack / "problems" / "9_double" / "test_double.py").write_text(
        textwrap.dedent("""
            from hypothesis import given, settings, strategies as st

            SEEN = []

            @given(st.integers())
            @settings(max_examples=5)
            def test_a(solution, number):
                SEEN.append(number)

            def test_b(solution, rng, seed):
                print(f"drawn {seed} {rng.random()} {sum(SEEN)}")
        """),
        encoding="utf-8",
    )
    lines = []
    for seed in ("5", "5", "6"):
        done = run_pytest(pack, "problems/9_double", "-s", "--seed", seed)
        lines += [line for line in done.stdout.splitlines() if "drawn" in line]
    assert lines[0] == lines[1] != lines[2]


def test_workers_share_the_seed(pack: Path) -> None:
    """With pytest-xdist the tests still pass, under one seed."""
    pytest.importorskip("xdist")
    (pack / "problems" / "9_double" / "test_double.py").write_text(
        textwrap.dedent("""
            import pathlib, pytest

            @pytest.mark.parametrize("n", range(4))
            def test_n(solution, seed, n):
                pathlib.Path(f"seed_{n}").write_text(str(seed))
        """),
        encoding="utf-8",
    )
    done = run_pytest(pack, "problems/9_double", "-n", "2")
    assert (0, True) == (done.returncode, "4 passed" in done.stdout)
    assert 1 == len({path.read_text(encoding="utf-8") for path in pack.glob("seed_*")})


def test_a_load_failure_under_xdist_is_told(pack: Path) -> None:
    """The message is not lost in a worker."""
    pytest.importorskip("xdist")
    write_solution(pack, "def double(): return 1\n")
    done = run_pytest(pack, "problems/9_double", "-n", "1")
    assert 0 != done.returncode
    assert "lacks the parameter" in done.stdout + done.stderr


def test_a_strangers_session_is_left_alone(tmp_path: Path) -> None:
    """Own fixtures, an own ``--seed`` and own marks of the same names keep their meaning."""
    (tmp_path / "conftest.py").write_text(
        textwrap.dedent("""
            import pytest

            def pytest_addoption(parser):
                parser.addoption("--seed", type=int, default=3)
                parser.addoption("--device", default="tpu")

            @pytest.fixture
            def seed(request):
                return request.config.getoption("--seed")

            @pytest.fixture
            def solution():
                return "salt"
        """),
        encoding="utf-8",
    )
    (tmp_path / "test_own.py").write_text(
        textwrap.dedent("""
            import sys
            import pytest
            from hypothesis import given, settings, strategies as st

            def test_own(solution, seed):
                assert ("salt", 9) == (solution, seed)

            @pytest.mark.gpu
            @pytest.mark.requires("no-such-package>=1")
            def test_marked():
                pass

            def test_profile():
                assert settings.get_current_profile_name() != "tacit"

            def test_nothing_heavy_was_imported():
                heavy = {"torch", "pydantic", "judge.harness.diagnosis", "judge.locale", "tomllib"}
                assert not heavy & set(sys.modules)
        """),
        encoding="utf-8",
    )
    done = run_pytest(tmp_path, "--seed", "9", "-W", "error", "-p", "no:cacheprovider")
    assert (0, True) == (done.returncode, "4 passed" in done.stdout), done.stdout + done.stderr


def test_marks_and_options_are_described(tmp_path: Path) -> None:
    """``--markers`` and ``--help`` name them."""
    assert "@pytest.mark.budget(**limits)" in run_pytest(tmp_path, "--markers").stdout
    helped = run_pytest(tmp_path, "--help").stdout
    assert "--submission=FILE" in helped
    assert "--seed=N" in helped


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("cpu", ["not_judged", "not_judged", "accepted", "not_judged"]),
        ("cuda", ["accepted", "not_judged", "accepted", "not_judged"]),
    ],
)
def test_what_the_machine_lacks_is_not_judged(tmp_path: Path, device: str, expected: list[str]) -> None:
    """Marks skip with a reason in both languages."""
    tests = """
        import pytest

        @pytest.mark.gpu
        def test_gpu(solution, device): assert "cuda" == device

        @pytest.mark.requires("pytest>=8", "pytest>=9999")
        def test_newer(solution): pass

        @pytest.mark.requires("pytest>=8", "no-such-package; python_version < '3'")
        def test_present(solution, device): assert device in ("cpu", "cuda")

        @pytest.mark.requires("no-such-package")
        def test_absent(solution): pass
    """
    report = run_child(tmp_path, tests=tests, device=device)
    assert expected == list(report.statuses.values())
    assert "Needs `no-such-package`, which is not installed." == report.diagnostic("test_absent")["what"]["en"]
    assert "需要 `pytest>=9999`，已安装的版本是" in report.diagnostic("test_newer")["what"]["zh"]
    assert "skipped" == report.diagnostic("test_newer")["kind"]
