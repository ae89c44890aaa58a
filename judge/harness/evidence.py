"""What a test saw, as plain bytes: the parent compares it with what the oracle's run saw."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from judge.harness.channel import Sink
from judge.harness.diagnostic import text
from judge.harness.expect import Mismatch

DEEPEST = 60
LONGEST_BITS = 10_000
PATH_CHARACTERS = 200
FRAME_BYTES = 24 << 20
"""Most of one item of plain data, below what one frame may hold."""
RESERVED_SHARE = 16


class Evidence:
    """The fixture ``evidence``.

    Args:
        sink: where records go.
        test: id of the test.
        limit_bytes: most of all records of the run.
    """

    def __init__(self, sink: Sink, test: str, limit_bytes: int) -> None:
        self._sink = sink
        self._test = test
        self._limit_bytes = limit_bytes

    @property
    def _left_bytes(self) -> int:
        """What is left for evidence; a part is kept for the outcomes of the tests."""
        return self._limit_bytes - self._limit_bytes // RESERVED_SHARE - self._sink.sent_bytes

    def exact(self, name: str, value: object, labels: Sequence[str] | None = None) -> None:
        """Record a value that must be the oracle's, bit for bit.

        Args:
            name: what it is, unique in the test.
            value: None, bool, int, float, str, lists, tuples and dicts with text keys of these, or a tensor.
            labels: for a list, what each item is.

        Raises:
            Mismatch: the solution gave something that is not plain data, or far too much of it.
        """
        __tracebackhide__ = True
        self._send(name, "exact", value, labels or (), 0.0, 0.0)

    def close(self, name: str, value: object, rtol: float = 1e-5, atol: float = 1e-8) -> None:
        """Record numbers that must be close to the oracle's.

        Args:
            name: what they are, unique in the test.
            value: a number, nested lists of numbers, or a tensor.
            rtol: relative tolerance.
            atol: absolute tolerance.

        Raises:
            Mismatch: as for :meth:`exact`.
        """
        __tracebackhide__ = True
        self._send(name, "close", value, (), float(rtol), float(atol))

    def tensors(
        self,
        name: str,
        values: Sequence[object],
        labels: Sequence[str] = (),
        rtol: float = 0.0,
        atol: float = 0.0,
    ) -> None:
        """Record tensors of any shapes and dtypes; as many, in this order, must equal the oracle's.

        Args:
            name: what they are, unique in the test.
            values: the tensors.
            labels: what each of them is.
            rtol: relative tolerance; with both 0 they must be equal bit for bit.
            atol: absolute tolerance.

        Raises:
            Mismatch: as for :meth:`exact`.
        """
        __tracebackhide__ = True
        self._send(f"len({name})", "exact", len(values), (), 0.0, 0.0)
        # One record holds the bytes of one tensor.
        for at, value in enumerate(values):
            shown = f"{name}[{at}] {labels[at]}" if at < len(labels) else f"{name}[{at}]"
            self._send(shown, "close" if rtol or atol else "exact", value, (), float(rtol), float(atol))

    def _send(self, name: str, mode: str, value: object, labels: Sequence[str], rtol: float, atol: float) -> None:
        __tracebackhide__ = True
        fields: dict[str, Any] = {"test": self._test, "name": name, "mode": mode}
        fields |= {"labels": [str(label) for label in labels], "rtol": rtol, "atol": atol}
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            described, blob = _tensor(torch, value, name, self._left_bytes)
            self._sink.send("evidence", blob, **fields, tensor=described)
            return
        plain = _Plain(name, min(self._left_bytes, FRAME_BYTES), is_numeric=mode == "close")
        self._sink.send("evidence", **fields, value=plain.copy(value))


def _too_large(name: str, limit_bytes: int) -> Mismatch:
    return Mismatch(text("evidence_too_large", name=name, limit_kib=f"{max(limit_bytes, 0) / 1024:.0f}"))


def _qualified(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class _Refused(Exception):
    """Something in the value can't cross; its place is completed on the way out."""

    def __init__(self, message: str, **values: object) -> None:
        super().__init__(message)
        self.message = message
        self.values = values
        self.place = ""


class _Plain:
    """Copies plain data, counting bytes on the way so that a bomb is met early."""

    def __init__(self, name: str, limit_bytes: int, *, is_numeric: bool) -> None:
        self._name = name
        self._limit_bytes = limit_bytes
        self._left_bytes = limit_bytes
        self._is_numeric = is_numeric

    def copy(self, value: object) -> Any:  # noqa: ANN401  plain data, once checked
        """Return a copy of exact types only.

        Raises:
            Mismatch: something in it is not plain data; the message names its path and type.
        """
        __tracebackhide__ = True
        try:
            return self._take(value, 0)
        except _Refused as refused:
            path = (self._name + refused.place)[:PATH_CHARACTERS]
            raise Mismatch(text(refused.message, path=path, **refused.values)) from None

    def _take(self, value: Any, depth: int) -> Any:  # noqa: ANN401  plain data, once checked
        kind = type(value)
        if kind is int:
            self._spend(2 + value.bit_length() // 3)
            if value.bit_length() > LONGEST_BITS:
                raise _Refused("evidence_number")
            return value
        if kind is float:
            self._spend(20)
            return value
        if kind is list or kind is tuple:
            return self._take_items(value, depth)
        if self._is_numeric:
            raise _not_plain(value)
        if kind is str:
            self._spend(3 + (1 if value.isascii() else 6) * len(value))
        elif kind is dict:
            return self._take_dict(value, depth)
        elif value is not None and kind is not bool:
            raise _not_plain(value)
        self._spend(2)
        return value

    def _take_items(self, value: Sequence[Any], depth: int) -> list[Any]:
        copied: list[Any] = []
        self._descend(depth)
        try:
            for item in value:
                copied.append(self._take(item, depth + 1))
        except _Refused as refused:
            refused.place = f"[{len(copied)}]{refused.place}"
            raise
        return copied

    def _take_dict(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        self._descend(depth)
        for key, item in value.items():
            if type(key) is not str:
                raise _Refused("evidence_key", type=_qualified(key))
            self._spend(4 + len(key))
            try:
                copied[key] = self._take(item, depth + 1)
            except _Refused as refused:
                refused.place = (f".{key}" if key.isidentifier() else f"[{key!r}]") + refused.place
                raise
        return copied

    def _descend(self, depth: int) -> None:
        self._spend(2)
        if depth > DEEPEST:
            raise _Refused("evidence_deep")

    def _spend(self, size_bytes: int) -> None:
        self._left_bytes -= size_bytes
        if self._left_bytes < 0:
            raise _too_large(self._name, self._limit_bytes)


def _not_plain(value: object) -> _Refused:
    """Refuse a value, with the plain type that would do as a word of the message."""
    plain = next(
        (plain.__name__ for plain in (bool, int, float, str, list, tuple, dict) if isinstance(value, plain)), ""
    )
    name = type(value).__name__
    plain = plain or next(
        (sign for sign in ("bool", "int", "float", "str") if sign in name), "int / float / str / list"
    )
    return _Refused("evidence_type", type=_qualified(value), plain=plain)


def _tensor(torch: ModuleType, value: Any, name: str, limit_bytes: int) -> tuple[dict[str, Any], bytes]:  # noqa: ANN401  torch is never imported here
    """Return dtype and shape, and the bytes in row-major order."""
    __tracebackhide__ = True
    if type(value) is not torch.Tensor:
        raise Mismatch(text("evidence_tensor_type", name=name, type=_qualified(value)))
    if value.layout is not torch.strided or value.is_quantized or value.device.type == "meta":
        raise Mismatch(text("evidence_tensor_layout", name=name, layout=str(value.layout), device=str(value.device)))
    if value.numel() * value.element_size() > limit_bytes:
        raise _too_large(name, limit_bytes)
    plain = value.detach().resolve_conj().resolve_neg().to("cpu").contiguous()
    size_bytes = plain.numel() * plain.element_size()
    # No numpy needed, and no view for the dtypes that it lacks: bfloat16, float8.
    blob = ctypes.string_at(plain.data_ptr(), size_bytes) if size_bytes else b""
    return {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}, blob
