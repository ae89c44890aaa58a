"""A site is the user's line, whatever lies between."""

from __future__ import annotations

import contextlib
import functools

from judge.devices.sim.sites import find_site


def test_the_callers_line_is_found():
    """File, line and function."""
    site = find_site()
    assert (__file__, "test_the_callers_line_is_found") == (site.file, site.function)
    assert site.line == test_the_callers_line_is_found.__code__.co_firstlineno + 2


def test_the_standard_librarys_wrappers_are_passed_over():
    """A context manager's exit is the user's ``with``."""
    seen = []

    class Note:
        def close(self):
            seen.append(find_site())

    with contextlib.closing(Note()):
        pass
    assert [__file__] == [site.file for site in seen]
    assert "close" == seen[0].function


def test_partial_calls_keep_the_callers_line():
    """``functools`` leaves no frame of its own."""
    assert __file__ == functools.partial(find_site)().file
