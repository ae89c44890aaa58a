"""The life of a graph, and what its replays do."""

from __future__ import annotations

import pytest

from judge.devices.sim.graphs.graph import Graph
from tests.devices.sim.graphs.test_capture import catch


def test_a_graph_is_captured_once(bench):
    """Until it is reset."""
    machine = bench.machine
    x = bench.allocate(1)
    graph = Graph(machine)
    stream = bench.stream()
    with bench.capture(graph, stream):
        bench.fill(x)
    machine.current = stream
    text = "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance."
    assert text == catch(graph.begin)
    graph.reset()
    graph.begin()
    graph.end()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda graph: graph.replay(), "Called CUDAGraph::replay without a preceding successful capture."),
        (lambda graph: graph.pool_id, "Called CUDAGraph::pool() without a preceding successful capture."),
        (lambda graph: graph.instantiate(), "capture_end() must have been called before calling instantiate"),
        (lambda graph: graph.end(), "CUDA error: the operation cannot be performed in the present state"),
        (
            lambda graph: graph.begin(),
            "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on "
            "the default stream.)",
        ),
        (
            lambda graph: graph.begin(None, "strict"),
            "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got strict",
        ),
        (
            lambda graph: graph.graph_handle,
            "You cannot access the raw cudaGraph_t instance unless CUDAGraph was initialized with keep_graph=true",
        ),
        (
            lambda graph: graph.executable_handle,
            "You cannot access the raw cudaGraphExec_t instance until instantiate() has been called",
        ),
    ],
    ids=["replay", "pool", "instantiate", "end", "begin", "mode", "graph handle", "executable handle"],
)
def test_what_can_not_be_done_yet(bench, call, expected):
    """PyTorch's texts."""
    assert expected == catch(call, Graph(bench.machine))


def test_a_kept_graph_is_instantiated_at_its_first_replay(bench):
    """Or before, and again."""
    x = bench.allocate(1)
    graph = Graph(bench.machine, keep_graph=True)
    with bench.capture(graph, bench.stream()):
        bench.fill(x, x, plus=1)
    assert "You cannot access the raw cudaGraphExec_t instance until instantiate() has been called" == catch(
        lambda: graph.executable_handle
    )
    graph.replay()
    graph.instantiate()
    graph.replay()
    assert 3 == bench.read(x)
    assert graph.graph_handle != graph.executable_handle


def test_a_graph_that_is_not_kept_can_not_be_instantiated_again(bench):
    """PyTorch's text."""
    graph = Graph(bench.machine)
    with bench.capture(graph, bench.stream()):
        pass
    assert "instantiate() is intended to be called by the user only when keep_graph=true" == catch(graph.instantiate)


def test_a_failed_capture_never_gives_its_pool_back(bench):
    """As torch 2.13 has it; a good one does, once the graph is reset and the cache emptied."""
    machine = bench.machine
    routing = machine.memory.allocator.routing
    stream = bench.stream()
    failed, good = Graph(machine), Graph(machine)
    machine.current = stream
    failed.begin()
    catch(machine.synchronize_device)
    catch(failed.end)
    with bench.capture(good, stream):
        pass
    failed.close()
    good.close()
    machine.memory.empty_cache()
    assert {(1, 0): 1} == {pool_id: pool.use_count for pool_id, pool in routing.private.items() if pool.use_count}


def test_a_pool_is_shared_by_those_who_name_it(bench):
    """A later capture takes what an earlier one dropped; eager code never does."""
    machine = bench.machine
    stream = bench.stream()
    pool_id = machine.memory.pool_ids.next_user()
    addresses = []
    for _ in range(2):
        graph = Graph(machine)
        machine.current = stream
        graph.begin(pool_id)
        address = bench.allocate()
        machine.memory.free(address)
        graph.end()
        addresses.append(address)
        assert pool_id == graph.pool_id
    addresses.append(bench.allocate())
    assert addresses[0] == addresses[1] != addresses[2]


def test_a_freed_input_is_read_as_its_next_owners_bytes(bench):
    """And the replay is reported."""
    machine = bench.machine
    x, y = bench.allocate(1), bench.allocate(0)
    graph = Graph(machine)
    with bench.capture(graph, bench.stream()):
        bench.fill(y, x, plus=1)
    machine.memory.free(x)
    assert x == bench.allocate(40)
    graph.replay()
    assert 41 == bench.read(y)
    assert ["stale-graph-input"] == [race.kind for race in machine.shadow.races]


def test_a_replay_on_a_stream_that_waits_for_nothing_races(bench):
    """With the line that captured the node."""
    machine = bench.machine
    x, y = bench.allocate(1), bench.allocate(0)
    graph = Graph(machine)
    with bench.capture(graph, bench.stream()):
        bench.fill(y, x, plus=1)
    bench.fill(x, plus=5)
    machine.current = bench.stream()
    graph.replay()
    assert ["read-after-write"] == [race.kind for race in machine.shadow.races]


def test_branches_that_touch_the_same_bytes_race_inside_the_graph(bench):
    """Found when the capture ends; none when the join lies between."""
    machine = bench.machine
    for is_ordered in (True, False):
        x = bench.allocate(1)
        main, side = bench.stream(), bench.stream()
        graph = Graph(machine)
        machine.current = main
        graph.begin()
        machine.wait_stream(side, main)
        machine.current = side
        bench.fill(x, plus=3)
        machine.current = main
        if is_ordered:
            machine.wait_stream(main, side)
        bench.fill(x, plus=4)
        machine.wait_stream(main, side)
        graph.end()
        expected = [] if is_ordered else ["write-after-write"]
        assert expected == [race.kind for race in machine.shadow.races]


def test_replays_of_one_graph_on_two_streams_wait_for_each_other(bench):
    """A graph never runs side by side with itself."""
    machine = bench.machine
    x = bench.allocate(1)
    graph = Graph(machine)
    with bench.capture(graph, bench.stream()):
        bench.fill(x, x, plus=1)
    ends = []
    for _ in range(2):
        machine.current = bench.stream()
        graph.replay()
        ends.append(machine.clock.find_end(machine.current.frontier))
    assert 9.0 < ends[1] - ends[0]
    assert [] == machine.shadow.races
