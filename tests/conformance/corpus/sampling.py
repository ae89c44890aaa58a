"""Random numbers, and the choice of the next token."""

from __future__ import annotations

import torch

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("sampling")


def make_logits(device: str) -> torch.Tensor:
    """Return logits of three sequences over 16 tokens, the same on each device."""
    return (torch.arange(48.0).view(3, 16) * 0.7).sin().mul(4).to(device)


@TOPIC.snippet
def greedy(device: str) -> object:
    """The likeliest token, with its log-probability."""
    logits = make_logits(device)
    tokens = logits.argmax(dim=-1)
    return tokens, logits.log_softmax(-1).gather(-1, tokens[:, None]), logits.softmax(-1, dtype=torch.float64).sum(-1)


@TOPIC.snippet
def temperature_of_zero(device: str) -> object:
    """Rows of temperature 0 are greedy, others are scaled."""
    logits = make_logits(device)
    temperature = torch.tensor([0.0, 0.5, 2.0], device=device)[:, None]
    scaled = logits / torch.where(temperature == 0, 1.0, temperature)
    one_hot = torch.nn.functional.one_hot(logits.argmax(-1), 16).float()
    return torch.where(temperature == 0, one_hot, scaled.softmax(-1))


@TOPIC.snippet
def top_k_filter(device: str) -> object:
    """All but the k likeliest are impossible."""
    logits = make_logits(device)
    threshold = logits.topk(4, dim=-1).values[:, -1:]
    kept = logits.masked_fill(logits < threshold, float("-inf"))
    return kept, kept.softmax(-1), kept.isfinite().sum(-1)


@TOPIC.snippet
def top_p_filter(device: str) -> object:
    """The smallest set of tokens whose probability reaches p."""
    logits = make_logits(device)
    ordered, places = logits.sort(dim=-1, descending=True)
    cumulative = ordered.softmax(-1).cumsum(-1)
    drop = cumulative - ordered.softmax(-1) > 0.8
    drop = torch.zeros_like(drop).scatter(-1, places, drop)
    return logits.masked_fill(drop, float("-inf")), drop.sum(-1)


@TOPIC.snippet
def min_p_and_penalties(device: str) -> object:
    """min-p, repetition, presence and frequency penalties."""
    logits = make_logits(device)
    history = torch.tensor([[1, 1, 3], [0, 2, 2], [5, 5, 5]], device=device)
    counts = torch.zeros_like(logits).scatter_add_(1, history, torch.ones_like(history, dtype=logits.dtype))
    seen = counts > 0
    logits = torch.where(seen, torch.where(logits > 0, logits / 1.2, logits * 1.2), logits)
    logits = logits - 0.1 * counts - 0.2 * seen
    probabilities = logits.softmax(-1)
    return probabilities.masked_fill(probabilities < 0.1 * probabilities.amax(-1, keepdim=True), 0.0)


@TOPIC.snippet(is_random=True)
def multinomial(device: str) -> object:
    """Draws with and without replacement stay where probability is."""
    logits = make_logits(device)
    kept = logits.masked_fill(logits < logits.topk(3).values[:, -1:], float("-inf"))
    drawn = torch.multinomial(kept.softmax(-1), 64, replacement=True)
    apart = torch.multinomial(logits.softmax(-1), 16)
    is_allowed = kept.isfinite().gather(1, drawn).all().item()
    return drawn, is_allowed, apart.sort(-1).values.eq(torch.arange(16, device=device)).all().item()


@TOPIC.snippet(is_random=True)
def gumbel_max(device: str) -> object:
    """Exponential noise instead of a multinomial: no wait of the host."""
    probabilities = make_logits(device).softmax(-1)
    noise = torch.empty_like(probabilities).exponential_(1)
    tokens = (probabilities / noise).argmax(-1)
    many = (probabilities[0] / torch.empty(4096, 16, device=device).exponential_()).argmax(-1)
    share = torch.bincount(many, minlength=16) / 4096
    return tokens, (share - probabilities[0]).abs().max().item() < 0.05


@TOPIC.snippet(is_random=True)
def random_factories(device: str) -> object:
    """Ranges and moments of the random factories."""
    uniform, normal = torch.rand(4096, device=device), torch.randn(4096, device=device, dtype=torch.float64)
    whole, order = torch.randint(3, 9, (256,), device=device), torch.randperm(100, device=device)
    coin = torch.bernoulli(torch.full((4096,), 0.25, device=device))
    return uniform, normal, whole, order, coin, [
        bool(((uniform >= 0) & (uniform < 1)).all()), abs(uniform.mean().item() - 0.5) < 0.05,
        abs(normal.std().item() - 1) < 0.1, whole.min().item() >= 3, whole.max().item() < 9,
        order.sort().values.tolist() == list(range(100)), abs(coin.mean().item() - 0.25) < 0.05,
    ]  # fmt: skip


@TOPIC.snippet(is_random=True)
def random_in_place(device: str) -> object:
    """Fills of an existing tensor."""
    values = torch.empty(2048, device=device)
    means = [
        values.uniform_(2, 4).mean().item(), values.normal_(1, 0.1).mean().item(), values.bernoulli_(0.5).mean().item(),
        values.exponential_(2).mean().item(), values.geometric_(0.5).mean().item(), values.cauchy_().median().item(),
    ]  # fmt: skip
    near = [abs(mean - wanted) < 0.25 for mean, wanted in zip(means, (3, 1, 0.5, 0.5, 2, 0), strict=True)]
    return values, near, torch.rand_like(values), torch.randint_like(values, 5), torch.normal(values, 1.0)


@TOPIC.snippet(is_random=True)
def seeds_repeat(device: str) -> object:
    """The same seed gives the same numbers, and a saved state goes on where it was."""
    torch.manual_seed(3)
    first = torch.rand(4, device=device)
    torch.manual_seed(3)
    second = torch.rand(4, device=device)
    module = torch.cuda if device == "cuda" else torch
    state = module.get_rng_state()
    third = torch.rand(4, device=device)
    module.set_rng_state(state)
    return (
        first,
        torch.equal(first, second),
        torch.equal(third, torch.rand(4, device=device)),
        torch.equal(first, third),
    )


@TOPIC.snippet(is_random=True)
def own_generators(device: str) -> object:
    """Generators of their own, apart from the global one."""
    one, two = torch.Generator(device=device).manual_seed(5), torch.Generator(device=device).manual_seed(5)
    first = torch.randn(4, device=device, generator=one)
    torch.rand(100, device=device)
    second = torch.randn(4, device=device, generator=two)
    state = one.get_state()
    third = torch.randint(10, (3,), device=device, generator=one)
    one.set_state(state)
    again = torch.randint(10, (3,), device=device, generator=one)
    return first, torch.equal(first, second), torch.equal(third, again), one.device.type == device, one.initial_seed()


@TOPIC.snippet(is_random=True)
def forked_random_state(device: str) -> object:
    """Inside the fork numbers are drawn; outside none were."""
    torch.manual_seed(1)
    expected = torch.rand(2, device=device)
    torch.manual_seed(1)
    with torch.random.fork_rng(devices=[0] if device == "cuda" else []):
        inside = torch.rand(5, device=device)
    return inside, torch.equal(expected, torch.rand(2, device=device))


@TOPIC.snippet(is_random=True)
def distributions(device: str) -> object:
    """``torch.distributions`` with parameters on the device."""
    from torch.distributions import Categorical, Normal

    tokens = Categorical(logits=make_logits(device))
    normal = Normal(torch.zeros(3, device=device), torch.ones(3, device=device))
    drawn = normal.rsample((512,))
    fixed = tokens.log_prob(torch.tensor([1, 2, 3], device=device))
    rounded = [round(value, 3) for value in fixed.tolist()]
    return tokens.sample(), rounded, tokens.entropy(), drawn, drawn.mean().abs().item() < 0.2
