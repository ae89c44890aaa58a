"""Inference of language models: decoding, batches and quantised weights."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("generation")
VOCABULARY = 13


class Block(nn.Module):
    """A pre-norm transformer block with a cache of keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.RMSNorm(8), nn.RMSNorm(8)
        self.qkv, self.out = nn.Linear(8, 24, bias=False), nn.Linear(8, 8, bias=False)
        self.gate, self.up, self.down = nn.Linear(8, 16), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: torch.Tensor, cache: torch.Tensor, start: int) -> torch.Tensor:
        """Return hidden states ``(batch, time, 8)``; ``cache`` is ``(2, batch, 2, length, 4)``."""
        batch, time, _ = x.shape
        qkv = self.qkv(self.first(x)).view(batch, time, 3, 2, 4).permute(2, 0, 3, 1, 4)
        end = start + time
        cache[:, :, :, start:end] = qkv[1:]
        mask = torch.arange(end, device=x.device) <= torch.arange(start, end, device=x.device)[:, None]
        attended = F.scaled_dot_product_attention(qkv[0], cache[0, :, :, :end], cache[1, :, :, :end], attn_mask=mask)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        y = self.second(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    """Two blocks between an embedding and its transpose."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 8)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.RMSNorm(8)

    def make_cache(self, batch: int, length: int) -> torch.Tensor:
        """Return an empty cache."""
        weight = self.embedding.weight
        return torch.zeros(2, 2, batch, 2, length, 4, device=weight.device, dtype=weight.dtype)

    def forward(self, ids: torch.Tensor, cache: torch.Tensor, start: int) -> torch.Tensor:
        """Return logits ``(batch, time, vocabulary)``."""
        x = self.embedding(ids)
        for block, part in zip(self.blocks, cache, strict=True):
            x = block(x, part, start)
        return F.linear(self.norm(x), self.embedding.weight)


def make_model(device: str, seed: int = 0) -> Model:
    """Return the model with the same weights on each device."""
    torch.manual_seed(seed)
    return Model().to(device).eval()


@TOPIC.snippet
@torch.inference_mode()
def greedy_decoding(device: str) -> object:
    """Prefill, then a token at a time until the end token or the limit."""
    model, ids = make_model(device), torch.tensor([[1, 5, 2], [3, 3, 7]], device=device)
    cache = model.make_cache(2, 10)
    logits = model(ids, cache, 0)
    tokens = [logits[:, -1:].argmax(-1)]
    for position in range(3, 9):
        tokens.append(model(tokens[-1], cache, position)[:, -1:].argmax(-1))
        if bool((tokens[-1] == 0).all()):
            break
    return torch.cat(tokens, 1), logits.float()


@TOPIC.snippet
@torch.inference_mode()
def cached_equals_uncached(device: str) -> object:
    """Step by step with the cache and at once without give the same logits."""
    model, ids = make_model(device), torch.tensor([[4, 8, 1, 6, 2]], device=device)
    whole = model(ids, model.make_cache(1, 5), 0)
    cache = model.make_cache(1, 5)
    steps = [model(ids[:, t : t + 1], cache, t) for t in range(5)]
    return whole, torch.cat(steps, 1)


@TOPIC.snippet
@torch.inference_mode()
def decoding_in_bfloat16(device: str) -> object:
    """The model in 16 bits; logits in 32 for the choice."""
    model = make_model(device).to(torch.bfloat16)
    cache = model.make_cache(1, 4)
    logits = model(torch.tensor([[1, 2, 3]], device=device), cache, 0)
    return logits, logits.float().softmax(-1).sum(-1), cache.dtype == torch.bfloat16


@TOPIC.snippet(is_random=True)
@torch.inference_mode()
def sampled_decoding(device: str) -> object:
    """Tokens drawn with temperature and top-k, each sequence until its end token."""
    model = make_model(device)
    cache = model.make_cache(3, 8)
    token, finished = torch.tensor([[1], [2], [3]], device=device), torch.zeros(3, 1, dtype=torch.bool, device=device)
    tokens = []
    for position in range(8):
        logits = model(token, cache, position)[:, -1] / 0.8
        top = logits.topk(4)
        chosen = top.indices.gather(1, torch.multinomial(top.values.softmax(-1), 1))
        token = torch.where(finished, 0, chosen)
        finished |= token == 0
        tokens.append(token)
    result = torch.cat(tokens, 1)
    is_padded = bool(((result == 0).cumsum(1) > 0).eq(result == 0).all())
    return result, is_padded, bool((result < VOCABULARY).all())


@TOPIC.snippet
@torch.inference_mode()
def beam_search(device: str) -> object:
    """The best four sequences, caches reordered with the beams."""
    model, width = make_model(device), 4
    cache = model.make_cache(width, 6)
    sequences = torch.full((width, 1), 1, device=device)
    scores = torch.tensor([0.0] + [float("-inf")] * (width - 1), device=device)
    for position in range(5):
        logits = model(sequences[:, -1:], cache, position)[:, -1].log_softmax(-1)
        scores, flat = (scores[:, None] + logits).flatten().topk(width)
        parents, tokens = flat // VOCABULARY, flat % VOCABULARY
        sequences = torch.cat([sequences[parents], tokens[:, None]], 1)
        cache.copy_(cache.index_select(2, parents))
    return sequences, scores


@TOPIC.snippet
@torch.inference_mode()
def speculative_decoding(device: str) -> object:
    """A small model proposes three tokens, the large one keeps the prefix that it agrees with."""
    draft, target = make_model(device, 1), make_model(device, 0)
    ids, accepted = torch.tensor([[1, 2]], device=device), []
    for _ in range(4):
        proposal = ids
        for _ in range(3):
            logits = draft(proposal, draft.make_cache(1, proposal.size(1)), 0)
            proposal = torch.cat([proposal, logits[:, -1:].argmax(-1)], 1)
        choices = target(proposal, target.make_cache(1, proposal.size(1)), 0).argmax(-1)
        start = ids.size(1)
        agreed = (choices[:, start - 1 : -1] == proposal[:, start:]).int().cumprod(1).sum().item()
        accepted.append(agreed)
        ids = torch.cat([proposal[:, : start + agreed], choices[:, start + agreed - 1 : start + agreed]], 1)
    return ids, accepted


@TOPIC.snippet(is_random=True)
def speculative_sampling(device: str) -> object:
    """Acceptance by ratio, and the residual distribution when refused."""
    target = torch.tensor([0.6, 0.3, 0.1], device=device)
    draft = torch.tensor([0.2, 0.3, 0.5], device=device)
    tokens = torch.multinomial(draft, 4096, replacement=True)
    is_kept = torch.rand(4096, device=device) < (target / draft).clamp(max=1.0)[tokens]
    residual = (target - draft).clamp(min=0)
    again = torch.multinomial(residual / residual.sum(), 4096, replacement=True)
    share = torch.bincount(torch.where(is_kept, tokens, again), minlength=3) / 4096
    return share, (share - target).abs().max().item() < 0.05


@TOPIC.snippet
@torch.inference_mode()
def continuous_batching(device: str) -> object:
    """Requests of unlike length share a batch; a finished one gives its row to the next."""
    model = make_model(device)
    waiting = [([1, 2], 3), ([4], 2), ([5, 6, 7], 2)]
    cache = model.make_cache(2, 8)
    rows: list[dict | None] = [None, None]
    finished = []
    while waiting or any(rows):
        for row, request in enumerate(rows):
            if request is None and waiting:
                ids, budget = waiting.pop(0)
                logits = model(torch.tensor([ids], device=device), cache[:, :, row : row + 1], 0)
                rows[row] = {"ids": ids, "next": logits[0, -1].argmax().item(), "left": budget, "out": []}
        for row, request in enumerate(rows):
            if request is None:
                continue
            position = len(request["ids"]) + len(request["out"])
            request["out"].append(request["next"])
            logits = model(torch.tensor([[request["next"]]], device=device), cache[:, :, row : row + 1], position)
            request["next"] = logits[0, -1].argmax().item()
            if len(request["out"]) == request["left"]:
                finished.append((request["ids"], request["out"]))
                rows[row] = None
    return finished


@TOPIC.snippet
def stop_sequences(device: str) -> object:
    """Where two tokens in a row end an answer, and what stands before them."""
    ids = torch.tensor([[1, 2, 3, 9, 9, 4], [9, 1, 9, 2, 2, 2]], device=device)
    stop = torch.tensor([9, 9], device=device)
    found = (ids.unfold(1, 2, 1) == stop).all(-1)
    first = torch.where(found.any(1), found.int().argmax(1), ids.size(1))
    return first, [row[: int(end)].tolist() for row, end in zip(ids, first, strict=True)]


@TOPIC.snippet
def weights_in_int8(device: str) -> object:
    """Symmetric quantisation per row, and the product with its scales."""
    weight, x = torch.randn(6, 8).to(device), torch.randn(3, 8).to(device)
    scale = weight.abs().amax(1, keepdim=True) / 127
    quantised = (weight / scale).round().clamp(-128, 127).to(torch.int8)
    product = (x @ quantised.float().T) * scale.T
    x_scale = x.abs().amax(1, keepdim=True) / 127
    rounded = (x / x_scale).round().to(torch.int8)
    exact = (rounded.int()[:, None] * quantised.int()[None]).sum(-1)
    return quantised, product, exact, exact * x_scale * scale.T, (weight - quantised * scale).abs().max() < scale.max()


@TOPIC.snippet
def weights_in_four_bits(device: str) -> object:
    """Two values in a byte, a scale and a zero for each group."""
    weight = torch.randn(4, 16).to(device)
    groups = weight.view(4, 2, 8)
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    scale = (high - low) / 15
    codes = ((groups - low) / scale).round().clamp(0, 15).to(torch.uint8).view(4, 16)
    packed = codes[:, ::2] | (codes[:, 1::2] << 4)
    unpacked = torch.stack([packed & 15, packed >> 4], -1).flatten(1)
    return packed, torch.equal(unpacked, codes), (unpacked.view(4, 2, 8) * scale + low).view(4, 16)


@TOPIC.snippet
def float8_storage(device: str) -> object:
    """A cache kept in 8-bit floating point with one scale."""
    values = torch.randn(4, 8).to(device)
    scale = values.abs().max() / torch.finfo(torch.float8_e4m3fn).max
    stored = (values / scale).to(torch.float8_e4m3fn)
    return (
        stored.float() * scale,
        stored.view(torch.uint8),
        stored.element_size(),
        (values * 2).to(torch.float8_e5m2).float(),
    )


@TOPIC.snippet
@torch.inference_mode()
def prompt_scores(device: str) -> object:
    """Log-probabilities of a padded batch, and its perplexities."""
    model = make_model(device)
    ids = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]], device=device)
    mask = ids != 0
    logits = model(ids, model.make_cache(2, 4), 0)
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none") * mask[:, 1:]
    return losses, (losses.sum(1) / mask[:, 1:].sum(1)).exp()


@TOPIC.snippet
def vocabulary_in_shards(device: str) -> object:
    """A softmax over parts of the vocabulary, as if each lay on its own rank."""
    hidden, weight = torch.randn(3, 8).to(device), torch.randn(12, 8).to(device)
    shards = [hidden @ part.T for part in weight.chunk(4)]
    top = torch.stack([s.amax(-1) for s in shards]).amax(0)
    total = torch.stack([(s - top[:, None]).exp().sum(-1) for s in shards]).sum(0)
    return torch.cat([(s - top[:, None]).exp() / total[:, None] for s in shards], -1), (hidden @ weight.T).softmax(-1)
