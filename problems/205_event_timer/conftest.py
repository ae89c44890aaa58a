"""What the tests of this problem share: work whose length is known, and checks of what the timer says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest
import torch

Pair = tuple[str, str]

UNIT_CYCLES = 1_000_000
"""Some 500 µs of a GPU: long beside a launch, on a real one, too."""
TOLERANCE = 0.12
"""Of a sample, relative; a real GPU's clock is not steady."""

LOOK_SAMPLES: Pair = (
    "On which stream do the events stand, and what stands between them there? Draw the queue of one repetition, from "
    "what was queued before to the event at its end.",
    "事件在哪个流上，那里两个事件之间排着什么？把一次重复的队列画出来：从之前排着的工作，到末尾的事件。",
)
LOOK_HOST: Pair = (
    "A call returns when its work has been queued. The host's clock tells how long the queueing takes; what tells on "
    "the device that work is over?",
    "调用在工作排入之后就返回。主机的时钟量到的是排队的时间；在设备上，靠什么知道工作已经做完？",
)
LOOK_UNITS: Pair = ("elapsed_time() gives milliseconds.", "elapsed_time() 给出的是毫秒。")


class Bench:
    """Work whose length is known, and checks of what the solution's timer says of it.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        time_us: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, time_us: Any) -> None:
        self.solution = solution
        self.expect = expect
        self.evidence = evidence
        for _ in range(2):  # a clock at rest has to speed up first
            unit_us = time_us(lambda: self.work(4)) / 4
        self.unit_us = unit_us

    def work(self, units: float, stream: Any = None) -> None:
        """Queue work of a known length.

        Args:
            units: its length, in units of ``unit_us``.
            stream: where; the current one if left out.
        """
        with torch.cuda.stream(stream):
            torch.cuda._sleep(int(UNIT_CYCLES * units))

    def measure(self, call: Callable[[], object], **options: Any) -> Any:
        """Return what the solution says, if it has the form of an answer."""
        __tracebackhide__ = True
        caller = torch.cuda.current_stream()
        timing = self.solution.measure(call, **options)
        name = type(timing).__name__
        what = (f"measure() returned {name}", f"measure() 返回了 {name}")
        self.expect.true(isinstance(timing, self.solution.Timing), what, expected="Timing", actual=name)
        what = ("After measure() another stream is current", "measure() 之后，当前流变了")
        self.expect.true(torch.cuda.current_stream() == caller, what)
        kinds = {
            "samples_us": type(timing.samples_us).__name__,
            "items": "/".join(sorted({type(sample).__name__ for sample in timing.samples_us})),
            "median_us": type(timing.median_us).__name__,
            "floor_us": type(timing.floor_us).__name__,
        }
        wanted = {"samples_us": "tuple", "items": "float", "median_us": "float", "floor_us": "float"}
        self.expect.equal(kinds, wanted, ("Timing holds values of other types", "Timing 里的值类型不对"))
        return timing

    def check(self, timing: Any, units: Sequence[float], look: Pair = LOOK_SAMPLES) -> None:
        """Fail unless the samples are as long as the work was; and write them down in units.

        Args:
            timing: what the solution said.
            units: of each repetition.
            look: what to look at.
        """
        __tracebackhide__ = True
        what = ("The number of samples is not that of the repetitions", "样本数与重复次数不符")
        self.expect.equal(len(timing.samples_us), len(units), what)
        for number, (sample_us, length) in enumerate(zip(timing.samples_us, units, strict=True)):
            wanted_us = length * self.unit_us
            if abs(sample_us - wanted_us) > TOLERANCE * wanted_us:
                what = (
                    f"Repetition {number} took {length:g} units of the device, and the timer says otherwise",
                    f"第 {number} 次重复在设备上用了 {length:g} 个单位，计时器却不这么说",
                )
                self.expect.fail(
                    what, f"{wanted_us:.0f} us", f"{sample_us:.0f} us", self._guess(sample_us, wanted_us, look)
                )
        self.evidence.exact("samples", [round(sample_us / self.unit_us) for sample_us in timing.samples_us])

    @staticmethod
    def _guess(sample_us: float, wanted_us: float, look: Pair) -> Pair:
        """Return what to look at, by how far off a sample is."""
        if abs(sample_us * 1e3 - wanted_us) <= TOLERANCE * wanted_us:
            return LOOK_UNITS
        return LOOK_HOST if look is LOOK_SAMPLES and sample_us < wanted_us / 10 else look


@pytest.fixture
def bench(solution: ModuleType, expect: Any, evidence: Any, time_us: Any) -> Bench:
    """Return a bench for the solution's timer."""
    return Bench(solution, expect, evidence, time_us)


@pytest.fixture
def side_streams() -> list[Any]:
    """Return two streams; their priority keeps them apart from those that ``Stream()`` gives."""
    return [torch.cuda.Stream(priority=-1), torch.cuda.Stream(priority=-1)]
