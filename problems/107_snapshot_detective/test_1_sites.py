"""Which frame of a stack a reader of the program wants to see."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from support_story import frames_at

LIBRARY = {"filename": "/opt/venv/lib/python3.12/site-packages/torch/optim/adam.py", "line": 248, "name": "step"}
STRING = {"filename": "<string>", "line": 3, "name": "<module>"}


def frame(filename: str, line: int) -> dict[str, Any]:
    """Return a frame."""
    return {"filename": filename, "line": line, "name": "f"}


@pytest.mark.parametrize(
    ("frames", "site"),
    [
        (frames_at(17), "serve.py:17"),
        ([frame("a.py", 1), frame("b.py", 2)], "a.py:1"),
        ([LIBRARY, STRING, frame("train.py", 8)], "train.py:8"),
        ([LIBRARY, {**LIBRARY, "line": 9}], f"{LIBRARY['filename']}:248"),
        ([STRING, LIBRARY], "<string>:3"),
        ([frame("site-packages/x.py", 4), frame("my-site-packages/y.py", 5)], "my-site-packages/y.py:5"),
        ([], "(unknown)"),
    ],
    ids=[
        "below_libraries",
        "innermost",
        "not_generated",
        "libraries_only",
        "nothing_own",
        "a_folder_of_that_name",
        "none",
    ],
)
def test_a_site_is_the_innermost_own_frame(
    solution: ModuleType, expect: Any, evidence: Any, frames: list[Any], site: str
) -> None:
    """Frames of libraries and of generated code are passed over, unless there is nothing else.

    zh: 跳过库和生成代码的栈帧，除非没有别的。
    """
    found = solution.find_site(frames)
    look = (
        "The first frame, innermost first, with no folder site-packages in its path and no < at its start.",
        "从最内层起，第一个路径里没有 site-packages 目录、也不以 < 开头的栈帧。",
    )
    expect.equal(found, site, ("find_site() names another frame", "find_site() 给出了别的栈帧"), look)
    evidence.exact("site", found)
