"""Which lines stand under a condition."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.instruments.conditions import find_conditional

SOURCES = {
    "plain": ("x = 1\nfor i in y:\n    a()\n", set()),
    "in a loop": ("for i in y:\n    a()\n    if i:\n        b()\n    else:\n        c()\n    d()\n", {4, 6}),
    "around a loop": ("if x:\n    for i in y:\n        a()\n", set()),
    "around a loop in a function": ("def f():\n    if x:\n        for i in y:\n            a()\n", {3}),
    "a break": ("while x:\n    if a():\n        break\n    b()\n", {3}),
    "a function's": ("def f():\n    if x:\n        a()\n    b()\n", {3}),
    "called so": ("def f():\n    a()\nfor i in y:\n    b()\n    if i:\n        f()\n", {1, 2, 6}),
    "called both ways": ("def f():\n    a()\nf()\nfor i in y:\n    if i:\n        f()\n", {6}),
    "handler": ("for i in y:\n    try:\n        a()\n    except E:\n        b()\n", {5}),
    "with": ("for i in y:\n    with z:\n        if i:\n            a()\n", {4}),
    "match": ("for i in y:\n    match i:\n        case 1:\n            a()\n", {4}),
    "broken": ("if x\n", set()),
}


@pytest.mark.parametrize("name", SOURCES)
def test_lines_under_a_condition_are_told(name: str, tmp_path: Path) -> None:
    """Those that not every turn of the loop, or call of the function, comes to."""
    source, expected = SOURCES[name]
    file = tmp_path / "script.py"
    file.write_text(source, encoding="utf-8")
    assert expected == find_conditional(str(file))


def test_a_file_that_is_gone_has_no_such_lines() -> None:
    """Nothing fails for want of a source."""
    assert frozenset() == find_conditional("/no/such/script.py")
