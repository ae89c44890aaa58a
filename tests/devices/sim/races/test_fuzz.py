"""Random programs: the races found are those that brute-force reachability finds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from judge.devices.sim import machine as machine_module
from judge.devices.sim import provision
from judge.devices.sim.machine import Machine
from judge.devices.sim.profile import load_profile
from judge.devices.sim.races import advice, shadow
from judge.devices.sim.sites import Site
from tests.devices.sim.races.programs import Program, WatchedEvents


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[WatchedEvents]:
    """Return a machine's events, watched, on a machine whose user line is the number of the step."""
    machine = Machine(load_profile("h200"))
    watched = WatchedEvents(machine)
    monkeypatch.setattr(provision, "AllocatorEvents", lambda _: watched)
    monkeypatch.setattr(machine_module, "find_site", lambda: Site("program", len(watched.oracle.steps) - 1, "f"))
    provision.provide_memory(machine, environment={})
    yield watched
    machine.memory.close()
    machine.pinned.close()


@pytest.mark.timeout(400)  # 15 s on an idle core
@pytest.mark.parametrize(("programs", "log_limit"), [(8000, 32_768), (2000, 3)], ids=["long_log", "short_log"])
def test_random_programs_agree_with_reachability(
    programs: int, log_limit: int, events: WatchedEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every operation, the streams that it races with are found, each by a true race, and no others."""
    monkeypatch.setattr(shadow, "LOG_LIMIT", log_limit)
    monkeypatch.setattr(advice, "say", lambda *_, **__: "")  # words and names take most of the time,
    machine = events._machine
    monkeypatch.setattr(machine.shadow._reporter, "code_of", lambda _: "")  # and have tests of their own
    streams = [machine.streams.default, machine.streams.get(), machine.streams.get(-1)]
    wrong, racy = [], 0
    for seed in range(programs):
        machine.shadow.forget_known()
        mark = len(machine.shadow.races)
        program = Program(machine, streams, seed)
        events.oracle = program.oracle
        program.run()
        truth = set(program.oracle.races())
        steps = program.oracle.steps
        found = {(race.first.line, race.second.line) for race in machine.shadow.races[mark:]}
        program.close()
        racy += bool(truth)
        expected = {(steps[first].actor, second) for first, second in truth}
        actual = {(steps[first].actor, second) for first, second in found}
        if expected != actual or not found <= truth:
            wrong.append((seed, sorted(truth), sorted(found)))
    assert [] == wrong
    assert racy > 500
