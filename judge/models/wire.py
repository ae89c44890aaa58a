"""How records cross from a child process to its parent: frames of JSON and raw bytes.

A frame is ``length of JSON (u32) | length of blob (u32) | JSON | blob``, big-endian. Nothing is ever
pickled. This module needs only the standard library: it is imported in the learner's process too.

Records, by their ``kind``, in the order in which a child sends them:

=========== =====================================================================================
hello       ``device``, ``versions``
warning     ``diagnostic``: does not change the status
load_failed ``status``, ``diagnostic``: nothing more follows but ``done``
collected   ``tests``: list of test cases (:class:`judge.models.record.TestCase`)
started     ``test``
evidence    ``test``, ``name``, ``mode``, ``labels``, ``rtol``, ``atol``; ``value``, or ``tensor`` with
            ``dtype`` and ``shape`` and its bytes as the blob
measurement fields of :class:`judge.models.record.Measurement`
finished    fields of :class:`judge.models.record.TestOutcome`
done        ``exit_code`` of pytest
=========== =====================================================================================
"""

from __future__ import annotations

import json
import struct
from typing import Any

HEADER = struct.Struct(">II")
MAX_JSON_BYTES = 32 << 20


class BrokenFrame(ValueError):
    """The bytes are no frame."""


def encode_frame(record: dict[str, Any], blob: bytes = b"") -> bytes:
    """Return one frame; ``record`` must be plain JSON data. ASCII escapes let lone surrogates through."""
    text = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return HEADER.pack(len(text), len(blob)) + text + blob


def decode_frame(buffer: bytes | bytearray, start: int = 0) -> tuple[dict[str, Any], bytes, int] | None:
    """Return (record, blob, end) of the frame at ``start``, or ``None`` when it is not whole yet.

    Raises:
        BrokenFrame: the JSON part is too large, is not JSON, or is not an object with a ``kind``.
    """
    if len(buffer) - start < HEADER.size:
        return None
    json_bytes, blob_bytes = HEADER.unpack_from(buffer, start)
    if json_bytes > MAX_JSON_BYTES:
        raise BrokenFrame(f"a record of {json_bytes} bytes is over the limit of {MAX_JSON_BYTES}")
    text_at = start + HEADER.size
    end = text_at + json_bytes + blob_bytes
    if len(buffer) < end:
        return None
    try:
        record = json.loads(bytes(buffer[text_at : text_at + json_bytes]))
    except (ValueError, RecursionError) as fault:
        raise BrokenFrame(f"a record is not JSON: {fault}") from fault
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise BrokenFrame("a record has no kind")
    return record, bytes(buffer[text_at + json_bytes : end]), end
