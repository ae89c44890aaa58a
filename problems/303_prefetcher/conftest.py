"""What the tests of this problem share: a consumer that works on the solution's batches and checks them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
from support_batches import SLEEP_CYCLES, Batch, double, map_batch, name_tensors, write_down
from support_races import explain_race
from support_slips import Slips
from torch import Tensor

LOOK_VALUES: tuple[str, str] = (
    "Which copy brings these bytes, and what makes the consumer's stream wait for it? When is their memory written "
    "again, on the host and on the device?",
    "这些字节由哪次拷贝带来？是什么让消费者的流等它？它们所在的内存，主机上的和设备上的，又是何时被重写的？",
)


class Consumer:
    """Whoever loops over the prefetcher.

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
        self.steps: list[str] = []
        """``take i`` and ``get i``, as they happened."""
        self._asking: Any = None
        self._source_streams: list[tuple[Any, Any]] = []

    def open(self, source: Iterable[Batch], given: list[Batch] | None = None) -> Iterator[Batch]:
        """Return an iterator over the solution's batches, each checked on its way.

        Args:
            source: what the prefetcher gets; each step of taking one is noted.
            given: the host batches, where they are known beforehand.
        """
        __tracebackhide__ = True
        self._asking = torch.cuda.current_stream()
        loader = self.solution.Prefetcher(self._note_taking(source))
        return self._hand_out(self.slips.begin(loader), given)

    def train(
        self,
        batches: list[Batch],
        source: Iterable[Batch] | None = None,
        *,
        streams: list[Any] | None = None,
        step: Callable[[Tensor], Tensor] = double,
        keep: int = 0,
        cycles: int = SLEEP_CYCLES,
    ) -> None:
        """Work on all batches, each dropped while its kernels run, check the results, and write them down.

        Args:
            batches: the host's, in their order.
            source: what the prefetcher gets in place of ``batches``.
            streams: the streams to work on, in turn.
            step: what is queued for each tensor, behind a kernel that takes its time.
            keep: for how many steps a batch is kept before it is used and dropped.
            cycles: how long that kernel takes.
        """
        __tracebackhide__ = True
        before = [map_batch(batch, torch.clone) for batch in batches]
        results: list[Batch] = []
        with self.watch() as seen:
            received = self.open(batches if source is None else source, before)
            kept: list[tuple[Batch, Any]] = []
            for number in range(len(batches) + 1):
                stream = streams[number % len(streams)] if streams else torch.cuda.current_stream()
                with torch.cuda.stream(stream):
                    batch = next(received, None)
                if batch is None:
                    break
                kept.append((batch, stream))
                del batch
                if len(kept) > keep:
                    used, stream = kept.pop(0)
                    results.append(self._work(used, stream, step, cycles))
                    del used
            results.extend(self._work(used, stream, step, cycles) for used, stream in kept)
            kept.clear()
        self.check_races(seen)
        self.check_values(results, before, step)
        self.check_source_streams()
        if source is None:
            self.slips.check_source(batches, before)
        self.record(results)

    def check_races(self, seen: Any) -> None:
        """Fail if there was a race, in this problem's words."""
        __tracebackhide__ = True
        self.expect.ordered(seen, *explain_race(seen.races))

    def check_values(self, results: list[Batch], batches: list[Batch], step: Callable[[Tensor], Tensor]) -> None:
        """Fail unless the results are those of the batches, in their order. *Synchronises: yes.*"""
        __tracebackhide__ = True
        torch.cuda.synchronize()
        what = ("The number of batches handed out is not the number of the host's", "交出的个数与主机上的个数不符")
        self.expect.equal(len(results), len(batches), what, ("The last one, too?", "最后一个也交出了吗？"))
        for number, (result, batch) in enumerate(zip(results, batches, strict=True)):
            wanted = name_tensors(map_batch(batch, lambda tensor: step(tensor.clone())))
            for name, tensor in name_tensors(result).items():
                found = tensor.cpu()
                if not torch.equal(found, wanted[name]):
                    what = (f"Batch {number} held the wrong bytes", f"第 {number} 个 batch 的内容不对")
                    self.expect.equal(found, wanted[name], what, LOOK_VALUES)

    def check_source_streams(self) -> None:
        """Fail unless the source's code always ran with the consumer's stream current."""
        __tracebackhide__ = True
        for wanted, current in self._source_streams:
            self.slips.check_stream(wanted, current, ("the call of the source", "调用数据源"))

    def record(self, results: list[Batch]) -> None:
        """Write results and steps down as evidence."""
        labels = [f"batch {number}" for number in range(len(results))]
        self.evidence.exact("results", [write_down(result) for result in results], labels=labels)
        self.evidence.exact("steps", self.steps)

    def _work(self, batch: Batch, stream: Any, step: Callable[[Tensor], Tensor], cycles: int) -> Batch:
        with torch.cuda.stream(stream):
            if cycles:
                torch.cuda._sleep(cycles)
            return map_batch(batch, step)

    def _note_taking(self, source: Iterable[Batch]) -> Iterator[Batch]:
        for number, batch in enumerate(source):
            self.steps.append(f"take {number}")
            self._source_streams.append((self._asking, torch.cuda.current_stream()))
            yield batch

    def _hand_out(self, returned: Iterator[Any], given: list[Batch] | None) -> Iterator[Batch]:
        __tracebackhide__ = True
        number = 0
        while True:
            caller = self._asking = torch.cuda.current_stream()
            try:
                batch = next(returned)
            except StopIteration:
                self.slips.check_stream(caller, torch.cuda.current_stream(), ("the end", "结束"))
                return
            moment = (f"batch {number}", f"第 {number} 个 batch ")
            self.slips.check_stream(caller, torch.cuda.current_stream(), moment)
            if given is not None and number < len(given):
                self.slips.check_form(number, batch, given[number])
            self.steps.append(f"get {number}")
            yield batch
            del batch
            number += 1


@pytest.fixture
def consumer(solution: ModuleType, expect: Any, watch: Any, evidence: Any, device: str) -> Consumer:
    """Return a consumer of the solution's batches."""
    return Consumer(solution, expect, watch, evidence, device)


@pytest.fixture
def side_streams() -> list[Any]:
    """Return two streams of the consumer's own; their priority keeps them apart from those that ``Stream()`` gives."""
    return [torch.cuda.Stream(priority=-1), torch.cuda.Stream(priority=-1)]
