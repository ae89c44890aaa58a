"""A graph at work: its costs, its random numbers, external events, and drawings."""

from __future__ import annotations

import pytest

from judge.devices.sim.events import Event
from judge.devices.sim.graphs.drawing import draw_graph
from judge.devices.sim.graphs.graph import Graph
from tests.devices.sim.graphs.test_capture import catch


def test_a_replay_costs_the_host_one_launch(bench):
    """And the device each node."""
    machine = bench.machine
    x = bench.allocate(1)
    graph = Graph(machine)
    with bench.capture(graph, bench.stream()):
        for _ in range(2000):
            bench.fill(x, x, plus=1, duration_us=2.0)
    before_us = machine.clock.host_us
    graph.replay()
    assert machine.clock.host_us - before_us < 20.0
    gap_us = machine.profile.engines.graph_gap_us
    took_us = machine.clock.find_end(machine.current.frontier) - before_us
    assert took_us == pytest.approx(2000 * (2.0 + gap_us), rel=0.01)


def test_branches_overlap_in_a_replay(bench):
    """Two nodes of 10 us side by side."""
    machine = bench.machine
    x, y = bench.allocate(1), bench.allocate(1)
    main, side = bench.stream(), bench.stream()
    graph = Graph(machine)
    machine.current = main
    graph.begin()
    machine.wait_stream(side, main)
    machine.current = side
    bench.fill(x)
    machine.current = main
    bench.fill(y)
    machine.wait_stream(main, side)
    graph.end()
    before_us = machine.clock.host_us
    graph.replay()
    assert machine.clock.find_end(main.frontier) - before_us < 19.0


def test_a_capture_leaves_the_generator_and_a_replay_draws_from_it(bench):
    """Replays differ, and a new seed is respected."""
    machine = bench.machine
    x = bench.allocate(0)
    dice = bench.dice
    graph = Graph(machine)
    stream = bench.stream()

    def redo() -> None:
        bench.bytes_of(x)[0] = dice.roll()

    with bench.capture(graph, stream):
        machine.randomness.check_draw(stream, dice)
        bench.fill(x)
        redo()
    node = graph._executable.nodes[0]
    graph._executable.nodes[0] = node._replace(redo=redo)
    seen = [dice.drawn]
    for seed in (None, None, 50):
        if seed is not None:
            machine.randomness.check_seed(machine.current, dice, seed)
            dice.set_state((seed, 0))
        graph.replay()
        seen.append(bench.read(x))
    assert [0, 1, 2, 51] == seen


def test_a_capture_knows_its_generators_and_their_seeds(bench):
    """PyTorch's texts, and the capture stays valid."""
    machine = bench.machine
    stream = bench.stream()
    other = type(bench.dice)()
    graph = Graph(machine)
    with bench.capture(graph, stream):
        machine.randomness.check_seed(stream, bench.dice, 0)
        assert "Attempt to increase offset for a CUDA generator not in capture mode." == catch(
            machine.randomness.check_draw, stream, other
        )
        assert catch(machine.randomness.check_seed, stream, bench.dice, 1).startswith(
            "CUDAGeneratorImpl::set_current_seed can be called during stream capture only if"
        )
    registered = Graph(machine)
    registered.register_generator(other)
    with bench.capture(registered, stream):
        machine.randomness.check_draw(stream, other)


def test_seed_and_offset_lie_on_the_device_while_a_graph_lives(bench):
    """One pair for a generator, however many graphs there are."""
    machine = bench.machine
    held = []
    graphs = [Graph(machine), Graph(machine)]
    for graph in graphs:
        with bench.capture(graph, bench.stream()):
            pass
        held.append(machine.memory.allocator.memory_allocated())
    for graph in graphs:
        graph.close()
        held.append(machine.memory.allocator.memory_allocated())
    assert [1024, 1024, 1024, 0] == held


def test_an_external_event_is_recorded_by_every_replay(bench):
    """And waited for by every replay of another graph."""
    machine = bench.machine
    x = bench.allocate(1)
    event = Event(is_external=True)
    graph = Graph(machine)
    stream = bench.stream()
    with bench.capture(graph, stream):
        bench.fill(x)
        machine.record(event)
    assert event.recorded is None
    graph.replay()
    assert not machine.query_event(event)
    machine.synchronize_event(event)
    assert machine.query_event(event)


def test_a_replay_can_not_be_captured(bench):
    """PyTorch's text; the capture stays valid."""
    x = bench.allocate(1)
    inner, outer = Graph(bench.machine), Graph(bench.machine)
    with bench.capture(inner, bench.stream()):
        bench.fill(x, x, plus=1)
    with bench.capture(outer, bench.stream()):
        assert catch(inner.replay).startswith("Cannot prepare for replay during capturing stage. during CUDA graph")
        bench.fill(x, x, plus=10)
    outer.replay()
    assert 11 == bench.read(x)


def test_a_drawing_names_nodes_and_edges(bench):
    """In the DOT language."""
    x = bench.allocate(1)
    graph = Graph(bench.machine, keep_graph=True)
    with bench.capture(graph, bench.stream()):
        bench.fill(x)
        bench.fill(x)
    drawing = draw_graph(graph.nodes)
    assert '"node_0" -> "node_1";' in drawing
    assert r"1\nfill\nuser.py:2" in drawing
