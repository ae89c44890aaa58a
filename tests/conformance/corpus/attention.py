"""Attention, position encodings and caches of keys and values."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("attention")


def make_heads(device: str, length: int = 6, count: int = 4) -> list[torch.Tensor]:
    """Return query, key and value of 2 sequences: ``(2, count, length, 8)``."""
    return [torch.randn(2, count, length, 8).to(device) for _ in range(3)]


@TOPIC.snippet
def by_hand_and_fused(device: str) -> object:
    """Scores, mask, softmax, sum; and the function that does all of it."""
    query, key, value = make_heads(device)
    mask = torch.ones(6, 6, dtype=torch.bool, device=device).tril()
    scores = (query @ key.transpose(-2, -1) / math.sqrt(8)).masked_fill(~mask, float("-inf"))
    fused = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    masked = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return scores.softmax(-1) @ value, fused, masked


@TOPIC.snippet
def grouped_queries(device: str) -> object:
    """Two query heads share one head of keys."""
    query, key, value = make_heads(device)
    key, value = key[:, :2], value[:, :2]
    repeated = [t.repeat_interleave(2, dim=1) for t in (key, value)]
    return [
        F.scaled_dot_product_attention(query, key, value, enable_gqa=True),
        F.scaled_dot_product_attention(query, *repeated),
    ]


@TOPIC.snippet
def attention_in_half_types(device: str) -> object:
    """16-bit attention with a bias, and its gradient."""
    query, key, value = (t.bfloat16().requires_grad_() for t in make_heads(device))
    output = F.scaled_dot_product_attention(query, key, value, scale=0.5)
    output.float().sum().backward()
    return output.detach(), query.grad, value.grad


@TOPIC.snippet
def chosen_kernel(device: str) -> object:
    """The context manager that names a backend."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    query, key, value = make_heads(device)
    with sdpa_kernel(SDPBackend.MATH):
        plain = F.scaled_dot_product_attention(query, key, value)
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        either = F.scaled_dot_product_attention(query, key, value)
    return plain, either


@TOPIC.snippet
def rotary_embedding(device: str) -> object:
    """RoPE by halves and by complex numbers."""
    query = make_heads(device)[0]
    inverse = 1.0 / (10000 ** (torch.arange(0, 8, 2, device=device).float() / 8))
    angles = torch.outer(torch.arange(6, device=device), inverse)
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    left, right = query.chunk(2, dim=-1)
    halves = query * cos + torch.cat((-right, left), dim=-1) * sin
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(query.reshape(2, 4, 6, 4, 2)) * turns
    return halves, torch.view_as_real(pairs).flatten(-2), cos.bfloat16()


@TOPIC.snippet
def linear_biases(device: str) -> object:
    """ALiBi and a sliding window as one additive mask."""
    query, key, value = make_heads(device)
    slopes = torch.pow(2.0, -torch.arange(1, 5, device=device).float())
    distance = torch.arange(6, device=device)[None] - torch.arange(6, device=device)[:, None]
    bias = slopes[:, None, None] * distance
    bias = bias.masked_fill((distance > 0) | (distance < -3), float("-inf"))
    return F.scaled_dot_product_attention(query, key, value, attn_mask=bias)


@TOPIC.snippet
def static_cache(device: str) -> object:
    """A cache of fixed size, written at a position that is a tensor."""
    keys, values = (torch.zeros(2, 4, 8, 8, device=device) for _ in range(2))
    outputs = []
    for step in range(3):
        query, key, value = make_heads(device, 1)
        position = torch.tensor([step], device=device)
        keys.index_copy_(2, position, key)
        values.index_copy_(2, position, value)
        mask = torch.arange(8, device=device) <= position
        outputs.append(F.scaled_dot_product_attention(query, keys, values, attn_mask=mask[None, None, None]))
    return torch.cat(outputs, 2), keys


@TOPIC.snippet
def growing_cache(device: str) -> object:
    """A cache that is joined anew at each step."""
    cache: list[torch.Tensor] | None = None
    outputs = []
    for _ in range(4):
        query, key, value = make_heads(device, 1)
        cache = (
            [key, value] if cache is None else [torch.cat(pair, 2) for pair in zip(cache, (key, value), strict=True)]
        )
        outputs.append(F.scaled_dot_product_attention(query, *cache))
    return torch.cat(outputs, 2), cache


@TOPIC.snippet
def paged_cache(device: str) -> object:
    """Keys in pages, found through a table of blocks."""
    pages = torch.zeros(6, 2, 8, device=device)  # page, slot, features
    table = torch.tensor([[4, 1], [0, 5]], device=device)
    lengths = torch.tensor([3, 4], device=device)
    new = torch.randn(2, 4, 8).to(device)
    for step in range(4):
        page = table[:, step // 2]
        alive = step < lengths
        pages[page[alive], step % 2] = new[alive, step]
    gathered = pages[table].flatten(1, 2)
    mask = torch.arange(4, device=device) < lengths[:, None]
    scores = torch.einsum("bd,btd->bt", new[:, 0], gathered).masked_fill(~mask, float("-inf"))
    return pages, torch.einsum("bt,btd->bd", scores.softmax(-1), gathered)


@TOPIC.snippet
def slot_mapping(device: str) -> object:
    """Tokens of a packed batch written into a flat cache."""
    cache = torch.zeros(3, 4, 2, device=device, dtype=torch.float16)
    slots = torch.tensor([0, 1, 5, 9, -1], device=device)
    tokens = torch.arange(10.0, device=device).view(5, 2).half()
    valid = slots >= 0
    cache.view(-1, 2)[slots[valid]] = tokens[valid]
    return cache, cache.view(-1, 2).index_select(0, slots.clamp(min=0))


@TOPIC.snippet
def ring_cache(device: str) -> object:
    """A window of the last four tokens, written in a ring."""
    ring, window = torch.zeros(4, 3, device=device), 4
    for step in range(7):
        ring[step % window] = torch.full((3,), float(step), device=device)
    order = (torch.arange(window, device=device) + 7) % window
    return ring, ring[order], ring.roll(-(7 % window), 0)


@TOPIC.snippet
def latent_cache(device: str) -> object:
    """Keys and values kept as one compressed latent, as in MLA."""
    down, up_key, up_value = torch.randn(8, 3).to(device), torch.randn(3, 8).to(device), torch.randn(3, 8).to(device)
    hidden = torch.randn(2, 5, 8).to(device)
    latent = hidden @ down
    plain = F.scaled_dot_product_attention(hidden[:, -1:], latent @ up_key, latent @ up_value)
    absorbed = (hidden[:, -1:] @ up_key.T @ latent.mT / math.sqrt(8)).softmax(-1) @ latent @ up_value
    return plain, absorbed


@TOPIC.snippet
def packed_sequences_block_mask(device: str) -> object:
    """Sequences packed end to end that must not see each other."""
    bounds = torch.tensor([0, 2, 5, 6], device=device)
    document = torch.repeat_interleave(torch.arange(3, device=device), bounds.diff())
    mask = (document[:, None] == document[None]) & torch.ones(6, 6, device=device, dtype=torch.bool).tril()
    query, key, value = (t[0] for t in make_heads(device))
    whole = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    apart = [F.scaled_dot_product_attention(query[:, a:b], key[:, a:b], value[:, a:b], is_causal=True)
             for a, b in zip(bounds.tolist(), bounds.tolist()[1:], strict=False)]  # fmt: skip
    return whole, torch.cat(apart, 1), mask


@TOPIC.snippet
def chunked_prefill(device: str) -> object:
    """A prompt in two chunks equals the prompt at once."""
    query, key, value = make_heads(device, 8)
    whole = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    chunks = []
    for start in (0, 4):
        end = start + 4
        mask = torch.arange(end, device=device)[None] <= torch.arange(start, end, device=device)[:, None]
        chunks.append(
            F.scaled_dot_product_attention(query[:, :, start:end], key[:, :, :end], value[:, :, :end], attn_mask=mask)
        )
    return whole, torch.cat(chunks, 2)
