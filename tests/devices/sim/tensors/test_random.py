"""Random numbers of the device come from its own generators."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

pytestmark = pytest.mark.usefixtures("simulation")

DRAWS: dict[str, Callable[[], Any]] = {
    "rand": lambda: torch.rand(5, device="cuda"),
    "randn": lambda: torch.randn(5, device="cuda"),
    "randint": lambda: torch.randint(0, 1000, (5,), device="cuda"),
    "randperm": lambda: torch.randperm(20, device="cuda"),
    "rand_like": lambda: torch.rand_like(torch.ones(5, device="cuda")),
    "normal_": lambda: torch.empty(5, device="cuda").normal_(),
    "exponential_": lambda: torch.empty(5, device="cuda").exponential_(),
    "bernoulli": lambda: torch.bernoulli(torch.full((50,), 0.5, device="cuda")),
    "multinomial": lambda: torch.multinomial(torch.ones(50, device="cuda"), 10),
    "dropout": lambda: torch.nn.functional.dropout(torch.ones(50, device="cuda")),
    "normal": lambda: torch.normal(torch.zeros(5, device="cuda"), 1.0),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_gives_the_same_numbers_again(name: str) -> None:
    """Whichever way the seed is set; and other numbers without."""
    draw = DRAWS[name]
    torch.manual_seed(3)
    first, second = draw().tolist(), draw().tolist()
    torch.cuda.manual_seed(3)
    assert (first, True) == (draw().tolist(), first != second)


@pytest.mark.parametrize("name", DRAWS)
def test_the_hosts_generator_is_left_alone(name: str) -> None:
    """Drawing on the device does not move it."""
    state = torch.get_rng_state()
    DRAWS[name]()
    assert state.tolist() == torch.get_rng_state().tolist()


def test_a_state_can_be_put_back() -> None:
    """It is 16 bytes long, as CUDA's: seed and offset."""
    torch.cuda.manual_seed(5)
    torch.rand(3, device="cuda")
    state = torch.cuda.get_rng_state()
    expected = torch.rand(3, device="cuda").tolist()
    torch.cuda.set_rng_state(state)
    assert (16, expected) == (state.numel(), torch.rand(3, device="cuda").tolist())


def test_a_generator_of_ones_own() -> None:
    """It is the device's, and independent of the default one."""
    own = torch.Generator("cuda").manual_seed(1)
    torch.cuda.manual_seed(1)
    numbers = torch.rand(3, device="cuda", generator=own).tolist()
    assert (torch.device("cuda:0"), 1, True) == (own.device, own.initial_seed(), isinstance(own, torch.Generator))
    assert numbers == torch.rand(3, device="cuda").tolist()


def test_an_offset_can_be_set() -> None:
    """The numbers go on from there."""
    own = torch.Generator("cuda").manual_seed(1)
    torch.rand(3, device="cuda", generator=own)
    offset = own.get_offset()
    expected = torch.rand(3, device="cuda", generator=own).tolist()
    own.set_offset(offset)
    assert expected == torch.rand(3, device="cuda", generator=own).tolist()


def test_a_seed_set_before_the_first_use_takes_effect() -> None:
    """PyTorch keeps it until the device is initialised."""
    torch.cuda.manual_seed(7)
    first = torch.rand(3, device="cuda").tolist()
    torch.cuda.manual_seed(7)
    assert first == torch.rand(3, device="cuda").tolist()


def test_replays_of_a_graph_draw_on() -> None:
    """They differ from one another, and agree with what the same ops draw without a graph."""
    torch.cuda.manual_seed(2)
    expected = [torch.rand(3, device="cuda").tolist() for _ in range(2)]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        drawn = torch.rand(3, device="cuda")
    torch.cuda.manual_seed(2)
    replayed = []
    for _ in range(2):
        graph.replay()
        replayed.append(drawn.tolist())
    assert expected == replayed
