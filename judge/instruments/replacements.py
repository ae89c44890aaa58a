"""What to write in place of a host wait, where there is something."""

from __future__ import annotations

from judge.locale import pair

CALLS = {
    "one_hot": "one_hot",
    "Tensor[mask]": "masked_select",
    "Tensor[indices": "index",
    "Tensor.__setitem__": "index",
}
"""Parts of a call that say more than its kind, with the message that answers them."""

KINDS = {
    "item": "item",
    "copy_d2h": "copy_d2h",
    "copy_h2d": "copy_h2d",
    "index": "index",
    "nonzero": "nonzero",
    "masked_select": "masked_select",
    "unique": "unique",
    "repeat_interleave": "repeat_interleave",
    "equal": "equal",
    "allclose": "equal",
    "bincount": "bincount",
    "histc": "histc",
    "linalg_check": "linalg_check",
    "stream_synchronize": "stream_synchronize",
    "event_synchronize": "event_synchronize",
    "device_synchronize": "device_synchronize",
    "allocator_flush": "allocator_flush",
}
"""Kinds of waits, with the message that answers them. Source: the callers of PyTorch's synchronising functions."""


def find_replacement(kind: str, call: str) -> dict[str, str] | None:
    """Return what to write instead, by language, or ``None`` where there is nothing."""
    name = KINDS.get(kind)
    if kind in ("copy_h2d", "item", "nonzero"):
        name = next((answer for part, answer in CALLS.items() if part in call), name)
    return pair(f"inspection.instead_{name}") if name is not None else None
