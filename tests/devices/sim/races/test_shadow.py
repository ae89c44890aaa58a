"""Shadow memory: what races, what does not, and how it is told."""

from __future__ import annotations

from threading import Thread

import pytest

from judge.devices.sim.races import shadow as shadow_module
from judge.devices.sim.races.footprint import Footprint
from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.vectors import HOST
from judge.devices.sim.sites import Site
from tests.devices.sim.races.timeline import COMPUTE, COPY, MAIN, Timeline, span

X = 0x1000


@pytest.fixture
def timeline() -> Timeline:
    """Return three streams on a new shadow."""
    return Timeline()


def test_a_missing_wait_is_told_with_the_line_to_add(timeline: Timeline) -> None:
    """Both accesses have their places, and the advice is the user's own code."""
    timeline.run(COPY, writes=[span(X)], name="copy_")
    timeline.run(COMPUTE, reads=[span(X)], name="mm")
    assert [
        {
            "kind": "read-after-write",
            "first": {"op": "copy_", "file": "/home/me/train.py", "line": 1, "stream": "copy", "variable": "copy"},
            "second": {"op": "mm", "file": "/home/me/train.py", "line": 2, "stream": "compute", "variable": "compute"},
            "missing": "`compute` never waited for `copy`",
            "advice": "add `compute.wait_stream(copy)` before line 2",
            "count": 1,
            "looks": [],
        }
    ] == [race.as_dict("en") for race in timeline.shadow.races]


def test_a_race_is_told_in_both_languages(timeline: Timeline) -> None:
    """Plain data without a language holds all of them."""
    timeline.run(COPY, writes=[span(X)])
    (race,) = timeline.run(COMPUTE, reads=[span(X)])
    expected = {
        "en": "add `compute.wait_stream(copy)` before line 2",
        "zh": "在第 2 行之前加上 `compute.wait_stream(copy)`",
    }
    assert expected == race.as_dict()["advice"]


def test_a_line_of_another_file_is_named_with_its_file(timeline: Timeline) -> None:
    """Where the two lines stand in different files, a number alone would mislead."""
    timeline.run(COPY, writes=[span(X)])
    timeline.file = "/home/me/model.py"
    (race,) = timeline.run(COMPUTE, reads=[span(X)])
    assert "add `compute.wait_stream(copy)` before line 2 of model.py" == race.advice["en"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param("w", "r", ["read-after-write"], id="read_after_write"),
        pytest.param("r", "w", ["write-after-read"], id="write_after_read"),
        pytest.param("w", "w", ["write-after-write"], id="write_after_write"),
        pytest.param("r", "r", [], id="read_after_read"),
    ],
)
def test_kinds(first: str, second: str, expected: list[str], timeline: Timeline) -> None:
    """The kind says what the second access does to the first; two reads never race."""
    for actor, mode in ((COPY, first), (COMPUTE, second)):
        timeline.run(actor, [span(X)] if mode == "r" else [], [span(X)] if mode == "w" else [])
    assert expected == [race.kind for race in timeline.shadow.races]


def test_a_wait_orders(timeline: Timeline) -> None:
    """After ``compute.wait_stream(copy)`` nothing races, though only work submitted before is covered."""
    timeline.run(COPY, writes=[span(X)])
    timeline.wait(COMPUTE, COPY)
    assert [] == timeline.run(COMPUTE, reads=[span(X)])
    timeline.run(COPY, writes=[span(X + 64)])
    assert ["read-after-write"] == [race.kind for race in timeline.run(COMPUTE, reads=[span(X + 64)])]


def test_what_the_host_waited_for_races_with_nothing(timeline: Timeline) -> None:
    """Work launched after a host wait is ordered after what was waited for, on whatever stream."""
    timeline.run(COPY, writes=[span(X)])
    timeline.wait(HOST, COPY)
    assert [] == timeline.run(COMPUTE, writes=[span(X)])


def test_interleaved_columns_do_not_race(timeline: Timeline) -> None:
    """Even and odd columns of one matrix share a range and no byte."""
    even, odd = (Access(low, low + 252, ((8, 32), (4, 8)), 4) for low in (X, X + 4))
    timeline.run(COPY, writes=[even])
    assert [] == timeline.run(COMPUTE, writes=[odd])
    assert 1 == len(timeline.run(COMPUTE, reads=[even]))


def test_an_empty_tensor_races_with_nothing(timeline: Timeline) -> None:
    """An access without elements touches nothing, wherever it points."""
    timeline.run(COPY, writes=[span(X)])
    assert [] == timeline.run(COMPUTE, writes=[Access(X + 4, X + 4)])


def test_atomic_updates_do_not_race_with_one_another(timeline: Timeline) -> None:
    """Two ``index_add_`` of one tensor may run at once; a plain read beside them may not."""
    atomic = span(X)._replace(is_atomic=True)
    timeline.run(COPY, writes=[atomic])
    assert [] == timeline.run(COMPUTE, writes=[atomic])
    assert 2 == len(timeline.run(MAIN, reads=[span(X)]))


def test_a_block_reused_too_early_asks_for_record_stream(timeline: Timeline) -> None:
    """The former owner's reader is told from the new owner's writer."""
    timeline.shadow.begin(X, 512, 0)
    timeline.run(MAIN, writes=[span(X)])
    timeline.wait(COMPUTE, MAIN)
    timeline.run(COMPUTE, reads=[span(X)], name="sum")
    timeline.shadow.end(X, 512, 0)
    timeline.shadow.begin(X, 512, 0)
    (race,) = timeline.run(MAIN, writes=[span(X)], name="zeros")
    assert ("reused-block", 2, 3) == (race.kind, race.first.line, race.second.line)
    assert "call `record_stream(compute)` on the tensor, before its last reference goes" == race.advice["en"]


def test_a_block_may_be_cut_up_and_joined_between_its_owners(timeline: Timeline) -> None:
    """What a former owner did stays with its bytes, whatever the blocks look like now."""
    timeline.shadow.begin(X, 1024, 0)
    timeline.run(COMPUTE, reads=[span(X + 512)])
    timeline.run(MAIN)
    timeline.shadow.begin(X, 512, 0)
    assert [] == timeline.run(MAIN, writes=[span(X)])
    timeline.shadow.begin(X + 512, 512, 0)
    assert ["reused-block"] == [race.kind for race in timeline.run(MAIN, writes=[span(X + 512)])]


def test_new_memory_on_a_stream_that_did_not_wait_for_its_own(timeline: Timeline) -> None:
    """Memory from the pool of one stream, first used on another: record_stream would change nothing there."""
    timeline.shadow.begin(X, 512, 0x20)
    timeline.run(COPY, writes=[span(X)])
    timeline.shadow.end(X, 512, 0x20)
    timeline.shadow.begin(X, 512, 0x20)
    (race,) = timeline.run(COMPUTE, writes=[span(X)])
    assert ("unordered-block", "add `compute.wait_stream(copy)` before line 2") == (race.kind, race.advice["en"])


def test_bytes_that_the_driver_took_back_start_clean(timeline: Timeline) -> None:
    """``cudaFree`` waits for the device."""
    timeline.run(COMPUTE, reads=[span(X)])
    timeline.shadow.forget(X, 512)
    assert [] == timeline.run(MAIN, writes=[span(X)])


@pytest.mark.parametrize(
    ("is_write", "expected"),
    [pytest.param(False, "host-read-early", id="read"), pytest.param(True, "host-write-early", id="write")],
)
def test_the_host_races_with_copies_of_pinned_memory(is_write: bool, expected: str, timeline: Timeline) -> None:
    """Reading a buffer before its copy came, overwriting one before its copy went: both want an event."""
    pinned = span(X)
    timeline.run(COPY, [pinned] if is_write else [], [] if is_write else [pinned], name="copy_")
    (race,) = timeline.run(HOST, [] if is_write else [pinned], [pinned] if is_write else [], name="fill_")
    assert (expected, "host") == (race.kind, race.second.stream)
    assert "record an event on `copy` after line 1, and add `event.synchronize()` before line 2" == race.advice["en"]


def test_work_launched_after_a_host_access_does_not_race_with_it(timeline: Timeline) -> None:
    """A launch is ordered after whatever the host did before."""
    timeline.run(COPY, writes=[span(X + 512)])
    timeline.run(HOST, writes=[span(X)])
    assert [] == timeline.run(COMPUTE, reads=[span(X)])


def test_a_race_in_a_loop_is_told_once_and_counted(timeline: Timeline) -> None:
    """The same two lines make one report."""
    found = []
    for _ in range(5):
        timeline.line = 10
        found += timeline.run(COPY, writes=[span(X)])
        found += timeline.run(COMPUTE, reads=[span(X)])
    assert ["read-after-write", "write-after-read"] == [race.kind for race in found]
    assert [5, 4] == [race.count for race in timeline.shadow.races]


def test_an_operation_races_once_with_each_stream(timeline: Timeline) -> None:
    """An in-place operation reads and writes: that is one race, not two."""
    timeline.run(COPY, [span(X)], [span(X)])
    assert 1 == len(timeline.run(COMPUTE, [span(X)], [span(X)]))


def test_a_replay_races_at_the_line_that_replays(timeline: Timeline) -> None:
    """The nodes of a graph run with each replay; the wait is missing there and not at the capture."""
    footprint = Footprint()
    footprint.add([span(X)], [span(X + 512)], "mul", Site(timeline.file, 99, "capture"))
    timeline.run(COPY, writes=[span(X)])
    timeline.run(MAIN)
    (race,) = timeline.shadow.replay(MAIN, timeline.vectors[MAIN], footprint, timeline.site)
    assert ("graph replay: mul of line 99", 2) == (race.second.op, race.second.line)
    assert ["read-after-write"] == [race.kind for race in timeline.run(COMPUTE, reads=[span(X + 512)])]


def test_a_graph_input_that_was_freed_is_told_at_each_replay(timeline: Timeline) -> None:
    """Memory that the graph reads belongs to nobody, or to somebody else; the graph does not know."""
    footprint = Footprint()
    timeline.shadow.begin(X, 512, 0)
    timeline.shadow.hold(footprint, span(X + 64), "mul", Site(timeline.file, 99, "capture"))
    timeline.run(MAIN)
    assert [] == list(timeline.shadow.replay(MAIN, timeline.vectors[MAIN], footprint, timeline.site))
    timeline.shadow.end(X, 512, 0)
    timeline.shadow.begin(X, 512, 0)
    (race,) = timeline.shadow.replay(MAIN, timeline.vectors[MAIN], footprint, timeline.site)
    assert ("stale-graph-input", "free", "test_shadow.py") == (
        race.kind,
        race.first.op,
        race.first.file.rpartition("/")[2],
    )


def test_races_of_a_capture_are_taken_in_once(timeline: Timeline) -> None:
    """A graph's own operations race in a shadow of their own, whose findings join the others."""
    inner = timeline.shadow.sibling()
    inner.access(COPY, [0, 0, 1], (), (span(X),), "fill_", Site("f", 1, "g"))
    inner.access(COMPUTE, [0, 0, 0, 1], (span(X),), (), "mul", Site("f", 2, "g"))
    assert inner.races == list(timeline.shadow.adopt(inner.races))
    assert [] == list(timeline.shadow.adopt(inner.races))
    assert ["read-after-write"] == [race.kind for race in timeline.shadow.races]


def test_memory_is_bounded_when_the_host_never_waits(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the host knows is dropped; beyond the limit the oldest accesses go, and their number is told."""
    monkeypatch.setattr(shadow_module, "PRUNE_STORES", 100)
    monkeypatch.setattr(shadow_module, "MAX_ACCESSES", 500)
    timeline.shadow._prune_at = 100
    timeline.run(COMPUTE)
    for row in range(4000):
        timeline.run(COPY, writes=[span(X + 64 * row)])
    timeline.run(COMPUTE)
    kept = sum(len(track) for cell in timeline.shadow._cells for track in cell.tracks.values())
    assert kept <= 1100
    assert timeline.shadow.forgotten >= 2900
    assert ["read-after-write"] == [race.kind for race in timeline.run(COMPUTE, reads=[span(X + 64 * 3999)])]


def test_a_write_of_everything_makes_older_accesses_of_its_stream_superfluous(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is not ordered after the rows is not ordered after the whole either."""
    monkeypatch.setattr(shadow_module, "PRUNE_STORES", 10)
    timeline.shadow._prune_at = 10
    timeline.run(COMPUTE)
    for row in range(8):
        timeline.run(COPY, writes=[span(X + 64 * row)])
    for _ in range(8):
        timeline.run(COPY, writes=[span(X, 512)])
    timeline.run(COMPUTE, reads=[span(X + 4096)])
    for _ in range(8):
        timeline.run(COPY, writes=[span(X, 512)])
    assert 2 == sum(len(track) for cell in timeline.shadow._cells for track in cell.tracks.values())


def test_threads_may_launch_at_once() -> None:
    """Several threads on streams of their own disturb neither the records nor each other."""
    timeline = Timeline()
    failures: list[BaseException] = []

    def work(actor: int) -> None:
        vector = [0, 0, 0, 0]
        try:
            for at in range(3000):
                vector[actor] += 1
                low = X + 4096 * actor + 64 * (at % 50)
                timeline.shadow.begin(low, 64)
                timeline.shadow.access(actor, list(vector), [span(low)], [span(low)], "add", Site("f", at, "g"))
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=work, args=(actor,)) for actor in (MAIN, COPY, COMPUTE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ([], []) == (failures, timeline.shadow.races)
