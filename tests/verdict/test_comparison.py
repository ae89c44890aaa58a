"""Where two pieces of evidence part."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.models.record import Evidence, Tensor
from judge.verdict.comparison import find_difference
from tests.verdict.records import evidence

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def close(value: object) -> Evidence:
    """Return evidence with a tolerance of 1 %."""
    return evidence("a", value, mode="close", rtol=0.01)


@given(PLAIN)
def test_a_value_equals_itself(value):
    """No value differs from itself, NaN included."""
    assert find_difference(evidence("a", value), evidence("a", value)) is None


@given(PLAIN)
def test_a_value_equals_one_that_is_only_written_otherwise(value):
    """Zero has two signs and a dict any order: such values are walked through, and no difference is found."""
    expected = {"a": 0.0, "b": value}
    assert find_difference(evidence("a", expected), evidence("a", {"b": value, "a": -0.0})) is None


@pytest.mark.parametrize(
    ("expected", "actual", "path"),
    [
        pytest.param(1, True, "", id="bool for int"),
        pytest.param(1, 1.0, "", id="float for int"),
        pytest.param([1, 2], [1, 3], "[1]", id="item"),
        pytest.param([1, 2], [1], "", id="length"),
        pytest.param([[1], [2, 3]], [[1], [2, 4]], "[1][1]", id="nested"),
        pytest.param({"a": 1}, {"a": 2}, ".a", id="key"),
        pytest.param({"a": 1}, {"b": 1}, ".a", id="missing key"),
        pytest.param(None, 0, "", id="none"),
        pytest.param([1], "1", "", id="another type"),
        pytest.param(0.1, 0.1000001, "", id="nearly"),
    ],
)
def test_a_difference_is_found_at_its_path(expected, actual, path):
    """The first difference is named by its path."""
    difference = find_difference(evidence("a", expected), evidence("a", actual))
    assert difference is not None
    assert difference.path == path


def test_an_item_is_named_by_its_label():
    """The author's words for a list's item come with its number."""
    expected = evidence("a", [[0, 512], [512, 512]], labels=("malloc(1)", "malloc(2)"))
    difference = find_difference(expected, evidence("a", [[0, 512], [1024, 512]]))
    assert difference == ("[1][0]", "512", "1024", "malloc(2)[0]")


def test_a_tolerance_is_the_oracles():
    """A subject can't widen the tolerance."""
    wide = evidence("a", 2.0, mode="close", rtol=10.0)
    assert find_difference(close(1.0), close(1.009)) is None
    assert find_difference(close(1.0), wide) is not None


@pytest.mark.parametrize(
    "actual",
    [float("nan"), float("inf"), None, "1.0", True],
    ids=["nan", "inf", "none", "text", "bool"],
)
def test_what_is_no_near_number_is_not_close(actual):
    """NaN, infinity and other types are never within a tolerance."""
    assert find_difference(close(1.0), close(actual)) is not None


def tensor(dtype: str, values: list[float], letter: str) -> Tensor:
    """Return a one-dimensional tensor."""
    return Tensor(dtype=dtype, shape=(len(values),), data=struct.pack(f"{len(values)}{letter}", *values))


@pytest.mark.parametrize(("dtype", "letter"), [("float32", "f"), ("float16", "e"), ("int64", "q"), ("uint8", "B")])
def test_a_tensor_differs_at_an_index(dtype, letter):
    """The first differing element is named by its index, with both values."""
    difference = find_difference(
        evidence("a", tensor(dtype, [1, 2, 3], letter)), evidence("a", tensor(dtype, [1, 2, 4], letter))
    )
    assert difference is not None
    assert (difference.path, float(difference.expected), float(difference.actual)) == ("[2]", 3.0, 4.0)


def test_bfloat16_is_read_as_numbers():
    """Elements of bfloat16 are the upper halves of float32."""
    one, two = (struct.pack("f", value)[2:] for value in (1.0, 2.0))
    left, right = (Tensor(dtype="bfloat16", shape=(1,), data=data) for data in (one, two))
    assert find_difference(evidence("a", left), evidence("a", right)) == ("[0]", "1.0", "2.0", "")


def test_a_tensor_of_another_shape_or_dtype_differs():
    """Shape, dtype and number of bytes come before the elements."""
    left = tensor("float32", [1, 2], "f")
    for other in (
        tensor("float32", [1], "f"),
        tensor("int32", [1, 2], "i"),
        Tensor(dtype="float32", shape=(2,), data=b"\0"),
        [1.0, 2.0],
    ):
        assert find_difference(evidence("a", left), evidence("a", other)) is not None


def test_close_tensors_are_compared_by_value():
    """Tensors within the tolerance are equal."""
    left, right = tensor("float32", [1.0, 100.0], "f"), tensor("float32", [1.001, 100.5], "f")
    assert find_difference(close(left), close(right)) is None
    assert find_difference(close(left), close(tensor("float32", [1.0, 102.0], "f"))) is not None
