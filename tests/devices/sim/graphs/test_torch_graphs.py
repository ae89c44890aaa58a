"""PyTorch's own graph classes on the simulated device."""

from __future__ import annotations

import pytest
import torch


def capture(body, **options):
    """Return a graph of what a function does, and what it returned."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **options):
        result = body()
    return graph, result


def kinds(simulation):
    """Return the kinds of the races so far."""
    return [race.kind for race in simulation.machine.shadow.races]


def test_outputs_are_overwritten_by_each_replay(simulation):
    """From inputs that were copied into the captured tensor."""
    x = torch.ones(4, device="cuda")
    graph, y = capture(lambda: x * 2 + 1)
    seen = []
    for value in (1.0, 5.0):
        x.copy_(torch.full((4,), value, device="cuda"))
        graph.replay()
        seen.append(y.tolist()[0])
    assert [3.0, 11.0] == seen
    assert y.data_ptr() != x.data_ptr()


def test_a_replay_is_one_launch_and_a_capture_none(simulation):
    """Whatever the number of nodes."""
    x = torch.ones(4, device="cuda")
    before = simulation.machine.launches
    graph, _ = capture(lambda: x * 2 + 1)
    captured = simulation.machine.launches
    graph.replay()
    assert [0, 1] == [captured - before, simulation.machine.launches - captured]


def test_an_output_holds_nothing_before_the_first_replay(simulation):
    """A capture does not run, and leaves outside tensors alone."""
    x = torch.ones(4, device="cuda")

    def body():
        y = x * 2
        x.add_(y)
        return y

    _, y = capture(body)
    assert torch.isnan(y).all()
    assert [1.0] * 4 == x.tolist()


def test_views_and_in_place_state_advance(simulation):
    """As an optimizer's state does."""
    state = torch.zeros(2, 3, device="cuda")
    graph, _ = capture(lambda: state[:, 1].add_(1).mul_(2))
    for _ in range(3):
        graph.replay()
    assert [[0.0, 14.0, 0.0]] * 2 == state.tolist()


def test_a_rebound_input_is_stale_and_a_freed_one_is_its_next_owners(simulation):
    """The address counts, not the name."""
    inputs = [torch.ones(1 << 20, device="cuda")]
    graph, y = capture(lambda: inputs[0] * 2)
    inputs.clear()
    taken = torch.full((1 << 20,), 21.0, device="cuda")
    graph.replay()
    assert 42.0 == y[0].item()
    assert ["stale-graph-input"] == kinds(simulation)
    del taken


def test_replays_draw_as_eager_code_does(simulation):
    """They differ, and a new seed is respected."""
    torch.cuda.manual_seed(7)
    eager = [torch.rand(3, device="cuda").tolist() for _ in range(3)]
    torch.cuda.manual_seed(7)
    graph, y = capture(lambda: torch.rand(3, device="cuda"))
    seen = [torch.rand(3, device="cuda").tolist()]
    for _ in range(2):
        graph.replay()
        seen.append(y.tolist())
    assert eager == seen
    torch.cuda.manual_seed(7)
    graph.replay()
    assert eager[0] == y.tolist()


def test_a_registered_generator_draws_in_a_graph(simulation):
    """Registered before the capture."""
    generator = torch.Generator(device="cuda")
    generator.manual_seed(3)
    expected = torch.rand(3, device="cuda", generator=generator).tolist()
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(generator)
    with torch.cuda.graph(graph):
        y = torch.rand(3, device="cuda", generator=generator)
    generator.manual_seed(3)
    graph.replay()
    assert expected == y.tolist()


def test_dropout_differs_between_replays(simulation):
    """Through the module."""
    layer = torch.nn.Dropout(0.5)
    x = torch.ones(1000, device="cuda")
    graph, y = capture(lambda: layer(x))
    graph.replay()
    first = y.clone()
    graph.replay()
    assert not torch.equal(first, y)
    assert {0.0, 2.0} == set(y.tolist())


def test_a_side_stream_is_captured_between_its_fork_and_its_join(simulation):
    """And replayed in one go."""
    x = torch.ones(4, device="cuda")
    side = torch.cuda.Stream()

    def body():
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            assert torch.cuda.is_current_stream_capturing()
            y = x + 1
        z = x * 3
        torch.cuda.current_stream().wait_stream(side)
        return y + z

    graph, out = capture(body)
    assert not side.is_capturing() if hasattr(side, "is_capturing") else True
    graph.replay()
    assert [5.0] * 4 == out.tolist()
    assert [] == kinds(simulation)


def test_branches_without_a_join_between_them_race(simulation):
    """One race, though it is joined at the end."""
    x = torch.ones(4, device="cuda")
    side = torch.cuda.Stream()

    def body():
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.add_(1)
        y = x * 3
        torch.cuda.current_stream().wait_stream(side)
        return y

    capture(body)
    assert ["read-after-write"] == kinds(simulation)


def test_a_replay_must_wait_for_its_inputs(simulation):
    """On a stream that does not wait for the one that wrote them."""
    x = torch.ones(4, device="cuda")
    graph, _ = capture(lambda: x * 2)
    side = torch.cuda.Stream()
    x.fill_(3)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        graph.replay()
    assert [] == kinds(simulation)
    torch.cuda.current_stream().wait_stream(side)
    x.fill_(4)
    with torch.cuda.stream(side):
        graph.replay()
    assert ["read-after-write"] == kinds(simulation)


def test_pinned_copies_are_nodes(simulation):
    """They read and write at replay; the host sees the result once it has waited."""
    source = torch.ones(4).pin_memory()
    target = torch.zeros(4).pin_memory()
    x = torch.zeros(4, device="cuda")

    def body():
        x.copy_(source, non_blocking=True)
        x.mul_(2)
        target.copy_(x, non_blocking=True)

    graph, _ = capture(body)
    assert ([0.0] * 4, [0.0] * 4) == (x.tolist(), target.tolist())
    source.fill_(4)
    graph.replay()
    torch.cuda.synchronize()
    assert [8.0] * 4 == target.tolist()
    assert [] == kinds(simulation)


def test_a_pinned_result_read_early_is_yesterdays(simulation):
    """And reported."""
    target = torch.zeros(4).pin_memory()
    x = torch.ones(4, device="cuda")
    graph, _ = capture(lambda: target.copy_(x, non_blocking=True))
    graph.replay()
    assert 0.0 == target[0].item()
    assert ["host-read-early"] == kinds(simulation)
    torch.cuda.synchronize()
    assert 1.0 == target[0].item()


def test_make_graphed_callables_trains_as_eager_code_does(simulation):
    """Stock, with forward and backward graphs in one pool."""

    def train(is_graphed):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data = torch.randn(5, 3, 8, device="cuda")
        if is_graphed:
            model = torch.cuda.make_graphed_callables(model, (torch.randn(3, 8, device="cuda"),))
        losses = []
        for x in data:
            optimizer.zero_grad(set_to_none=True)
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    assert train(False) == pytest.approx(train(True))
    assert [] == kinds(simulation)


def test_a_whole_training_step_is_captured(simulation):
    """With a capturable optimizer, after a warm-up on a side stream."""
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 4, device="cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, capturable=True)
    x = torch.randn(3, 8, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    optimizer.zero_grad(set_to_none=True)
    graph, loss = capture(step)
    losses = []
    for _ in range(5):
        graph.replay()
        losses.append(loss.item())
    assert sorted(losses, reverse=True) == losses
    assert losses[0] > losses[-1] > 0.0
    assert [] == kinds(simulation)
