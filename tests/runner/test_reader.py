"""Records from a child are capped, parsed and distrusted."""

from __future__ import annotations

import pytest

from judge.models.record import Tensor
from judge.models.wire import HEADER, encode_frame
from judge.runner.reader import RecordReader

STARTED = encode_frame({"kind": "started", "test": "test_x.py::a"})


def read(*chunks: bytes, limit_bytes: int = 1 << 20) -> RecordReader:
    """Return a reader that was fed these bytes."""
    reader = RecordReader(limit_bytes)
    for chunk in chunks:
        reader.feed(chunk)
    return reader


def test_frames_may_arrive_in_any_pieces():
    """Bytes are put together again wherever they were cut."""
    reader = read(*(STARTED[at : at + 1] for at in range(len(STARTED))))
    assert (reader.running_test, reader.fault) == ("test_x.py::a", None)


def test_a_tensor_comes_as_raw_bytes():
    """Evidence that is a tensor carries its bytes beside the JSON."""
    record = {"kind": "evidence", "test": "a", "name": "x", "mode": "exact", "tensor": {"dtype": "uint8", "shape": [2]}}
    reader = read(encode_frame(record, b"\x01\x02"))
    assert reader.fault is None
    assert reader.evidence[0].value == Tensor(dtype="uint8", shape=(2,), data=b"\x01\x02")


def test_lone_surrogates_become_their_escapes():
    """JSON may escape what is no text; it is shown as an escape."""
    record = {"kind": "evidence", "test": "a", "name": "x", "mode": "exact", "value": ["\ud800", "plain"]}
    assert read(encode_frame(record)).evidence[0].value == ["\\ud800", "plain"]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(HEADER.pack(1 << 31, 0), id="huge JSON"),
        pytest.param(HEADER.pack(3, 0) + b"{]}", id="no JSON"),
        pytest.param(HEADER.pack(200_000, 0) + b"[" * 100_000 + b"]" * 100_000, id="deep JSON"),
        pytest.param(HEADER.pack(5002, 0) + b"[" + b"9" * 5000 + b"]", id="no object, huge number"),
        pytest.param(encode_frame({"kind": "invented"}), id="unknown kind"),
        pytest.param(encode_frame({"kind": "__class__"}), id="name of an attribute"),
        pytest.param(encode_frame({"kind": "finished", "test": "a"}), id="missing fields"),
        pytest.param(encode_frame({"kind": "finished", "test": "a", "status": "best", "duration_s": 1}), id="status"),
        pytest.param(encode_frame({"kind": "collected", "tests": 3}), id="wrong type"),
        pytest.param(encode_frame({"kind": "done", "exit_code": 0}) + STARTED, id="after the end"),
        pytest.param(b"not ours at all, but long enough", id="noise"),
    ],
)
def test_what_is_no_record_ends_the_reading(data):
    """A malformed record is a fault in words, never an exception, and what follows does not count."""
    reader = read(data, encode_frame({"kind": "started", "test": "later"}))
    assert reader.fault
    assert reader.running_test != "later"


def test_the_amount_is_capped():
    """More bytes than the limit end the reading."""
    assert "limit" in (read(STARTED * 100, limit_bytes=1000).fault or "")
