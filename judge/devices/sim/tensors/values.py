"""Names for what passes through ops, of whatever type."""

from __future__ import annotations

from typing import Any

Value = Any
"""An argument or a result: tensors, numbers, dtypes, lists of them."""
Arguments = tuple[Value, ...]
"""Positional arguments of a call."""
Keywords = dict[str, Value]
"""Keyword arguments of a call."""
