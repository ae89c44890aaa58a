"""The search for races on a real GPU, tried out on the simulated one: both must tell the same.

It knows operators, streams, events and memory by nothing but PyTorch's own interface, so it can watch any device.
"""

from __future__ import annotations

import functools
import gc
import importlib.util
import runpy
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

from judge.devices.sim.patches import Patches
from judge.instruments.cuda.calls import CallLog
from judge.instruments.cuda.hazards import Hazards
from judge.instruments.cuda.operations import OperationMode
from judge.instruments.cuda.ordering import handle_of
from tests.conformance.corpus.real import run
from tests.conformance.corpus.streams import TOPIC
from tests.conformance.reports.report import Report
from tests.conformance.reports.test_reports import REPORTS
from tests.devices.sim.conftest import simulation

__all__ = ["simulation"]

EAGER = {"read-after-write", "write-after-read", "write-after-write", "reused-block", "unordered-block"}
"""The kinds that it looks for: neither graph replays nor pinned memory."""
BUSY_CYCLES = 2_000_000
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def hazards(simulation: Any) -> Iterator[Hazards]:
    """Return what looks for races, on; a method that the simulated device answers itself is told as dispatch would."""
    del simulation
    found, patches = Hazards(), Patches()

    def tell(original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def record_stream(tensor: Any, stream: Any) -> None:
            found.note_record(tensor, handle_of(stream))
            original(tensor, stream)

        return record_stream

    patches.wrap(torch.Tensor, "record_stream", tell)
    found.start()
    try:
        with OperationMode(CallLog(), found):
            yield found
    finally:
        found.stop()
        patches.restore()


def read_without_waiting(is_mended: bool) -> None:
    """A side stream reads what the default stream writes."""
    side = torch.cuda.Stream()
    x = torch.ones(1 << 20, device="cuda")
    if is_mended:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x + 1
    torch.cuda.synchronize()
    del y


def lose_a_block(is_mended: bool) -> None:
    """A tensor dies while a side stream reads it, and its block is taken."""
    side = torch.cuda.Stream()
    x = torch.ones(1 << 20, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(BUSY_CYCLES)
        x * 2
    if is_mended:
        x.record_stream(side)
    del x
    torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()


def write_one_half(is_mended: bool) -> None:
    """Two streams write a buffer: the same half, or one each."""
    side = torch.cuda.Stream()
    buffer = torch.zeros(2, 1 << 18, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        buffer[0].fill_(1)
    buffer[1 if is_mended else 0].fill_(2)
    torch.cuda.synchronize()


def ask_too_early(is_mended: bool) -> None:
    """An event that is asked orders the host, and so what it launches next, only once it is over."""
    side, event = torch.cuda.Stream(), torch.cuda.Event()
    x = torch.zeros(4, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(BUSY_CYCLES)
        x.add_(1)
        event.record()
    while not event.query() and is_mended:
        pass
    x.add_(1)
    torch.cuda.synchronize()


def read_a_scalar(is_mended: bool) -> None:
    """An operator that waits orders the host after its stream."""
    side = torch.cuda.Stream()
    x = torch.zeros(4, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        x.add_(1)
        total = x.sum()
        if is_mended:
            total.cpu()
    x.mul_(2)
    torch.cuda.synchronize()


PROGRAMS = (read_without_waiting, lose_a_block, write_one_half, ask_too_early, read_a_scalar)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_race_is_told_as_the_simulated_device_tells_it(
    program: Callable[[bool], None], simulation: Any, hazards: Hazards
) -> None:
    """Kind, lines, and the words."""
    program(False)
    theirs = [
        (race.kind, race.first.line, race.second.line, race.missing["en"]) for race in simulation.machine.shadow.races
    ]
    ours = [(race.kind, race.first.site.line, race.second.site.line, race.missing["en"]) for race in hazards.races]
    assert theirs
    assert theirs == ours


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_mended_program_is_silent(program: Callable[[bool], None], hazards: Hazards) -> None:
    """No false alarm."""
    program(True)
    gc.collect()
    assert [] == hazards.races


@pytest.mark.parametrize("report", REPORTS, ids=[report.name for report in REPORTS])
def test_the_public_reports_agree(report: Report, simulation: Any, hazards: Hazards) -> None:
    """What is seen of the faulty programs is what the simulated device sees, as far as it is looked for."""
    with suppress_faults():
        report.faulty()
    gc.collect()
    theirs = {race.kind for race in simulation.machine.shadow.races}
    assert theirs & EAGER == {race.kind for race in hazards.races}


@pytest.mark.parametrize("report", REPORTS, ids=[report.name for report in REPORTS])
def test_their_mended_programs_are_silent(report: Report, hazards: Hazards) -> None:
    """No false alarm."""
    with quietly():
        report.mended()
    gc.collect()
    assert [] == hazards.races


@pytest.mark.parametrize("snippet", TOPIC.snippets, ids=lambda snippet: snippet.name)
def test_ordinary_code_with_streams_is_silent(snippet: Any, hazards: Hazards) -> None:
    """All of it is right, so nothing is told."""
    if any(importlib.util.find_spec(name) is None for name in snippet.needs):
        pytest.skip("a package is missing")
    with quietly():
        run(snippet, "cuda")
    gc.collect()
    assert [] == hazards.races


@contextmanager
def quietly() -> Iterator[None]:
    """Let torch warn; an error is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def suppress_faults() -> Iterator[None]:
    """Go on after the errors that the faulty programs are about."""
    try:
        with quietly():
            yield
    except (RuntimeError, ValueError, NotImplementedError):
        torch.cuda.set_stream(torch.cuda.default_stream())


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("prefetcher", {"reused-block"}), ("prefetcher_mended", set()), ("decode_loop_mended", set())],
    ids=["prefetcher", "prefetcher_mended", "decode_loop_mended"],
)
def test_the_examples_are_judged_alike(name: str, kinds: set[str], hazards: Hazards) -> None:
    """A backward pass orders its own streams, and does not hide what a copy stream does beside it."""
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    gc.collect()
    assert kinds == {race.kind for race in hazards.races}


def test_everything_is_put_back(simulation: Any) -> None:
    """The names are as before."""
    names = [(torch, "Event"), (torch, "Stream"), (torch.cuda, "synchronize"), (torch.accelerator, "current_stream")]
    names += [(torch.cuda.Event, "record"), (torch.cuda.Event, "query"), (torch.cuda.Stream, "synchronize")]
    before = [getattr(owner, name) for owner, name in names]
    hazards = Hazards()
    hazards.start()
    assert isinstance(torch.cuda.Event(), torch.Event)
    assert isinstance(torch.cuda.Stream(), torch.Stream)
    hazards.stop()
    assert before == [getattr(owner, name) for owner, name in names]
