"""Values of strangers as text: bounded, whatever their ``repr`` does."""

from __future__ import annotations

import reprlib

VALUE_LIMIT = 2000
"""Characters of one expected or actual value."""
MESSAGE_LIMIT = 1000
"""Characters of an exception's message."""
PICTURE_LIMIT = 8000
"""Characters of a picture."""


def cut(text: str, limit: int) -> tuple[str, bool]:
    """Return ``text`` within ``limit`` characters, and whether something was left out."""
    if len(text) <= limit:
        return text, False
    return f"{text[:limit]} [… +{len(text) - limit} …]", True


def _bounded() -> reprlib.Repr:
    bounded = reprlib.Repr()
    bounded.maxlevel = 8
    bounded.maxlist = bounded.maxtuple = bounded.maxdict = bounded.maxset = bounded.maxfrozenset = 200
    bounded.maxstring = bounded.maxother = VALUE_LIMIT
    bounded.maxlong = 200
    return bounded


_BOUNDED = _bounded()


def show(value: object, limit: int = VALUE_LIMIT) -> str:
    """Return ``repr(value)``, bounded; an object that can't be shown is named by its type."""
    try:
        return cut(_BOUNDED.repr(value), limit)[0]
    except Exception as fault:
        return f"<{type(value).__name__}: {type(fault).__name__}>"


def message_of(fault: BaseException) -> str:
    """Return ``str(fault)``; an exception whose text can't be had says so."""
    try:
        return str(fault)
    except Exception as second:
        return f"<str() raised {type(second).__name__}>"
