"""Read a tensor's bytes as numbers without importing torch."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from judge.models.record import Tensor

FORMATS = {
    "float64": "d", "float32": "f", "float16": "e",
    "int64": "q", "int32": "i", "int16": "h", "int8": "b",
    "uint64": "Q", "uint32": "I", "uint16": "H", "uint8": "B", "bool": "?",
    "complex64": "f", "complex128": "d",
}  # fmt: skip
"""struct's letter for one element; a complex number is two of them."""


def decode_tensor(tensor: Tensor) -> Sequence[float | int | bool]:
    """Return the elements in row-major order; a dtype without a format here (fp8) is read byte by byte."""
    if tensor.dtype == "bfloat16":
        # The upper half of a float32.
        halves = memoryview(tensor.data).cast("H")
        return [struct.unpack("f", struct.pack("I", half << 16))[0] for half in halves]
    letter = FORMATS.get(tensor.dtype, "B")
    return [value for (value,) in struct.iter_unpack(letter, tensor.data)]
