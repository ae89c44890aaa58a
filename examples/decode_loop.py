"""Generate text with a small transformer, one token a step.

Four lines of the loop make the host wait for the device, in every step. Find them with

    python practice/judge.py inspect examples/decode_loop.py

and compare with decode_loop_mended.py.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

VOCABULARY, WIDTH, HEADS, LAYERS = 512, 128, 4, 4
BATCH, PROMPT, STEPS = 4, 8, 24
END_OF_TEXT = 0


class Layer(nn.Module):
    """One transformer layer with a cache of keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.first_norm, self.second_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        shape = (2, BATCH, HEADS, PROMPT + STEPS, WIDTH // HEADS)
        self.register_buffer("cache", torch.zeros(shape))

    def forward(self, x: Tensor, at: Tensor, mask: Tensor) -> Tensor:
        """Return the layer's output for tokens x, (batch, tokens, width), at the positions ``at``."""
        batch, tokens, _ = x.shape
        qkv = self.qkv(self.first_norm(x)).view(batch, tokens, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        self.cache.index_copy_(3, at, qkv[1:])
        attended = functional.scaled_dot_product_attention(qkv[0], self.cache[0], self.cache[1], attn_mask=mask)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, tokens, WIDTH))
        return x + self.down(functional.gelu(self.up(self.second_norm(x))))


class Model(nn.Module):
    """A transformer with fresh weights; it writes nonsense."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(PROMPT + STEPS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens: Tensor, at: Tensor) -> Tensor:
        """Return logits, (batch, vocabulary), after the last of the tokens, (batch, tokens)."""
        x = self.tokens(tokens) + self.positions(at)
        mask = torch.arange(PROMPT + STEPS, device=at.device) <= at.unsqueeze(-1)
        for layer in self.layers:
            x = layer(x, at, mask)
        return self.head(x[:, -1])


@torch.inference_mode()
def generate(model: Model, prompt: Tensor) -> list[list[int]]:
    """Return the tokens written after each prompt."""
    written: list[list[int]] = [[] for _ in range(BATCH)]
    certainty = torch.zeros((), device="cuda")
    is_done = torch.zeros(BATCH, dtype=torch.bool, device="cuda")
    logits = model(prompt, torch.arange(PROMPT, device="cuda"))
    for step in range(STEPS):
        probability, best = logits.softmax(-1).max(-1)
        certainty += probability[~is_done].sum()
        for sequence, token in zip(written, best.tolist(), strict=True):
            sequence.append(token)
        is_done |= best == END_OF_TEXT
        if is_done.all():
            break
        position = torch.tensor([PROMPT + step], device="cuda")
        logits = model(best.unsqueeze(-1), position)
    return written


def main() -> None:
    """Generate once and show the beginning of each text."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Model().eval()
    prompt = torch.randint(1, VOCABULARY, (BATCH, PROMPT), device="cuda")
    for sequence in generate(model, prompt):
        print(*sequence[:8])


if __name__ == "__main__":
    main()
