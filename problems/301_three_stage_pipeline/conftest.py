"""What the tests of this problem share: a trial that runs the solution's pipeline, watches it and checks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from support_chunks import Arithmetic, double, sleepy, write_down
from support_races import explain_race
from support_slips import Slips
from torch import Tensor

Pair = tuple[str, str]

LOOK_VALUES: Pair = (
    "Which stage reads these bytes, and what makes it wait until they are there? When is a buffer written again?",
    "哪一级读取这些字节？是什么让它等到数据就绪？缓冲区又是何时被重写的？",
)


class Trial:
    """One run of the pipeline, from the call to the last result, under the instruments.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        watch: the judge's fixture.
        evidence: the judge's fixture.
        device: the judge's fixture.
    """

    def __init__(self, solution: ModuleType, expect: Any, watch: Any, evidence: Any, device: str) -> None:
        self.solution = solution
        self.expect = expect
        self.watch = watch
        self.evidence = evidence
        self.slips = Slips(expect, device)
        self.steps: list[tuple[str, int]] = []
        """``take``, ``compute`` and ``result``, each with the number of the chunk, as they happened."""

    def open(
        self, chunks: Iterable[Tensor], compute: Arithmetic, depth: int, given: list[Tensor] | None = None
    ) -> Iterator[Tensor]:
        """Call the solution; what it hands out is checked on the way.

        Args:
            chunks: what the pipeline gets; each step of taking one is noted.
            compute: what the pipeline gets; its argument is checked.
            depth: as the solution's.
            given: the chunks, where they are known beforehand: compute's argument must be like them.
        """
        __tracebackhide__ = True
        returned = self.solution.run_pipeline(self._note_taking(chunks), self._check_call(compute, given), depth)
        self.slips.check_iterator(returned)
        return self._hand_out(iter(returned))

    def run(
        self,
        chunks: list[Tensor],
        arithmetic: Arithmetic = double,
        depth: int = 3,
        source: Iterable[Tensor] | None = None,
    ) -> list[Tensor]:
        """Run the pipeline to its end, check every result, and write all down as evidence.

        Args:
            chunks: in their order.
            arithmetic: what compute does, behind a kernel that takes its time.
            depth: as the solution's.
            source: what the pipeline gets in place of ``chunks``.

        Returns:
            The tensors that were handed out.
        """
        __tracebackhide__ = True
        copies: list[Tensor] = []
        kept: list[Tensor] = []
        before = [chunk.clone() for chunk in chunks]
        with self.watch() as seen:
            for result in self.open(chunks if source is None else source, sleepy(arithmetic), depth, before):
                copies.append(result.clone())  # read at once: too early, if it is not there yet
                kept.append(result)
        self.check_races(seen)
        self.check_values(copies, before, arithmetic)
        self.slips.check_chunks(chunks if source is None else [], before)
        self.slips.check_kept(kept, copies)
        self.record(copies)
        return kept

    def check_races(self, seen: Any) -> None:
        """Fail if there was a race, in this problem's words."""
        __tracebackhide__ = True
        self.expect.ordered(seen, *explain_race(seen.races))

    def check_values(self, results: list[Tensor], chunks: list[Tensor], arithmetic: Arithmetic) -> None:
        """Fail unless the results are those of the chunks, in their order."""
        __tracebackhide__ = True
        what = ("The number of results is not the number of chunks", "结果的个数与块数不符")
        self.expect.equal(len(results), len(chunks), what, ("One result a chunk.", "每块一个结果。"))
        for number, (result, chunk) in enumerate(zip(results, chunks, strict=True)):
            wanted = arithmetic(chunk.clone()).detach()
            self.slips.check_form(number, result, wanted)
            if not torch.equal(result, wanted):
                what = (f"Result {number} holds the wrong bytes", f"结果 {number} 的内容不对")
                self.expect.equal(result, wanted, what, self._explain(result, number, chunks, arithmetic))

    def record(self, results: list[Tensor]) -> None:
        """Write the results down as evidence."""
        labels = [f"result {number}" for number in range(len(results))]
        self.evidence.exact("results", [write_down(result) for result in results], labels=labels)

    def fail_slow(self, seen: Any, what: Pair, look: Pair, **values: Any) -> None:
        """Fail with the timeline as a picture."""
        __tracebackhide__ = True
        self.expect.fail(what, look=look, picture=seen.draw(by_piece=True), **values)

    def _explain(self, result: Tensor, number: int, chunks: list[Tensor], arithmetic: Arithmetic) -> Pair:
        """Say whose bytes a wrong result holds, where that can be told."""
        for other, chunk in enumerate(chunks):
            if other != number and torch.equal(result, arithmetic(chunk.clone()).detach()):
                return (
                    f"These are the bytes of result {other}: is a buffer used again before its work has ended, or are "
                    "results out of order?",
                    f"这是结果 {other} 的内容：是缓冲区在工作结束前就被重用，还是结果的次序乱了？",
                )
        return LOOK_VALUES

    def _note_taking(self, chunks: Iterable[Tensor]) -> Iterator[Tensor]:
        for number, chunk in enumerate(chunks):
            self.steps.append(("take", number))
            yield chunk

    def _check_call(self, compute: Arithmetic, given: list[Tensor] | None) -> Arithmetic:
        calls = iter(range(1 << 30))

        def checked(*arguments: Any, **options: Any) -> Tensor:
            __tracebackhide__ = True
            number = next(calls)
            self.slips.check_argument(number, arguments, options, given)
            self.steps.append(("compute", number))
            return compute(*arguments)

        return checked

    def _hand_out(self, returned: Iterator[Any]) -> Iterator[Tensor]:
        __tracebackhide__ = True
        caller = torch.cuda.current_stream()
        number = 0
        while True:
            try:
                result = next(returned)
            except StopIteration:
                self.slips.check_stream(caller, ("the end", "结束"))
                return
            self.slips.check_stream(caller, (f"result {number}", f"结果 {number}"))
            self.slips.check_result(number, result)
            self.steps.append(("result", number))
            yield result
            del result  # the caller's alone: it decides how long pinned memory stays in use
            number += 1


@pytest.fixture
def trial(solution: ModuleType, expect: Any, watch: Any, evidence: Any, device: str) -> Trial:
    """Return a trial of the solution's pipeline."""
    return Trial(solution, expect, watch, evidence, device)


@pytest.fixture
def new_trial(solution: ModuleType, expect: Any, watch: Any, evidence: Any, device: str) -> Callable[[], Trial]:
    """Return a maker of trials, for tests that need several."""
    return lambda: Trial(solution, expect, watch, evidence, device)


@pytest.fixture
def side_stream() -> Any:
    """Return a stream of the caller's own; its priority keeps it apart from the 32 that ``Stream()`` hands out."""
    return torch.cuda.Stream(priority=-1)
