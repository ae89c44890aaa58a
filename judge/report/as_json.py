"""Verdicts and inspections as JSON: versioned, indented, ASCII only, so that it is inert on any terminal."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.models.inspection import Inspection
    from judge.models.verdict import Verdict

_UNPAIRED = re.compile("[\ud800-\udfff]")

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def dumps(published: Verdict | Inspection) -> str:
    """Return JSON that follows ``verdict-1.json`` or ``inspection-1.json`` of ``docs/schema``, with a line end.

    Texts are kept as they are, by escapes; only unpaired surrogates, which are no characters, are spelt out.
    A measurement that is no finite number is null.
    """
    text = json.dumps(_make_legal(published.model_dump(mode="json")), indent=2, ensure_ascii=True, allow_nan=False)
    # DEL is ASCII, so the encoder lets it through; outside of strings there is none.
    return text.replace("\x7f", "\\u007f") + "\n"


def _make_legal(value: Json) -> Json:
    """Return plain data without what JSON can't carry."""
    if isinstance(value, str):
        return _UNPAIRED.sub(lambda found: f"\\u{ord(found.group()):04x}", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_make_legal(item) for item in value]
    if isinstance(value, dict):
        return {str(_make_legal(key)): _make_legal(item) for key, item in value.items()}
    return value
