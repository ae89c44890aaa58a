"""Submissions that turn on the files around them: the tree is unchanged (row 36, as far as a directory goes)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.attacks.process import HONEST, PACK, ROOT, judge

DESTRUCTIVE = {
    "deletes its directory": "import shutil\nimport os\n\nshutil.rmtree(os.getcwd(), ignore_errors=True)\n",
    "deletes what lies around the file": (
        "import pathlib\nimport shutil\n\nshutil.rmtree(pathlib.Path(__file__).parent, ignore_errors=True)\n"
    ),
    "rewrites the tests beside it": (
        "import pathlib\n\n"
        "for file in pathlib.Path(__file__).parent.rglob('test_*.py'):\n"
        "    file.write_text('def test_nothing(): pass')\n"
    ),
    "plants a conftest": (
        "import pathlib\n\n"
        "for folder in (pathlib.Path.cwd(), pathlib.Path(__file__).parent, pathlib.Path(__file__).parent / 'tests'):\n"
        "    folder.mkdir(parents=True, exist_ok=True)\n"
        "    (folder / 'conftest.py').write_text('def pytest_runtest_call(item): pass')\n"
    ),
    "plants a torch.py": (
        "import pathlib\n\n"
        "for folder in (pathlib.Path.cwd(), pathlib.Path(__file__).parent):\n"
        "    (folder / 'torch.py').write_text('raise SystemExit')\n"
    ),
    "locks its directory": "import os\n\nos.mkdir('locked')\nos.chmod('locked', 0)\nos.chmod('.', 0)\n",
    "leaves links that lead out": "import os\n\nos.symlink('/etc', 'out')\nos.symlink('loop', 'loop')\n",
    "changes where it stands": "import os\n\nos.chdir('/')\nos.environ.clear()\n",
}


def fingerprint(folder: Path) -> dict[str, str]:
    """Return a digest of every file of a tree."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("name", DESTRUCTIVE)
def test_the_tree_is_unchanged(name, tmp_path):
    """What a solution does to the directory it sees touches neither the problems nor the learner's files."""
    neighbour = tmp_path / "notes.txt"
    neighbour.write_text("mine")
    trees = (PACK, ROOT / "judge")
    before = [fingerprint(tree) for tree in trees]
    judged = judge(HONEST + "\n\n" + DESTRUCTIVE[name], tmp_path)
    assert [fingerprint(tree) for tree in trees] == before
    assert neighbour.read_text() == "mine"
    assert judged.exit_code in (0, 1), judged.stderr
    assert judged.verdict["tests"], judged.words


def test_neither_the_reference_nor_the_problems_can_be_imported(tmp_path):
    """The reference is on no path of the submission's process."""
    attack = (
        "import importlib.util\nimport sys\n\n"
        "FOUND = [name for name in ('reference', 'problems', 'tests') if importlib.util.find_spec(name)]\n"
        "assert not FOUND, FOUND\n"
        "assert not any('reference' in word for word in [*sys.argv, *sys.orig_argv, *sys.path])\n"
    )
    judged = judge(HONEST + "\n\n" + attack, tmp_path)
    assert judged.status == "accepted", judged.words


def test_no_private_directory_is_left(tmp_path, monkeypatch):
    """The private directories of both runs are removed, locked ones included."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "private"))
    (tmp_path / "private").mkdir()
    judge(HONEST + "\n\n" + DESTRUCTIVE["locks its directory"], tmp_path)
    assert list((tmp_path / "private").iterdir()) == []
