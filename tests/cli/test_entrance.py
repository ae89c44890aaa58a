"""``practice/judge.py`` and ``judge``: from any folder, installed or not, and what they say when something lacks."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import judge.cli
from judge.cli.app import AUTHOR_COMMANDS, LEARNER_COMMANDS, MODULES
from tests.cli.checkout import ROOT, Checkout

HEAVY = ("pydantic", "torch", "pytest", "hypothesis", "rich.console")
UNNEEDED = ("hashlib", "tempfile", "subprocess", "difflib", "importlib.metadata", "packaging", "platformdirs")
"""None takes long, all together do."""


def test_it_works_from_any_folder_and_through_a_link(checkout: Checkout) -> None:
    """The checkout is found by the file, not by where the learner stands."""
    link = checkout.home / "j.py"
    link.symlink_to(checkout.script)
    for script in (checkout.script, link):
        done = subprocess.run(
            [sys.executable, str(script), "list"],
            cwd="/",
            env=checkout.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (0, "") == (done.returncode, done.stderr)
        assert "902" in done.stdout


def test_practice_files_shadow_no_module(checkout: Checkout) -> None:
    """A learner may call a file torch.py, click.py or pathlib.py; the entrance itself is called judge.py."""
    for name in ("torch", "click", "pathlib", "contextlib", "locale"):
        (checkout.practice / f"{name}.py").write_text("raise ImportError('shadowed')\n")
    assert (0, "") == (checkout.call("list").code, checkout.call("list").err)
    inside = subprocess.run(
        [sys.executable, "judge.py", "list"],
        cwd=checkout.practice,
        env=checkout.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (inside.returncode, inside.stderr)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_missing_package_is_named_with_the_command_to_run(checkout: Checkout, language: str) -> None:
    """Without site-packages there is no click: one line, exit 3, no traceback."""
    done = subprocess.run(
        [sys.executable, "-S", "practice/judge.py", "list"],
        cwd=checkout.root,
        env=checkout.environment(TACIT_LANG=language),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (3, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))
    assert "click" in done.stderr
    assert "pip install -e . -c constraints.txt" in done.stderr
    assert ("未安装" in done.stderr) == (language == "zh")


def test_a_package_missing_later_is_named_too(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some packages are only imported when something is judged."""
    monkeypatch.setitem(sys.modules, "pydantic", None)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.modules['pydantic'] = None; from judge.cli import main; sys.exit(main(['show', '901']))",
        ],
        cwd=checkout.root,
        env=checkout.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (3, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))
    assert "pydantic" in done.stderr


def test_an_old_python_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything else is read."""
    monkeypatch.setattr(sys, "version_info", (3, 10, 4, "final", 0))
    with pytest.raises(SystemExit, match=r"Python 3\.11 or newer; this is 3\.10\."):
        runpy.run_path(str(ROOT / "practice" / "judge.py"))


def test_a_copy_outside_its_checkout_says_so(tmp_path: Path) -> None:
    """No traceback where the package can't be found."""
    shutil.copy(ROOT / "practice" / "judge.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "-S", str(tmp_path / "judge.py")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert 3 == done.returncode
    assert "must stay in its repository" in done.stderr


def test_windows_is_told_that_it_is_not_supported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, whatever was asked for."""
    monkeypatch.setattr(sys, "platform", "win32")
    assert 3 == judge.cli.main(["list", "--lang", "en"])
    assert "WSL 2" in capsys.readouterr().err


def test_the_entrance_is_short() -> None:
    """What it does must be seen at a glance."""
    assert len((ROOT / "practice" / "judge.py").read_text(encoding="utf-8").splitlines()) <= 30


@pytest.mark.parametrize("arguments", [["--help"], ["list"], []], ids=["help", "list", "welcome"])
def test_quick_commands_import_nothing_heavy(checkout: Checkout, arguments: list[str]) -> None:
    """Once the list is cached, what answers at once stays without what takes its time."""
    checkout.call("list")
    show = "import sys; from judge.cli import main; code = main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", show, *arguments],
        cwd=checkout.root,
        env=checkout.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    imported = done.stderr.split()
    assert [] == [name for name in (*HEAVY, *UNNEEDED) if name in imported]
    called = {"--help": [], "list": ["judge.cli.listing"]}.get("".join(arguments), ["judge.cli.welcome"])
    commands = (f"judge.cli.{MODULES.get(name, name)}" for name in (*LEARNER_COMMANDS, *AUTHOR_COMMANDS))
    assert called == [name for name in (*sorted({*commands}), "judge.cli.welcome") if name in imported]
    assert ("sqlite3" in imported) is (arguments != ["--help"])


def test_a_fault_of_the_judge_is_owned_up_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 3, never the learner's failure; the traceback only on request."""

    def fail(*_: object) -> None:
        raise RuntimeError("\x1b[31mbroken\nhere")

    monkeypatch.setattr("judge.catalog.listing.read_rows", fail)
    monkeypatch.delenv("TACIT_DEBUG", raising=False)
    assert 3 == judge.cli.main(["list", "--lang", "en"])
    first = capsys.readouterr().err
    assert first.startswith(r"A fault of the judge, not of your solution: RuntimeError: \x1b[31mbroken here (")
    assert "test_entrance.py:" in first
    assert "TACIT_DEBUG=1" in first
    assert "Traceback" not in first
    monkeypatch.setenv("TACIT_DEBUG", "1")
    assert 3 == judge.cli.main(["list", "--lang", "en"])
    assert "Traceback" in capsys.readouterr().err
