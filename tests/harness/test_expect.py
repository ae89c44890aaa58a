"""What the fixture ``expect`` accepts, and how it tells a difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch

from judge.harness.expect import Expect, Mismatch

WHAT = ("The blocks are off.", "块不对。")
LOOK = ("Was it merged?", "合并了吗？")
expect = Expect()


class Pair(NamedTuple):
    """Two numbers."""

    addr: int
    size: int


@dataclass
class Agreeable:
    """Equal to everything, so it says."""

    answer: object = 1

    def __eq__(self, other: object) -> bool:
        return self.answer  # type: ignore[return-value]  # it lies

    __hash__ = None  # type: ignore[assignment]  # as Python does


def sides(actual: object, expected: object) -> tuple[str | None, str | None]:
    """Return (expected, actual) of the mismatch."""
    with pytest.raises(Mismatch) as caught:
        expect.equal(actual, expected, WHAT, LOOK)
    return caught.value.expected, caught.value.actual


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (1, 1),
        ([1, (2, "x")], [1, (2, "x")]),
        ({"a": [1.5, None]}, {"a": [1.5, None]}),
        (math.nan, math.nan),
        (Pair(1, 2), Pair(1, 2)),
        (torch.tensor([1.0, math.nan]), torch.tensor([1.0, math.nan])),
        ([torch.tensor([1])], [torch.tensor([1])]),
        ({1, 2}, {2, 1}),
    ],
    ids=repr,
)
def test_equal_values_pass(actual: object, expected: object) -> None:
    """Equal in value and type, all the way down."""
    expect.equal(actual, expected, WHAT)


@pytest.mark.parametrize(
    ("actual", "expected", "shown"),
    [
        pytest.param(4096, 512, ("512", "4096"), id="numbers"),
        pytest.param(True, 1, ("1 (int)", "True (bool)"), id="bool for int"),
        pytest.param(1.0, 1, ("1 (int)", "1.0 (float)"), id="float for int"),
        pytest.param((1, 2), [1, 2], ("[1, 2] (list)", "(1, 2) (tuple)"), id="tuple for list"),
        pytest.param(Pair(1, 2), (1, 2), ("(1, 2) (tuple)", "Pair(addr=1, size=2) (Pair)"), id="named tuple"),
        pytest.param([1, 2], [1, 3], ("[1, 3]", "[1, 2]"), id="short list"),
        pytest.param(None, 0, ("0 (int)", "None (NoneType)"), id="none"),
        pytest.param([0] * 99 + [7], [0] * 100, ("[99] = 0", "[99] = 7"), id="place in a long list"),
        pytest.param([[0] * 99, [1.0]], [[0] * 99, [1]], ("[1][0] = 1 (int)", "[1][0] = 1.0 (float)"), id="type"),
        pytest.param([0] * 99, [0] * 100, ("len = 100", "len = 99"), id="length"),
        pytest.param(
            {"a": [0] * 99, "b": 1}, {"a": [0] * 99, "b": 2}, ("['b'] = 2", "['b'] = 1"), id="place in a dict"
        ),
        pytest.param({"a": 1}, {"b": 1}, ("{'b': 1}", "{'a': 1}"), id="keys"),
    ],
)
def test_a_difference_is_shown_with_its_place(actual: object, expected: object, shown: tuple[str, str]) -> None:
    """Short values stand whole, of long ones only the part that differs."""
    assert shown == sides(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (Agreeable(), 1),
        (Agreeable(), Agreeable()),
        (torch.tensor([1.0]), torch.tensor([1])),
        (torch.tensor([1.0]), torch.tensor([[1.0]])),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0])),
        (torch.tensor([math.nan]), torch.tensor([0.0])),
    ],
    ids=["agreeable", "truthy", "dtype", "shape", "values", "nan"],
)
def test_what_only_claims_to_be_equal_is_not(actual: object, expected: object) -> None:
    """A type's own idea of equality does not help, nor does a truthy answer."""
    with pytest.raises(Mismatch):
        expect.equal(actual, expected, WHAT)


def test_tensors_that_look_alike_show_the_element() -> None:
    """Equal texts would explain nothing."""
    one = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    assert ("[0, 1] = 2.0", "[0, 1] = 2.000000000000001") == sides(
        one * torch.tensor([1, 1 + 5e-16], dtype=torch.float64), one
    )


def test_tensors_of_other_dtypes_show_the_dtype() -> None:
    """A large tensor is told by what differs."""
    expected = (".dtype = torch.int64", ".dtype = torch.int32")
    assert expected == sides(torch.zeros(1000, dtype=torch.int32), torch.zeros(1000, dtype=torch.int64))


def test_a_mismatch_carries_everything_an_author_gave() -> None:
    """Sentences in both languages, and a place to look."""
    with pytest.raises(Mismatch) as caught:
        expect.true(0, WHAT, LOOK, expected=2, actual="three")
    found = caught.value
    assert {"en": WHAT[0], "zh": WHAT[1]} == found.what
    assert {"en": LOOK[0], "zh": LOOK[1]} == found.look
    assert ("2", "three") == (found.expected, found.actual)


@pytest.mark.parametrize(
    ("picture", "kept"),
    [("[##..]", {"en": "[##..]", "zh": "[##..]"}), (("used", "已用"), {"en": "used", "zh": "已用"}), (None, None)],
    ids=["one for both", "a pair", "none"],
)
def test_a_picture_speaks_both_languages(picture: object, kept: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has words is a pair, like a sentence; plain pytest shows the reader's."""
    with pytest.raises(Mismatch) as caught:
        expect.fail(WHAT, picture=picture)
    assert kept == caught.value.picture
    monkeypatch.setenv("TACIT_LANG", "zh")
    assert (kept["zh"] if kept else "块不对。") == str(caught.value).splitlines()[-1]


def test_a_mismatch_reads_well_in_plain_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text has the same parts, in the reader's language."""
    monkeypatch.setenv("TACIT_LANG", "zh")
    with pytest.raises(Mismatch) as caught:
        expect.fail(WHAT, 1, 2, LOOK)
    assert "块不对。\n  应为: 1\n  实际: 2\n合并了吗？" == str(caught.value)


def test_the_expected_exception_is_returned() -> None:
    """A subclass will do."""
    raised = expect.raises(ArithmeticError, lambda: 1 // 0, WHAT)
    assert ZeroDivisionError is type(raised)


def test_another_exception_is_a_mismatch_with_its_cause() -> None:
    """Both names are shown; the learner's frames are in the cause."""
    with pytest.raises(Mismatch) as caught:
        expect.raises(ValueError, lambda: {}["x"], WHAT)
    assert ("ValueError", "KeyError: 'x'") == (caught.value.expected, caught.value.actual)
    assert isinstance(caught.value.__cause__, KeyError)


def test_no_exception_is_a_mismatch_with_what_was_returned() -> None:
    """The value that came back is shown."""
    with pytest.raises(Mismatch) as caught:
        expect.raises(ValueError, lambda: [1], WHAT)
    assert ("ValueError", "return [1]") == (caught.value.expected, caught.value.actual)


def test_a_hole_stays_a_hole() -> None:
    """NotImplementedError is not taken for a wrong exception."""

    def hole() -> None:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        expect.raises(ValueError, hole, WHAT)
