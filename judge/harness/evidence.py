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
        self._sink.send("evidence", **fields, value=plain.take(value, name, 0))


def _too_large(name: str, limit_bytes: int) -> Mismatch:
    return Mismatch(text("evidence_too_large", name=name, limit_kib=f"{max(limit_bytes, 0) / 1024:.0f}"))


def _qualified(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class _Plain:
    """Copies plain data, counting bytes on the way so that a bomb is met early."""

    def __init__(self, name: str, limit_bytes: int, *, is_numeric: bool) -> None:
        self._name = name
        self._limit_bytes = limit_bytes
        self._left_bytes = limit_bytes
        self._is_numeric = is_numeric

    def take(self, value: Any, path: str, depth: int) -> Any:  # noqa: ANN401  plain data, once checked
        """Return a copy of exact types only.

        Raises:
            Mismatch: something in it is not plain data; the message names its path and type.
        """
        __tracebackhide__ = True
        kind = type(value)
        if kind is list or kind is tuple:
            self._check_depth(path, depth)
            self._spend(2)
            return [self.take(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(value)]
        if kind is dict and not self._is_numeric:
            self._check_depth(path, depth)
            return {self._key(key, path): self.take(item, _below(path, key), depth + 1) for key, item in value.items()}
        if kind is int:
            self._spend(2 + value.bit_length() // 3)
            if value.bit_length() > 10_000:
                raise Mismatch(text("evidence_number", path=path))
            return value
        if kind is float:
            self._spend(20)
            return value
        if not self._is_numeric and (value is None or kind is bool):
            self._spend(5)
            return value
        if not self._is_numeric and kind is str:
            self._spend(3 + len(value) if value.isascii() else 3 + 12 * len(value))
            return value
        raise Mismatch(text("evidence_type", path=path, type=_qualified(value), plain=self._plain_type(value)))

    def _key(self, key: object, path: str) -> str:
        if type(key) is not str:
            raise Mismatch(text("evidence_key", path=path, type=_qualified(key)))
        self._spend(4 + len(key))
        return key

    def _spend(self, size_bytes: int) -> None:
        self._left_bytes -= size_bytes
        if self._left_bytes < 0:
            raise _too_large(self._name, self._limit_bytes)

    def _check_depth(self, path: str, depth: int) -> None:
        if depth > DEEPEST:
            raise Mismatch(text("evidence_deep", path=path[:200]))

    def _plain_type(self, value: object) -> str:
        """Return the exact type that would do, as a word for the message."""
        for plain in (bool, int, float, str, list, tuple, dict):
            if isinstance(value, plain):
                return plain.__name__
        name = type(value).__name__
        for sign, plain_name in (("bool", "bool"), ("int", "int"), ("float", "float"), ("str", "str")):
            if sign in name:
                return plain_name
        return "int / float / str / list"


def _below(path: str, key: object) -> str:
    return f"{path}.{key}" if isinstance(key, str) and key.isidentifier() else f"{path}[{key!r}]"


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
