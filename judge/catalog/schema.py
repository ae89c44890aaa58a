"""Check a TOML document against a model, and explain what is wrong with it key by key."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import ValidationError

from judge.catalog.document import Document, Key
from judge.catalog.faults import FolderFault, make_fault, phrase, show, show_value
from judge.models.base import Model

M = TypeVar("M", bound=Model)

MAX_DEPTH = 8
MAX_INTEGER_BITS = 64


@dataclass(frozen=True)
class Schema(Generic[M]):
    """What one kind of TOML file may say."""

    model: type[M]
    examples: Mapping[str, Mapping[str, str]]
    """By table (``""`` is the top), then by key: a line that an author could write. Other keys are unknown."""
    given: Mapping[str, str]
    """Fields of the model that the file's place decides, not the file, and values that stand in for them."""


def check(document: Document, schema: Schema[M]) -> tuple[M | None, list[FolderFault]]:
    """Return the model, or ``None`` and every fault of the document in the order of its lines."""
    data = {key: value for key, value in document.data.items() if key not in schema.given}
    found: list[tuple[str, Key]] = [("extra_forbidden", (key,)) for key in document.data if key in schema.given]
    model = None
    try:
        # Strict, so that "3" is no number; by way of JSON, so that an array still is a tuple.
        model = schema.model.model_validate_json(json.dumps(_as_json({**data, **schema.given})), strict=True)
    except ValidationError as refusal:
        found += [(error["type"], error["loc"]) for error in refusal.errors()]
    found += [("blank", key) for key in _blank_texts(data) if _split(key)[1] in schema.examples.get(_split(key)[0], ())]
    found.sort(key=lambda one: document.line_of(one[1]) or 0)
    faults = [_explain(document, schema, kind, key) for kind, key in found]
    return (None if faults else model), faults


def explain_value(document: Document, schema: Schema[M], key: Key) -> FolderFault:
    """Return the fault of a key whose value breaks its rule."""
    table, name = _split(key)
    return make_fault(
        "wrong_value",
        folder=document.folder,
        at=document.path,
        line=document.line_of(key),
        name=_label(key),
        must=_rule(table, name),
        value=_show_value_at(document, key),
        example=schema.examples[table][name],
    )


def _explain(document: Document, schema: Schema[M], kind: str, key: Key) -> FolderFault:
    if kind == "missing":
        return _explain_missing(document, schema, key)
    if kind == "extra_forbidden":
        return _explain_unknown(document, schema, key)
    return explain_value(document, schema, key)


def _explain_missing(document: Document, schema: Schema[M], key: Key) -> FolderFault:
    table, name = _split(key)
    example = schema.examples[table][name]
    remedy = "missing_key_remedy_table" if table else None
    if example.startswith("["):
        remedy = "missing_key_remedy_section"
    return make_fault(
        "missing_key",
        folder=document.folder,
        at=document.path,
        line=document.line_of(key[:-1]) if len(key) > 1 else None,
        remedy=remedy,
        name=_label(key),
        must=_rule(table, name),
        table=table,
        example=example,
    )


def _explain_unknown(document: Document, schema: Schema[M], key: Key) -> FolderFault:
    table, name = _split(key)
    known = schema.examples[table]
    home = next((other for other, keys in schema.examples.items() if name in keys), None)
    close = difflib.get_close_matches(name.casefold(), known, 1)
    if home == "":
        remedy = "unknown_key_remedy_top"
    elif home is not None:
        remedy = "unknown_key_remedy_table"
    else:
        remedy = "unknown_key_remedy_close" if close else "unknown_key_remedy"
    return make_fault(
        "unknown_key",
        folder=document.folder,
        at=document.path,
        line=document.line_of(key),
        remedy=remedy,
        name=_label(key),
        file=document.path.name,
        table=table,
        home=home,
        close=close[0] if close else "",
        known=", ".join(known),
    )


def _rule(table: str, name: str) -> str:
    return phrase(f"rule_{table}_{name}" if table else f"rule_{name}")


def _split(key: Key) -> tuple[str, str]:
    """Return the table (``""`` at the top) and the name of a key, without positions in arrays."""
    *tables, name = (part for part in key if isinstance(part, str))
    return ".".join(tables), name


def _label(key: Key) -> str:
    """Return how a message names a key: ``limits.wall_s``, ``requires #1``, ``hint #2.zh``."""
    parts = (f" #{part + 1}" if isinstance(part, int) else f".{part}" for part in key)
    return show("".join(parts).removeprefix("."))


def _show_value_at(document: Document, key: Key) -> str:
    value: object = document.data
    for part in key:
        value = value[part]  # type: ignore[index]  # the key was found by walking this very data
    if isinstance(value, dict):
        return phrase("value_table")
    return phrase("value_list") if isinstance(value, list) else show_value(value)


def _as_json(value: object, depth: int = 0) -> object:
    """Return TOML data as JSON data; what no key of ours may hold (dates, infinities, giants) as null."""
    if isinstance(value, dict) and depth < MAX_DEPTH:
        return {key: _as_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list) and depth < MAX_DEPTH:
        return [_as_json(item, depth + 1) for item in value]
    is_plain = isinstance(value, (str, bool))
    is_number = (isinstance(value, float) and math.isfinite(value)) or (
        isinstance(value, int) and value.bit_length() <= MAX_INTEGER_BITS
    )
    return value if is_plain or is_number else None


def _blank_texts(value: object, key: tuple[str | int, ...] = ()) -> Iterator[Key]:
    """Yield the keys of texts that say nothing."""
    if isinstance(value, dict) and len(key) < MAX_DEPTH:
        for name, item in value.items():
            yield from _blank_texts(item, (*key, name))
    elif isinstance(value, list) and len(key) < MAX_DEPTH:
        for at, item in enumerate(value):
            yield from _blank_texts(item, (*key, at))
    elif isinstance(value, str) and key[-1] in ("en", "zh") and not value.strip():
        yield key
