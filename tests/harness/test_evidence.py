"""What a test may record, and what is refused with a word to the learner."""

from __future__ import annotations

import struct
from collections import OrderedDict, namedtuple
from enum import IntEnum
from typing import Any

import pytest
import torch

from judge.harness.channel import Sink
from judge.harness.evidence import Evidence
from judge.harness.expect import Mismatch

Record = tuple[dict[str, Any], bytes]


class Kept:
    """Sink that keeps what it is given."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.sent_bytes = 0

    def send(self, kind: str, blob: bytes = b"", **fields: object) -> None:
        """Keep the record."""
        self.records.append(({"kind": kind, **fields}, blob))


def record(value: object, mode: str = "exact", limit_bytes: int = 1 << 20, **more: Any) -> Record:
    """Return what recording ``value`` sends."""
    sink = Kept()
    evidence = Evidence(sink, "test_a.py::test_b", limit_bytes)
    getattr(evidence, mode)("answer", value, **more)
    (sent,) = sink.records
    return sent


def refusal(value: object, mode: str = "exact", limit_bytes: int = 1 << 20) -> str:
    """Return why ``value`` is refused."""
    with pytest.raises(Mismatch) as caught:
        record(value, mode, limit_bytes)
    return caught.value.what["en"]


Pair = namedtuple("Pair", "addr size")


class Colour(IntEnum):
    """A subclass of int."""

    RED = 1


class Text(str):
    """A subclass of str."""

    __slots__ = ()


class Lazy(torch.Tensor):
    """A subclass of a tensor."""


def test_a_kept_sink_is_a_sink() -> None:
    """The stand-in has the real one's shape."""
    sink: Sink = Kept()
    assert 0 == sink.sent_bytes


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (-1.5, -1.5),
        ("块", "块"),
        ([1, (2.0, "x")], [1, [2.0, "x"]]),
        ({"a": [None], "b": {}}, {"a": [None], "b": {}}),
        (1 << 300, 1 << 300),
    ],
    ids=repr,
)
def test_plain_data_is_copied(value: object, sent: object) -> None:
    """Exact types cross; tuples become lists, as JSON has them."""
    fields, blob = record(value)
    assert (sent, b"") == (fields["value"], blob)
    assert type(sent) is type(fields["value"])


def test_labels_travel_with_the_list() -> None:
    """Each item can be named by the parent."""
    assert ["malloc(512)", "free(1)"] == record([1, 2], labels=["malloc(512)", "free(1)"])[0]["labels"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([{"addr": 1}, {"addr": Colour.RED}], "`answer[1].addr` is test_evidence.Colour; return a plain int."),
        ([Text("x")], "`answer[0]` is test_evidence.Text; return a plain str."),
        (Pair(1, 2), "`answer` is test_evidence.Pair; return a plain tuple."),
        (OrderedDict(), "`answer` is collections.OrderedDict; return a plain dict."),
        ({1: 2}, "A key of `answer` is int; keys must be plain str."),
        ({"a b": object()}, "`answer['a b']` is object; return a plain int / float / str / list."),
        ([1 + 2j], "`answer[0]` is complex; return a plain int / float / str / list."),
        (b"x", "`answer` is bytes; return a plain int / float / str / list."),
        ([torch.zeros(1)], "`answer[0]` is torch.Tensor; return a plain int / float / str / list."),
        (1 << 100_000, "`answer` is a number of more than 3,000 digits."),
        (torch.nn.Parameter(torch.zeros(1)), "`answer` is torch.nn.parameter.Parameter, a subclass; return a plain"),
        (torch.zeros(1).as_subclass(Lazy), "`answer` is test_evidence.Lazy, a subclass; return a plain torch.Tensor."),
        (torch.zeros(2).to_sparse(), "`answer` has layout torch.sparse_coo on cpu; return a dense tensor"),
        (torch.zeros(2, device="meta"), "`answer` has layout torch.strided on meta; return a dense tensor"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_not_plain_is_refused_by_path_and_type(value: object, said: str) -> None:
    """The message tells the learner which item to change."""
    assert refusal(value).replace("tests.harness.", "").startswith(said)


def test_a_list_that_contains_itself_is_refused() -> None:
    """A cycle does not end in a recursion error of the judge's."""
    endless: list[object] = []
    endless.append(endless)
    assert refusal(endless).endswith("is nested too deeply, or contains itself.")


@pytest.mark.parametrize("value", [[0] * 10_000, ["x" * 2000] * 10, {"k" * 9000: 1, "j" * 9000: 2}, torch.zeros(9999)])
def test_too_much_is_refused_before_it_is_copied(value: object) -> None:
    """What is left of the run's limit is named."""
    assert "`answer` is too large to be compared: 15 KiB are left" in refusal(value, limit_bytes=16 << 10)


def test_a_list_of_tensors_is_a_record_each() -> None:
    """Of any shapes and dtypes; how many there are comes first."""
    sink = Kept()
    tensors = [torch.ones(2), torch.zeros(1, 3, dtype=torch.float16), torch.zeros(0)]
    Evidence(sink, "t", 1 << 20).tensors("outputs", tensors, labels=["run(2)", "run(3)"])
    fields = [sent for sent, _ in sink.records]
    assert ["len(outputs)", "outputs[0] run(2)", "outputs[1] run(3)", "outputs[2]"] == [one["name"] for one in fields]
    assert 3 == fields[0]["value"]
    assert ["exact"] * 4 == [one["mode"] for one in fields]
    assert [[2], [1, 3], [0]] == [one["tensor"]["shape"] for one in fields[1:]]
    assert [8, 6, 0] == [len(blob) for _, blob in sink.records[1:]]


def test_what_is_no_tensor_among_tensors_is_named() -> None:
    """By its place; with a tolerance, too."""
    with pytest.raises(Mismatch, match=r"outputs\[1\]"):
        Evidence(Kept(), "t", 1 << 20).tensors("outputs", [torch.ones(2), object()], rtol=1e-3)


def test_all_evidence_of_a_run_shares_one_limit() -> None:
    """What was sent before counts."""
    sink = Kept()
    sink.sent_bytes = 1 << 20
    with pytest.raises(Mismatch, match="too large"):
        Evidence(sink, "test", 1 << 20).exact("answer", 1)


@pytest.mark.parametrize("value", [True, None, "1", {"a": 1}, [1, False]], ids=repr)
def test_only_numbers_are_close(value: object) -> None:
    """What has no distance can't be close."""
    assert "return a plain" in refusal(value, "close")


def test_tolerances_travel() -> None:
    """The parent compares within them."""
    fields, _ = record([1.0, [2]], "close", rtol=0.1, atol=0.5)
    assert ("close", 0.1, 0.5, [1.0, [2]]) == (fields["mode"], fields["rtol"], fields["atol"], fields["value"])


@pytest.mark.parametrize(
    ("tensor", "dtype", "blob"),
    [
        (torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "float32", struct.pack("4f", 1, 2, 3, 4)),
        (torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t(), "float32", struct.pack("4f", 1, 3, 2, 4)),
        (torch.arange(6)[2:5], "int64", struct.pack("3q", 2, 3, 4)),
        (torch.tensor(True), "bool", b"\x01"),
        (torch.tensor([1.0, -2.0], dtype=torch.bfloat16), "bfloat16", b"\x80\x3f\x00\xc0"),
        (torch.tensor([1.0], dtype=torch.float8_e4m3fn), "float8_e4m3fn", b"\x38"),
        (torch.tensor([1 + 2j]).conj(), "complex64", struct.pack("2f", 1, -2)),
        (torch.tensor([1 + 2j]).conj().imag, "float32", struct.pack("f", -2)),
        (torch.zeros(2, 0), "float32", b""),
        (torch.ones(1, requires_grad=True) * 2, "float32", struct.pack("f", 2)),
        (torch.tensor([7], dtype=torch.uint8).expand(3), "uint8", b"\x07\x07\x07"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_a_tensor_is_its_bytes(tensor: torch.Tensor, dtype: str, blob: bytes) -> None:
    """Row-major bytes, whatever the strides; with every dtype."""
    fields, sent = record(tensor)
    assert {"dtype": dtype, "shape": list(tensor.shape)} == fields["tensor"]
    assert blob == sent
