"""Elements of memory as people read them, and the first one that differs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import product

from judge.devices.sim.races.geometry import Access, Dimensions

MAX_ELEMENTS = 1 << 20
"""Elements of a strided view that are compared."""

_FORMATS = {
    "float64": "<d",
    "float32": "<f",
    "float16": "<e",
    "int64": "<q",
    "int32": "<i",
    "int16": "<h",
    "int8": "<b",
    "uint64": "<Q",
    "uint32": "<I",
    "uint16": "<H",
    "uint8": "<B",
    "bool": "<?",
    "complex64": "<ff",
    "complex128": "<dd",
}


def find_difference(access: Access, one: bytes | bytearray, other: bytes | bytearray) -> tuple[int, int] | None:
    """Return the index of the first element of a view that differs, and its place in the bytes; ``None`` if none does.

    Args:
        access: the view.
        one: bytes of the view and what lies between, from its first byte on.
        other: the same bytes in another history.
    """
    if one == other:
        return None
    item = access.item_bytes
    if access.strides is None:
        index = _find_byte(one, other) // item
        return index, index * item
    for index, start in enumerate(_offsets(access.strides)):
        if index == MAX_ELEMENTS:
            return None
        if one[start : start + item] != other[start : start + item]:
            return index, start
    return None


def _find_byte(one: bytes | bytearray, other: bytes | bytearray) -> int:
    """Return the place of the first byte that differs; there is one."""
    first, last = 0, len(one)
    while last - first > 1:
        middle = (first + last) // 2
        if one[first:middle] == other[first:middle]:
            first = middle
        else:
            last = middle
    return first


def _offsets(dimensions: Dimensions) -> Iterator[int]:
    steps = [range(0, count * stride or 1, stride or 1) for count, stride in dimensions]
    return (sum(offsets) for offsets in product(*steps))


def show_element(data: bytes | bytearray, dtype: str) -> str:
    """Return an element as text; its bytes in hexadecimal if the type is not known."""
    if dtype == "bfloat16" and len(data) == 2:
        return _show(struct.unpack("<f", b"\0\0" + bytes(data))[0])
    form = _FORMATS.get(dtype)
    if form is None or struct.calcsize(form) != len(data):
        return f"0x{bytes(reversed(data)).hex()}"
    numbers = struct.unpack(form, data)
    return _show(numbers[0]) if len(numbers) == 1 else _show(complex(*numbers))


def _show(number: complex | bool) -> str:
    return f"{number:.6g}" if isinstance(number, float | complex) else str(number)
