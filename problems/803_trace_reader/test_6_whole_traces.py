"""Whole traces: some drawn anew for each run, whose truth is known, and one of a real GPU."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support_trace import COPY, LAUNCH, MAIN, OTHER, Recording

GOLDEN = Path(__file__).parent / "goldens" / "h200_step.json"
ORIGIN_US = 5_150_852_397_000
"""What a profiler's clock showed: the times of a trace have as many digits as a float can hold."""
DECADE = 10_000


class Drawing:
    """A trace drawn by chance, together with what is true of it.

    Busy times of the device alternate with gaps. All works of a busy time come from one call; in each, kernels and
    copies overlap by a known time; and each gap before it gets its cause.
    """

    def __init__(self, rng: Random) -> None:
        self.recording = Recording(rng, ORIGIN_US)
        self.busy_ns = self.copied_ns = self.hidden_ns = 0
        self.gaps: list[tuple[int, int, str]] = []
        self.waits: list[tuple[str, int, int]] = []
        self.launches: list[tuple[str, int, int, int]] = []
        self._rng = rng
        self._now = 50_000

    def add(self, cause: str) -> None:
        """Add a gap with that cause, and a busy time behind it. The first gap is none: the device just begins."""
        dry, begin = self._now, self._now + self._rng.randrange(DECADE, 3 * DECADE)
        thread, other = self._rng.sample((MAIN, OTHER), 2)
        if cause == "sync":
            self._wait(dry - self._rng.randrange(3_000), dry + self._rng.randrange(1, 3_000), thread)
        elif self._rng.random() < 0.5:
            self._wait(dry - self._rng.randrange(3_000), dry + self._rng.randrange(1, 3_000), other)
        if cause == "queued":
            called, returned = dry - 9_000, dry - self._rng.randrange(4_000, 8_000)
        else:
            called, returned = dry + self._rng.randrange(4_000, 6_000), begin + self._rng.randrange(-2_000, 2_000)
        name = self._rng.choice((LAUNCH, "cudaGraphLaunch"))
        correlation = 9 if cause == "unknown" else self.recording.call(name, called, returned, thread)
        works = self._work(begin, correlation)
        if self.busy_ns:
            self.gaps.append((self._at(dry), self._at(begin), cause))
        if cause != "unknown":
            self.launches.append((name, self._at(called), works, begin - called))
        self.busy_ns += self._now - begin

    def _work(self, begin: int, correlation: int) -> int:
        """Fill a busy time: kernels up to *shared* and copies from *both* on; return how many works it has."""
        both, shared, end = (begin + it for it in sorted(self._rng.sample(range(10_000, 30_000), 3)))
        copies = [(both, end), *self._pick(both, end)]
        kernels = [(begin, shared), *self._pick(begin, shared)]
        for start, stop in copies:
            self.recording.work(start, stop, correlation, kind="gpu_memcpy", stream=COPY)
        for at, (start, stop) in enumerate(kernels):
            self.recording.work(start, stop, correlation, stream=at)
        self.copied_ns += end - both
        self.hidden_ns += shared - both
        self._now = end
        return len(copies) + len(kernels)

    def _pick(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return some shorter times inside one."""
        count = self._rng.randrange(4)
        return [tuple(sorted(self._rng.choices(range(low, high + 1), k=2))) for _ in range(count)]  # type: ignore[misc]

    def _wait(self, start: int, end: int, thread: int) -> None:
        name = self._rng.choice(("cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize"))
        self.recording.call(name, start, end, thread)
        self.waits.append((name, self._at(start), end - start))

    def _at(self, time: int) -> int:
        return ORIGIN_US * 1000 + time


@pytest.fixture
def drawing(rng: Random) -> Drawing:
    """Return a trace of 80 busy times."""
    drawn = Drawing(rng)
    for _ in range(80):
        drawn.add(rng.choice(("queued", "sync", "launch", "unknown")))
    return drawn


@pytest.mark.weight(3)
def test_a_drawn_trace_is_read_as_it_was_built(drawing: Drawing, reader: Any) -> None:
    """A trace drawn anew for each run is read as what it was built from.

    zh: 每次评测重新随机生成的 trace，读出的结果与构造它时一致。
    """
    trace = drawing.recording.dump()
    reader.busy(trace, drawing.busy_ns)
    reader.waits(trace, sorted(drawing.waits, key=lambda wait: wait[1]))
    reader.gaps(trace, drawing.gaps)
    reader.overlap(trace, (drawing.copied_ns, drawing.hidden_ns))
    reader.launches(trace, sorted(drawing.launches, key=lambda launch: launch[1]))


@pytest.mark.weight(3)
def test_a_step_of_a_real_gpu_is_read(reader: Any) -> None:
    """One step recorded on an H200 is read as by hand.

    zh: H200 上录下的一步，读出的结果与人工核对的一致。
    """
    trace = json.loads(GOLDEN.read_text(encoding="utf-8"))
    start = ORIGIN_US * 1000
    gaps = [
        (74_246, 172_998, "launch"),
        (173_798, 198_438, "launch"),
        (199_206, 218_534, "launch"),
        (219_334, 237_189, "launch"),
        (238_181, 255_046, "launch"),
        (255_846, 462_565, "launch"),
        (463_333, 477_509, "launch"),
        (652_452, 661_828, "queued"),
        (663_428, 926_564, "sync"),
        (1_080_931, 1_081_251, "launch"),
        (1_255_875, 1_295_394, "sync"),
        (1_831_073, 1_989_216, "sync"),
        (1_993_824, 2_096_320, "launch"),
        (2_098_304, 2_227_007, "launch"),
        (2_229_567, 2_881_662, "launch"),
        (2_884_253, 3_016_765, "launch"),
        (3_017_629, 3_017_757, "queued"),
        (3_018_621, 3_018_717, "queued"),
        (3_019_613, 3_019_709, "queued"),
    ]
    waits = [
        ("cudaStreamSynchronize", 597_128, 73_089),
        ("cudaMemcpyAsync", 1_110_100, 703_614),
        ("cudaStreamSynchronize", 1_816_185, 20_769),
        ("cudaEventSynchronize", 2_141_044, 7_368),
        ("cudaStreamSynchronize", 3_063_563, 9_142),
        ("cudaDeviceSynchronize", 3_114_676, 28_486),
        ("cudaDeviceSynchronize", 3_175_232, 6_179),
    ]
    launches = [
        ("cudaLaunchKernel", 32_039, 1, 41_407),
        ("cudaLaunchKernel", 159_956, 1, 13_042),
        ("cudaLaunchKernel", 188_221, 1, 10_217),
        ("cudaLaunchKernel", 209_863, 1, 8_671),
        ("cudaLaunchKernel", 227_684, 1, 9_505),
        ("cudaLaunchKernel", 245_997, 1, 9_049),
        ("cudaMemsetAsync", 443_206, 1, 19_359),
        ("cuLaunchKernelEx", 462_940, 1, 14_569),
        ("cudaMemcpyAsync", 576_287, 1, 85_541),
        ("cudaMemcpyAsync", 909_965, 1, 16_599),
        ("cudaMemsetAsync", 1_044_821, 1, 19_726),
        ("cuLaunchKernelEx", 1_058_988, 1, 22_263),
        ("cudaMemcpyAsync", 1_110_100, 1, 185_294),
        ("cudaLaunchKernel", 1_966_740, 1, 22_476),
        ("cudaMemcpyAsync", 2_080_268, 1, 16_052),
        ("cudaLaunchKernel", 2_206_471, 1, 20_536),
        ("cudaLaunchKernel", 2_857_928, 1, 23_734),
        ("cudaGraphLaunch", 2_976_199, 4, 40_566),
    ]
    reader.busy(trace, 1_062_236)
    reader.waits(trace, [(call, start + at, waited) for call, at, waited in waits])
    reader.gaps(trace, [(start + at, start + end, cause) for at, end, cause in gaps])
    reader.overlap(trace, (693_630, 0))
    reader.launches(trace, [(call, start + at, works, delay) for call, at, works, delay in launches])
