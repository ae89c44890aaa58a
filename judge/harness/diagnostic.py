"""The fields of a :class:`judge.models.record.Diagnostic`, built without pydantic."""

from __future__ import annotations

from typing import Any

from judge.harness.show import PICTURE_LIMIT, VALUE_LIMIT, cut
from judge.locale import pair

Text = dict[str, str]
"""One sentence in both languages, under ``en`` and ``zh``."""
Words = tuple[str, str] | Text | str
"""A text as an author writes it: ``(english, chinese)``, or one string for both."""
WHAT_LIMIT = 1500


def text(name: str, /, **values: object) -> Text:
    """Return a message of the harness in both languages."""
    return pair(f"harness.{name}", **values)


def as_text(words: Words | None) -> Text | None:
    """Return what an author wrote, ``(english, chinese)`` or one string for both, as a text."""
    if words is None or isinstance(words, dict):
        return words
    english, chinese = (words, words) if isinstance(words, str) else words
    return {"en": str(english), "zh": str(chinese)}


def diagnostic(
    kind: str,
    what: Text,
    *,
    expected: str | None = None,
    actual: str | None = None,
    look: Text | None = None,
    picture: Words | None = None,
    frames: list[dict[str, Any]] | None = None,
    folded: int = 0,
    is_cut: bool = False,
) -> dict[str, Any]:
    """Return a diagnostic with every text within its limit; ``is_cut`` says when one was shortened."""
    cuts = [is_cut]
    drawn = as_text(picture)

    def fit(value: str | None, limit: int) -> str | None:
        if value is None:
            return None
        kept, was_cut = cut(value, limit)
        cuts.append(was_cut)
        return kept

    return {
        "kind": kind,
        "what": {language: fit(words, WHAT_LIMIT) for language, words in what.items()},
        "expected": fit(expected, VALUE_LIMIT),
        "actual": fit(actual, VALUE_LIMIT),
        "look": look,
        "picture": drawn and {language: fit(drawing, PICTURE_LIMIT) for language, drawing in drawn.items()},
        "frames": frames or [],
        "folded": folded,
        "is_cut": any(cuts),
    }
