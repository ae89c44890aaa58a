"""What ``expect`` says of tensors, inputs, order and waits."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest
import torch

from judge.devices.sim.sites import Site
from judge.harness.expect import Mismatch
from judge.harness.expect_device import DeviceExpect
from judge.instruments.instruments import Watch
from judge.instruments.observation import Observation, Race, Sync, Touch

expect = DeviceExpect()
OWN, TEST = Site("my.py", 7, "run"), Site("test_it.py", 40, "test_it")


@pytest.fixture(autouse=True)
def solution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for a loaded solution whose lines are those of my.py."""
    module = ModuleType("solution")
    module.__spec__ = ModuleSpec("solution", None, origin="<my.py>", loader_state="my.py")
    monkeypatch.setitem(sys.modules, "solution", module)


class Seen:
    """Instruments that saw what a test says."""

    is_watching = False

    def __init__(self, seen: Observation) -> None:
        self._seen = seen

    def start(self) -> None:
        """Begin."""

    def stop(self) -> Observation:
        """Return what was seen."""
        return self._seen


def watch(**seen: Any) -> Watch:
    """Return a watch whose block is over."""
    with Watch(Seen(Observation("sim", "H200", **seen))) as watched:  # type: ignore[arg-type]  # as much as is used
        pass
    return watched


def race(first: Site, second: Site) -> Race:
    """Return a race between two lines."""
    touches = Touch("copy h2d", first, "copy"), Touch("mm", second, "default")
    missing, advice = {"en": "no wait", "zh": "没有等待"}, {"en": "wait at line 7", "zh": "在第 7 行等待"}
    return Race("read-after-write", *touches, missing, advice)


def numbers() -> Iterator[int]:
    """Yield nothing."""
    yield from ()


@pytest.mark.parametrize(
    ("answer", "what", "look"),
    [
        ([1], "run() is a list", ".tolist()"),
        ((torch.zeros(2),), "run() is a tuple", "comma"),
        (1, "run() is a int", ".item()"),
        (None, "run() is a NoneType", "`return`"),
        (numbers(), "run() is a generator", "generator"),
        ({}, "run() is a dict", "the tensor itself"),
        (torch.zeros(2, device="meta"), "run() lies on the wrong device", "Where should it be copied"),
        (torch.zeros(2, dtype=torch.float64), "run() has the wrong dtype", "dtype"),
        (torch.zeros(2, 1), "run() has the wrong shape", "keepdim"),
    ],
    ids=["list", "tuple", "number", "nothing", "generator", "other", "device", "dtype", "shape"],
)
def test_a_slip_is_named(answer: object, what: str, look: str) -> None:
    """What it is instead, and how that usually comes about."""
    with pytest.raises(Mismatch) as caught:
        expect.tensor(answer, "run()", dtype=torch.float32, shape=(2,), device="cpu")
    assert what in caught.value.what["en"]
    assert look in (caught.value.look or {})["en"]


def test_a_tensor_as_wanted_is_handed_on() -> None:
    """Anything that is not asked for may be as it is."""
    answer = torch.zeros(2, 3)
    assert answer is expect.tensor(answer, "run()", dtype=torch.float32, shape=[2, 3], device="cpu")
    assert answer is expect.tensor(answer, "run()")


def test_inputs_that_stay_are_fine() -> None:
    """NaN equals itself here, and strides do not matter."""
    with expect.unchanged(x=torch.tensor([math.nan, 1.0]), y=torch.zeros(2, 3).t(), z=torch.zeros(0)):
        pass


@pytest.mark.parametrize("value", [-0.0, 2.0, math.nan], ids=["sign", "value", "nan"])
def test_an_input_that_was_changed_is_named(value: float) -> None:
    """To the last bit."""
    x, y = torch.zeros(2), torch.zeros(2)
    with pytest.raises(Mismatch, match="logits was changed"), expect.unchanged(mask=y, logits=x):
        x[1] = value


def test_an_exception_in_the_block_goes_first() -> None:
    """It says more than that a value changed."""
    x = torch.zeros(2)
    with pytest.raises(RuntimeError, match="shape"), expect.unchanged(x=x):
        x.fill_(1.0).view(3)


def test_what_is_ordered_and_does_not_wait_is_fine() -> None:
    """Nothing was seen."""
    expect.ordered(watch())
    expect.waits(watch())


def test_a_race_between_the_learners_lines_brings_its_advice() -> None:
    """Both sides by line, and what to write."""
    with pytest.raises(Mismatch) as caught:
        expect.ordered(watch(races=(race(OWN, OWN),)))
    found = caught.value
    assert "before what was to be written" in found.what["en"]
    assert {"en": "wait at line 7", "zh": "在第 7 行等待"} == found.look
    assert found.picture is not None
    assert ["copy h2d  copy  your line 7", "mm  default  your line 7", "  no wait"] == found.picture["en"].splitlines()
    assert "copy h2d  copy  你的第 7 行" == found.picture["zh"].splitlines()[0]


def test_advice_that_names_a_line_of_the_test_is_left_out() -> None:
    """A learner does not see the test's lines."""
    with pytest.raises(Mismatch) as caught:
        expect.ordered(watch(races=(race(OWN, TEST),)), what=("It races.", "竞争。"))
    assert "It races." == caught.value.what["en"]
    assert "wait_stream" in (caught.value.look or {})["en"]
    assert "mm  default  the test's code" in (caught.value.picture or {})["en"]


def test_waits_are_counted_by_line() -> None:
    """The most frequent one comes first."""
    syncs = [Sync("item", "Tensor.item", OWN, "default", at, 1.0) for at in (1.0, 2.0)]
    syncs.append(Sync("copy_d2h", "Tensor.cpu", TEST, "default", 3.0, 1.0))
    with pytest.raises(Mismatch) as caught:
        expect.waits(watch(syncs=tuple(syncs)), most=1)
    found = caught.value
    assert ("≤ 1", "3") == (found.expected, found.actual)
    assert found.picture is not None
    assert ["2 x  my.py:7  Tensor.item", "1 x  test_it.py:40  Tensor.cpu"] == found.picture["en"].splitlines()
    expect.waits(watch(syncs=tuple(syncs)), most=3)
