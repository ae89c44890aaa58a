"""What the operating system says, in the reader's language."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from pathlib import Path

import pytest

from judge.locale.refusals import SYSTEM, explain_refusal


@pytest.mark.parametrize("name", SYSTEM)
def test_a_usual_refusal_has_words_in_both_languages(name: str) -> None:
    """Nothing of the system's English stands in a Chinese sentence."""
    code = getattr(errno, name)
    fault = OSError(code, os.strerror(code))
    assert not re.search("[A-Za-z]", explain_refusal(fault, "zh"))
    assert explain_refusal(fault, "en")[0].islower(), "it stands inside a sentence"


def test_sqlite_is_explained_too(tmp_path: Path) -> None:
    """It has codes of its own, and only English for them."""
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(tmp_path / "missing" / "attempts.db").execute("SELECT 1")
    assert "文件无法打开或创建" == explain_refusal(caught.value, "zh")
    assert "odd" == explain_refusal(sqlite3.OperationalError("odd"), "zh")


def test_a_rare_refusal_keeps_the_systems_words() -> None:
    """Better than a number, and than nothing."""
    assert os.strerror(errno.EXDEV) == explain_refusal(OSError(errno.EXDEV, os.strerror(errno.EXDEV)), "zh")
    assert "odd" == explain_refusal(OSError("odd"), "en")
