"""What may and may not be done while a stream is captured."""

from __future__ import annotations

import threading

import pytest

from judge.devices.sim.cost import Work
from judge.devices.sim.events import Event
from judge.devices.sim.graphs.graph import Graph


def catch(call, *arguments, **options):
    """Return the first line of what a call raises."""
    with pytest.raises(RuntimeError) as caught:
        call(*arguments, **options)
    return str(caught.value).splitlines()[0]


NOT_PERMITTED = "CUDA error: operation not permitted when stream is capturing"
PREVIOUS = "CUDA error: operation failed due to a previous error during capture"


def test_a_captured_operation_does_not_run(bench):
    """Bytes of outside blocks are as before, and those of the graph hold nothing."""
    x = bench.allocate(1)
    graph = Graph(bench.machine)
    with bench.capture(graph, bench.stream()):
        y = bench.allocate()
        bench.fill(y, x, plus=1)
        bench.fill(x, y, plus=1)
    assert (1, 255) == (bench.read(x), bench.read(y))


def test_a_replay_works_on_the_same_addresses(bench):
    """In-place state advances with each replay."""
    x = bench.allocate(1)
    graph = Graph(bench.machine)
    with bench.capture(graph, bench.stream()):
        y = bench.allocate()
        bench.fill(y, x, plus=1)
        bench.fill(x, y, plus=1)
    graph.replay()
    graph.replay()
    assert (5, 4) == (bench.read(x), bench.read(y))


def test_graph_memory_comes_from_its_own_pool(bench):
    """Memory on a stream outside the capture comes from the default pool."""
    graph = Graph(bench.machine)
    machine = bench.machine
    with bench.capture(graph, bench.stream()):
        inside = bench.allocate()
        outside = machine.memory.allocate(512, 0)
    pools = {
        block["address"]: segment["segment_pool_id"]
        for segment in machine.memory.allocator.memory_snapshot()
        for block in segment["blocks"]
    }
    assert (graph.pool_id, (0, 0)) == (pools[inside], pools[outside])
    assert graph.pool_id == (1, 0)


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda machine, stream: machine.synchronize_device(), id="device synchronize"),
        pytest.param(
            lambda machine, stream: machine.synchronize_stream(stream, kind="item", call="item"),
            id="stream synchronize",
        ),
        pytest.param(lambda machine, stream: machine.query_stream(stream), id="stream query"),
    ],
)
def test_waiting_for_a_capturing_stream_invalidates_in_every_mode(bench, call, mode):
    """CUDA error 900 at each such call, 901 for work and at the end."""
    stream = bench.stream()
    machine = bench.machine
    graph = Graph(machine)
    machine.current = stream
    graph.begin(None, mode)
    assert NOT_PERMITTED == catch(call, machine, stream)
    assert NOT_PERMITTED == catch(call, machine, stream)
    assert PREVIOUS == catch(machine.launch, Work("fill", 1.0), (), ())
    assert PREVIOUS == catch(graph.end)
    assert stream.capture is None
    assert not machine.captures


@pytest.mark.parametrize(
    ("mode", "expected"), [("global", NOT_PERMITTED), ("thread_local", None), ("relaxed", None)], ids=str
)
def test_another_threads_event_query_is_unsafe_in_global_mode_only(bench, mode, expected):
    """As the watchdog of a communication library does."""
    machine = bench.machine
    event = Event()
    machine.record(event)
    machine.current = bench.stream()
    graph = Graph(machine)
    graph.begin(None, mode)
    seen: list[str | None] = []

    def watch() -> None:
        try:
            machine.query_event(event)
        except RuntimeError as error:
            seen.append(str(error).splitlines()[0])
        else:
            seen.append(None)

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert [expected] == seen
    if expected is None:
        graph.end()
    else:
        assert PREVIOUS == catch(graph.end)


@pytest.mark.parametrize(
    ("mode", "expected"), [("global", NOT_PERMITTED), ("thread_local", NOT_PERMITTED), ("relaxed", None)], ids=str
)
def test_the_own_threads_event_query_is_unsafe_unless_relaxed(bench, mode, expected):
    """An event that was recorded before the capture."""
    machine = bench.machine
    event = Event()
    machine.record(event)
    machine.current = bench.stream()
    graph = Graph(machine)
    graph.begin(None, mode)
    if expected is None:
        machine.query_event(event)
        graph.end()
    else:
        assert expected == catch(machine.query_event, event)
        assert PREVIOUS == catch(graph.end)


def test_an_event_of_a_capture_can_not_be_asked(bench):
    """CUDA error 907 while the capture goes on, 1 when it is over."""
    machine = bench.machine
    machine.current = bench.stream()
    first, second = Event(), Event()
    graph = Graph(machine)
    graph.begin()
    machine.record(first)
    graph.end()
    assert "CUDA error: invalid argument" == catch(machine.query_event, first)
    assert "CUDA error: invalid argument" == catch(machine.synchronize_event, first)
    other = Graph(machine)
    other.begin(None, "relaxed")
    machine.record(second)
    assert "CUDA error: operation not permitted on an event last recorded in a capturing stream" == catch(
        machine.query_event, second
    )
    assert PREVIOUS == catch(other.end)


def test_a_side_stream_is_drawn_in_by_an_event_and_must_be_joined(bench):
    """CUDA error 904 without the join."""
    machine = bench.machine
    main, side = bench.stream(), bench.stream()
    for is_joined in (True, False):
        x = bench.allocate(1)
        graph = Graph(machine)
        machine.current = main
        graph.begin()
        machine.wait_stream(side, main)
        assert side.capture is main.capture
        machine.current = side
        bench.fill(x, plus=3)
        machine.current = main
        if is_joined:
            machine.wait_stream(main, side)
            assert graph.end()
            graph.replay()
            assert 3 == bench.read(x)
        else:
            assert "CUDA error: capturing stream has unjoined work" == catch(graph.end)
        assert side.capture is None


def test_waiting_for_work_from_before_the_capture_is_refused(bench):
    """CUDA error 905."""
    machine = bench.machine
    main, side = bench.stream(), bench.stream()
    machine.current = main
    graph = Graph(machine)
    graph.begin()
    text = "CUDA error: dependency created on uncaptured work in another stream"
    assert text == catch(machine.wait_stream, main, side)
    assert PREVIOUS == catch(graph.end)


def test_the_default_stream_can_not_be_drawn_in(bench):
    """CUDA error 906."""
    machine = bench.machine
    main = bench.stream()
    machine.current = main
    graph = Graph(machine)
    graph.begin()
    text = "CUDA error: operation would make the legacy stream depend on a capturing blocking stream"
    assert text == catch(machine.wait_stream, machine.streams.default, main)
    assert PREVIOUS == catch(graph.end)


def test_two_captures_can_not_be_merged(bench):
    """CUDA error 902, and both are invalid."""
    machine = bench.machine
    streams = [bench.stream(), bench.stream()]
    graphs = [Graph(machine), Graph(machine)]
    for stream, graph in zip(streams, graphs, strict=True):
        machine.current = stream
        graph.begin(None, "relaxed")
    text = "CUDA error: operation would result in a merge of separate capture sequences"
    assert text == catch(machine.wait_stream, *streams)
    for stream, graph in zip(streams, graphs, strict=True):
        machine.current = stream
        assert PREVIOUS == catch(graph.end)


def test_work_on_the_default_stream_breaks_the_capture_of_a_blocking_stream(bench):
    """CUDA error 906; a stream of the pool does not mind."""
    machine = bench.machine
    x = bench.allocate(1)
    stream = machine.streams.create(is_blocking=True)
    machine.current = stream
    graph = Graph(machine)
    graph.begin()
    machine.current = machine.streams.default
    text = "CUDA error: operation would make the legacy stream depend on a capturing blocking stream"
    assert text == catch(bench.fill, x)
    machine.current = stream
    assert PREVIOUS == catch(graph.end)


def test_work_on_a_stream_outside_runs_at_once_and_is_not_captured(bench):
    """Silently, as on the device."""
    machine = bench.machine
    x = bench.allocate(1)
    main, other = bench.stream(), bench.stream()
    machine.current = main
    graph = Graph(machine)
    graph.begin()
    machine.current = other
    bench.fill(x, plus=7)
    machine.current = main
    assert not graph.end()
    assert 7 == bench.read(x)


def test_a_capture_ends_on_its_stream_and_in_its_thread(bench):
    """PyTorch's text for the stream; CUDA error 908 for the thread unless the mode is relaxed."""
    machine = bench.machine
    main, other = bench.stream(), bench.stream()
    for mode, expected in (("global", 908), ("relaxed", None)):
        machine.current = main
        graph = Graph(machine)
        graph.begin(None, mode)
        machine.current = other
        assert "Capture must end on the same stream it began on." == catch(graph.end)
        seen: list[int | None] = []

        def finish(graph: Graph = graph, seen: list[int | None] = seen) -> None:
            machine.current = main
            try:
                graph.end()
            except RuntimeError as error:
                seen.append(error.error_code)
            else:
                seen.append(None)

        thread = threading.Thread(target=finish)
        thread.start()
        thread.join()
        assert [expected] == seen
        machine.current = main
        assert "CUDA error: the operation cannot be performed in the present state" == catch(graph.end)


def test_libraries_must_be_ready_before_the_capture(bench):
    """The first matrix product of the process fails in a capture, and a later one does not."""
    machine = bench.machine
    stream = bench.stream()
    machine.current = stream
    graph = Graph(machine)
    graph.begin()
    text = "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"
    assert text == catch(machine.libraries.prepare, "mm", stream)
    assert PREVIOUS == catch(graph.end)
    machine.libraries.prepare("mm", machine.streams.default)
    other = Graph(machine)
    other.begin()
    machine.libraries.prepare("mm", stream)
    other.end()
