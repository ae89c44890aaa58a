"""Races as torch programs have them: names, values, and random programs through the front end."""

from __future__ import annotations

import inspect
import random
from typing import Any

import pytest

torch = pytest.importorskip("torch")


def line_of(mark: str) -> int:
    """Return the line of this file that ends in a comment."""
    source = inspect.getsource(inspect.getmodule(line_of))  # type: ignore[arg-type]  # it has one
    return next(at for at, line in enumerate(source.splitlines(), 1) if line.endswith(f"# {mark}"))


def test_advice_names_the_users_streams_and_line(simulation: Any) -> None:
    """The names are variables in sight, the line is the user's."""
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.zeros(64, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(copy):
        x.fill_(3)
    with torch.cuda.stream(compute):
        x.sum()  # second
    (race,) = simulation.machine.shadow.races
    assert "`compute` never waited for `copy`" == race.missing["en"]
    assert f"add `compute.wait_stream(copy)` before line {line_of('second')}" == race.advice["en"]


def test_who_watches_from_now_on_is_told_of_all(simulation: Any) -> None:
    """The same lines are reported once, and again after what is known was forgotten."""
    copy, x, shadow = torch.cuda.Stream(), torch.zeros(64, device="cuda"), simulation.machine.shadow

    def race() -> int:
        torch.cuda.synchronize()
        with torch.cuda.stream(copy):
            x.fill_(3)
        x.sum()
        return len(shadow.races)

    counts = [race(), race()]
    shadow.forget_known()
    assert [1, 1, 2] == [*counts, race()]


def test_streams_are_found_behind_self(simulation: Any) -> None:
    """Most programs keep their streams in an object."""

    class Loader:
        def __init__(self) -> None:
            self.copy_stream = torch.cuda.Stream()

        def load(self, x: torch.Tensor) -> torch.Tensor:
            with torch.cuda.stream(self.copy_stream):
                x.fill_(3)
            return x + 1

    x = torch.zeros(64, device="cuda")
    torch.cuda.synchronize()
    Loader().load(x)
    (race,) = simulation.machine.shadow.races
    assert "`torch.cuda.default_stream()` never waited for `self.copy_stream`" == race.missing["en"]


def test_two_streams_never_go_by_one_name(simulation: Any) -> None:
    """A parameter that hides a variable of the caller's is a name for its own stream only."""
    copy, compute = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.zeros(64, device="cuda")
    torch.cuda.synchronize()

    def use(stream: torch.cuda.Stream) -> None:
        with torch.cuda.stream(stream):
            x.mul_(2)

    def run(stream: torch.cuda.Stream, other: torch.cuda.Stream) -> None:
        use(stream)
        use(other)

    run(copy, compute)
    (race,) = simulation.machine.shadow.races
    assert ("copy", "stream") == (race.first.variable, race.second.variable)
    assert "`stream` never waited for `copy`" == race.missing["en"]


def test_a_missing_record_stream_names_the_line_that_made_the_tensor(simulation: Any) -> None:
    """It is that tensor on which to call it."""
    side = torch.cuda.Stream()
    x = torch.zeros(1 << 20, device="cuda")  # made
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        y = x * 2
    del x
    z = torch.zeros(1 << 20, device="cuda")
    del y, z
    (race,) = simulation.machine.shadow.races
    made = f"the tensor that line {line_of('made')} allocated"
    assert ("reused-block", f"call `record_stream(side)` on {made}, before its last reference goes") == (
        race.kind,
        race.advice["en"],
    )


def test_a_stream_without_a_name_is_told_by_its_number(simulation: Any) -> None:
    """No variable holds the stream any more."""
    x = torch.zeros(64, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        x.fill_(3)
    x.sum()
    (race,) = simulation.machine.shadow.races
    assert "`torch.cuda.default_stream()` never waited for `stream_1`" == race.missing["en"]


def test_the_other_result_is_shown(simulation: Any) -> None:
    """A product of a matrix that was still to be copied, and what it would have been of the old one."""
    copy = torch.cuda.Stream()
    x = torch.ones(8, 8, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(copy):
        x.fill_(3)
    product = x @ x
    (race,) = simulation.machine.shadow.races
    assert [("input", "3", "1"), ("output", "72", "8")] == [(look.what, look.saw, look.could) for look in race.looks]
    torch.cuda.synchronize()
    assert (3.0, 72.0) == (x[0, 0].item(), product[0, 0].item())


def test_the_new_owner_of_a_block_is_shown_to_its_old_reader(simulation: Any) -> None:
    """A sum over a tensor that was freed too early could have been one over its successor."""
    side = torch.cuda.Stream()
    x = torch.ones(1 << 12, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x.sum()
    del x
    torch.full((1 << 12,), 9.0, device="cuda")
    (race,) = simulation.machine.shadow.races
    assert [("reused-block", "input", "1", "9")] == [
        (race.kind, look.what, look.saw, look.could) for look in race.looks
    ]


def has_race(seed: int) -> bool:
    """Run a random program over three streams, and return whether reachability finds a race in it."""
    choose = random.Random(seed)
    streams = [torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    tensors = [torch.zeros(64, device="cuda") for _ in range(3)]
    torch.cuda.synchronize()
    after: list[set[int]] = [set() for _ in streams]
    host: set[int] = set()
    events: list[tuple[Any, set[int]]] = []
    steps: list[tuple[int, int, int, set[int]]] = []
    for _ in range(choose.randint(4, 14)):
        act, place = choose.random(), choose.randrange(3)
        if act < 0.5:
            target, source = choose.randrange(3), choose.randrange(3)
            with torch.cuda.stream(streams[place]):
                tensors[target].add_(tensors[source])
            steps.append((place, target, source, after[place] | host))
            after[place] = after[place] | host | {len(steps) - 1}
        elif act < 0.65:
            events.append((streams[place].record_event(), after[place] | host))
        elif act < 0.8 and events:
            event, covered = choose.choice(events)
            streams[place].wait_event(event)
            after[place] = after[place] | covered
        elif act < 0.9:
            other = choose.randrange(3)
            streams[place].wait_stream(streams[other])
            after[place] = after[place] | after[other] | host
        elif act < 0.95:
            streams[place].synchronize()
            host |= after[place]
    torch.cuda.synchronize()  # or the next program would get memory that is still in use
    return any(
        one[0] != two[0] and (one[1] in two[1:3] or two[1] in one[1:3]) and early not in two[3]
        for late, two in enumerate(steps)
        for early, one in enumerate(steps[:late])
    )


def test_random_torch_programs_agree_with_reachability(simulation: Any) -> None:
    """A program is racy exactly when its operations are not all ordered."""
    shadow, wrong, racy = simulation.machine.shadow, [], 0
    for seed in range(300):
        shadow.forget_known()
        before = len(shadow.races)
        expected = has_race(seed)
        racy += expected
        if expected != (len(shadow.races) > before):
            wrong.append(seed)
    assert [] == wrong
    assert 50 < racy < 250
