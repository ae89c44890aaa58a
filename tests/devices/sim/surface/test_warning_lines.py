"""Warnings of torch's name the user's line, not the wrapper of ours that its call went through."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")


def warn() -> None:
    """Let C code of torch's warn, behind one of our wrappers."""
    torch.range(0, 3)  # range


def line_of(mark: str) -> int:
    """Return the line of this file that ends in a comment."""
    lines, first = inspect.getsourcelines(warn)
    return next(first + at for at, line in enumerate(lines) if line.endswith(f"# {mark}\n"))


def test_a_warning_names_the_user_s_line(simulation: Any) -> None:
    """It is recorded as on a real device, for any who record."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warn()
    assert [(__file__, line_of("range"))] == [(one.filename, one.lineno) for one in seen]


def test_filters_count_at_the_user_s_line(simulation: Any) -> None:
    """Once for a line is once for the user's line; a second line of the user's is told too."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.resetwarnings()
        for _ in range(2):
            warn()
        torch.range(0, 3)
    assert 2 == len({one.lineno for one in seen}) == len(seen)


def test_another_s_warning_stays_as_it_is(simulation: Any) -> None:
    """A warning of the user's own is none of ours."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.warn("mine", UserWarning, stacklevel=1)
    assert [__file__] == [one.filename for one in seen]
