"""CUDA graphs."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("graphs")


def warm_up(run: Callable[[], object], times: int = 2) -> None:
    """Run on a side stream, as is done before a capture."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(times):
            run()
    torch.cuda.current_stream().wait_stream(side)


@TOPIC.snippet(expected=lambda: [[1.0, 3.0, 5.0, 7.0], [1.0, 3.0, 5.0, 7.0], torch.full((4,), 21.0)])
def captured_and_replayed(device: str) -> object:
    """A graph reads its input at each replay, and only then."""
    x, graph = torch.zeros(4, device=device), torch.cuda.CUDAGraph()
    warm_up(lambda: x * 2 + 1)
    with torch.cuda.graph(graph):
        y = x * 2 + 1
    x.copy_(torch.arange(4.0))
    graph.replay()
    first = y.tolist()
    x.fill_(10)
    kept = y.tolist()
    graph.replay()
    return [first, kept, y]


@TOPIC.snippet(expected=lambda: [0.0, torch.full((2,), 3.0), False, True])
def nothing_runs_in_a_capture(device: str) -> object:
    """A counter stays as it is while a graph is captured."""
    counter, graph = torch.zeros(2, device=device), torch.cuda.CUDAGraph()
    counter.add_(0)
    with torch.cuda.graph(graph):
        counter.add_(1)
        inside = torch.cuda.is_current_stream_capturing()
    before = counter.sum().item()
    for _ in range(3):
        graph.replay()
    return [before, counter, torch.cuda.is_current_stream_capturing(), inside]


@TOPIC.snippet
def module_in_a_graph(device: str) -> object:
    """A model's forward behind static inputs; without a device that has graphs, the forward itself."""
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)).to(device).eval()
    batch = torch.randn(2, 8).to(device)
    with torch.no_grad():
        if device == "cpu":
            return model(batch)
        static, graph = torch.zeros(2, 8, device=device), torch.cuda.CUDAGraph()
        warm_up(lambda: model(static))
        with torch.cuda.graph(graph):
            output = model(static)
        static.copy_(batch)
        graph.replay()
        return output


@TOPIC.snippet
def graphs_by_batch_size(device: str) -> object:
    """One graph for each bucket, largest first, in one pool of memory."""
    weight = torch.randn(8, 8).to(device)
    batches = {size: torch.randn(size, 8).to(device) for size in (4, 2, 1)}
    if device == "cpu":
        return {size: (batch @ weight).relu() for size, batch in batches.items()}
    pool, graphs = None, {}
    for size in batches:
        static, graph = torch.zeros(size, 8, device=device), torch.cuda.CUDAGraph()
        warm_up(lambda static=static: static @ weight)
        with torch.cuda.graph(graph, pool=pool):
            output = (static @ weight).relu()
        pool = graph.pool()
        graphs[size] = graph, static, output
    results = {}
    for size, (graph, static, output) in graphs.items():
        static.copy_(batches[size])
        graph.replay()
        results[size] = output.clone()
    return results


@TOPIC.snippet
def decoding_in_a_graph(device: str) -> object:
    """A decode step with a cache and a position that live on the device."""
    embedding, head = nn.Embedding(11, 8).to(device), nn.Linear(8, 11).to(device)
    cache, position = torch.zeros(1, 6, 8, device=device), torch.zeros(1, dtype=torch.long, device=device)
    token, out = torch.tensor([3], device=device), torch.zeros(6, dtype=torch.long, device=device)

    @torch.no_grad()
    def step() -> None:
        query = embedding(token)
        cache.index_copy_(1, position, query[None])
        mask = torch.arange(6, device=device)[None] <= position
        hidden = F.scaled_dot_product_attention(query[None], cache, cache, attn_mask=mask[None])
        token.copy_(head(hidden[0]).argmax(-1))
        out.index_copy_(0, position, token)
        position.add_(1)

    if device == "cpu":
        for _ in range(5):
            step()
        return out, cache
    warm_up(step)
    cache.zero_()
    position.zero_()
    token.fill_(3)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(5):
        graph.replay()
    return out, cache


@TOPIC.snippet
def training_step_in_a_graph(device: str) -> object:
    """Forward, backward and optimizer in one graph."""
    model, x, y = nn.Linear(4, 1).to(device), torch.randn(8, 4).to(device), torch.randn(8, 1).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, capturable=device == "cuda")

    def step() -> None:
        optimizer.zero_grad(set_to_none=False)
        F.mse_loss(model(x), y).backward()
        optimizer.step()

    if device == "cpu":
        for _ in range(6):
            step()
    else:
        warm_up(step, 3)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        for _ in range(3):
            graph.replay()
    return model.weight.detach(), model.bias.grad


@TOPIC.snippet
def graphed_callables(device: str) -> object:
    """``make_graphed_callables`` with gradients."""
    model, x = nn.Sequential(nn.Linear(4, 4), nn.Tanh()).to(device), torch.randn(2, 4).to(device)
    if device == "cuda":
        sample = torch.randn(2, 4, device=device, requires_grad=True)
        model = torch.cuda.make_graphed_callables(model, (sample,))
    x = x.requires_grad_()
    output = model(x)
    output.square().sum().backward()
    return output.detach().clone(), x.grad, model[0].weight.grad


@TOPIC.snippet(is_random=True)
def random_numbers_in_a_graph(device: str) -> object:
    """Each replay draws anew; the same seed gives the same draws."""
    if device == "cpu":
        return torch.rand(64), True, True
    graph, x = torch.cuda.CUDAGraph(), torch.zeros(64, device=device)
    with torch.cuda.graph(graph):
        y = x + torch.rand(64, device=device)
    torch.manual_seed(1)
    draws = []
    for _ in range(2):
        graph.replay()
        draws.append(y.clone())
    torch.manual_seed(1)
    graph.replay()
    return y, not torch.equal(draws[0], draws[1]), torch.equal(y, draws[0])


@TOPIC.snippet(expected=lambda: [True, True, torch.full((3,), 2.0)])
def waiting_in_a_capture_is_an_error(device: str) -> object:
    """The host can't read a value that is not computed yet; afterwards all works as before."""
    x, graph, text = torch.ones(3, device=device), torch.cuda.CUDAGraph(), ""
    try:
        with torch.cuda.graph(graph):
            x.sum().item()
    except RuntimeError as error:
        text = str(error)
    return ["captur" in text, not torch.cuda.is_current_stream_capturing(), x + 1]


@TOPIC.snippet(expected=lambda: torch.full((4,), 10.0))
def fork_and_join_in_a_capture(device: str) -> object:
    """Two branches of a graph on two streams."""
    x, graph, side = torch.ones(4, device=device), torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph):
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        with torch.cuda.stream(side):
            left = x * 4
        right = x * 6
        main.wait_stream(side)
        total = left + right
    x.fill_(1)
    graph.replay()
    return total
