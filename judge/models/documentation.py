"""The docstrings of fields, put into a JSON Schema.

pydantic would read them itself, from the sources, whenever a model is defined: 60 ms of every judgement, for
what only the schema shows.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from judge.models.base import Model


def describe_fields(schema: dict[str, Any], model: type[Model]) -> None:
    """Give every field of a model's schema, those of the models in it included, its docstring as description."""
    models = {kind.__name__: kind for kind in _list_models(Model)}
    for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
        if name not in models:
            continue  # an enumeration
        texts = read_docstrings(models[name])
        for field, described in part.get("properties", {}).items():
            if field in texts:
                described.setdefault("description", texts[field])
                part["properties"][field] = dict(sorted(described.items()))


def read_docstrings(model: type[Model]) -> dict[str, str]:
    """Return the text under each field of a model."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)  # the source of a class
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }


def _list_models(base: type[Model]) -> Iterator[type[Model]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _list_models(kind)
