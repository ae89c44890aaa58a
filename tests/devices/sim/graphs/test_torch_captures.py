"""Captures through `torch.cuda.graph`: modes, failures, pools, and what is frozen."""

from __future__ import annotations

import threading
import warnings

import pytest
import torch

from tests.devices.sim.graphs.test_capture import NOT_PERMITTED, PREVIOUS, catch


def capture(body, **options):
    """Return a graph of what a function does, and what it returned."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **options):
        result = body()
    return graph, result


def kinds(simulation):
    """Return the kinds of the races so far."""
    return [race.kind for race in simulation.machine.shadow.races]


@pytest.mark.parametrize("is_inner", [True, False], ids=["capture", "replay"])
def test_inference_mode_may_end_between_capture_and_replay(simulation, is_inner):
    """Either may be inside."""
    x = torch.ones(4, device="cuda")
    with torch.inference_mode(is_inner):
        graph, y = capture(lambda: (x * 2).add_(1))
    with torch.inference_mode(not is_inner):
        graph.replay()
    assert [3.0] * 4 == y.tolist()


def test_autocast_acts_at_capture_and_not_at_replay(simulation):
    """The kernels are the captured ones."""
    a = torch.ones(8, 8, device="cuda")
    a @ a
    graph, y = capture(lambda: a @ a)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        graph.replay()
    assert torch.float32 == y.dtype
    assert 8.0 == y[0, 0].item()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        graph, y = capture(lambda: a @ a)
    graph.replay()
    assert torch.bfloat16 == y.dtype
    assert 8.0 == y[0, 0].item()


@pytest.mark.skipif(not hasattr(torch.utils, "_cuda_debug") and torch.__version__ < "2.13", reason="new in torch 2.13")
def test_dead_inputs_are_found_on_request(simulation):
    """``check_input_liveness=True``."""
    inputs = [torch.ones(4, device="cuda"), torch.ones(4, device="cuda")]
    graph, _ = capture(lambda: (inputs[0] + inputs[1]) * 2, check_input_liveness=True)
    graph.replay()
    inputs.pop()
    assert "CUDA graph replay detected 1 dead tensor(s)." == catch(graph.replay)


def test_a_failed_capture_leaves_its_stream_current(simulation):
    """Its end raises before the stream is restored, and hides the first error."""
    x = torch.ones(4, device="cuda")
    before = torch.cuda.current_stream()
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(torch.AcceleratorError) as caught, torch.cuda.graph(graph):
        x.sum().item()
    assert PREVIOUS == str(caught.value).splitlines()[0]
    assert 901 == caught.value.error_code
    assert NOT_PERMITTED == str(caught.value.__context__).splitlines()[0]
    assert before != torch.cuda.current_stream()
    assert not torch.cuda.is_current_stream_capturing()


def test_an_exception_of_the_body_leaves_a_partial_graph(simulation):
    """It can be replayed."""
    x = torch.ones(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    kept = []

    def body():
        kept.append(x + 1)
        raise KeyError("mine")

    with pytest.raises(KeyError), torch.cuda.graph(graph):
        body()
    graph.replay()
    assert [2.0] * 4 == kept[0].tolist()


@pytest.mark.parametrize(
    ("mode", "expected"), [("global", NOT_PERMITTED), ("thread_local", None), ("relaxed", None)], ids=str
)
def test_a_watching_thread_breaks_a_capture_in_global_mode(simulation, mode, expected):
    """With a plain ``event.query()``."""
    event = torch.cuda.Event()
    event.record()
    x = torch.ones(4, device="cuda")
    seen = []

    def watch():
        try:
            event.query()
        except torch.AcceleratorError as error:
            seen.append(str(error).splitlines()[0])

    graph = torch.cuda.CUDAGraph()

    def run():
        with torch.cuda.graph(graph, capture_error_mode=mode):
            x + 1
            thread = threading.Thread(target=watch)
            thread.start()
            thread.join()

    if expected is None:
        run()
    else:
        assert PREVIOUS == catch(run)
    assert ([] if expected is None else [expected]) == seen


def test_an_empty_graph_warns(simulation):
    """PyTorch's text."""
    with pytest.warns(UserWarning, match="The CUDA Graph is empty"):
        capture(lambda: None)


def test_a_shared_pool_is_reserved_once_and_private_ones_each(simulation):
    """Buckets of a decode loop, the largest first."""
    weight = torch.ones(512, 512, device="cuda")
    inputs = torch.ones(8, 512, device="cuda")
    inputs @ weight

    def reserve(pool):
        figures = []
        graphs = []
        for batch in (8, 4, 2, 1):
            options = {} if pool is None else {"pool": pool}
            graphs.append(capture(lambda batch=batch: (inputs[:batch].repeat(2048, 1) @ weight).sum(), **options))
            figures.append(torch.cuda.memory_reserved())
        return figures, graphs

    shared, kept = reserve(torch.cuda.graph_pool_handle())
    assert 1 == len(set(shared))
    private, more = reserve(None)
    assert 4 == len(set(private))
    before = torch.cuda.memory_reserved()
    del more
    torch.cuda.empty_cache()
    assert before - torch.cuda.memory_reserved() == private[-1] - shared[-1]
    del kept


def test_a_kept_graph_is_drawn_and_instantiated_on_request(simulation, tmp_path):
    """``keep_graph=True``, ``debug_dump``, raw handles."""
    x = torch.ones(4, device="cuda")
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        y = x + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph.debug_dump(str(tmp_path / "graph.dot"))
    assert "digraph" in (tmp_path / "graph.dot").read_text()
    assert isinstance(graph.raw_cuda_graph(), int)
    graph.instantiate()
    assert isinstance(graph.raw_cuda_graph_exec(), int)
    graph.replay()
    assert [2.0] * 4 == y.tolist()
    assert (1, 0) == tuple(graph.pool())
    graph.reset()
    assert catch(graph.replay) in (
        "Called CUDAGraph::replay without a preceding successful capture.",
        "capture_end() must have been called before calling instantiate",  # torch 2.14
    )
