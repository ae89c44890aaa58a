"""The rules of the statement in plain Python, on lists; inputs for them that every dtype holds exactly."""

from __future__ import annotations

from math import inf
from random import Random
from typing import Any

import torch
from torch import Tensor

PAD = -1
PENALTIES = (0.0, 0.5, 2.0, 4.0)
"""Powers of two, so that every dtype divides and multiplies exactly; 0 is off."""

Row = list[float]


class Rules:
    """What each part of the step must give. Arguments as for the solution's class, with experts as lists."""

    def __init__(
        self, rows: int, vocab: int, stop_tokens: list[int], min_tokens: int, window: int, experts: list[list[Row]]
    ) -> None:
        self.stop_tokens, self.min_tokens = stop_tokens, min_tokens
        self.vocab, self.window, self.experts = vocab, window, experts
        self.remembered: list[list[int]] = [[] for _ in range(rows)]

    def route(self, x: list[Row], expert: list[int]) -> list[Row]:
        """Return ``x[i] @ experts[expert[i]]``, zeros for PAD."""
        width = len(self.experts[0])
        out = []
        for row, number in zip(x, expert, strict=True):
            weight = [[0.0] * width] * width if number == PAD else self.experts[number]
            row = [0.0] * width if number == PAD else row
            out.append([sum(a * line[column] for a, line in zip(row, weight, strict=True)) for column in range(width)])
        return out

    def penalise(self, logits: list[Row], penalty: Row) -> list[Row]:
        """Return the logits, those of remembered tokens made less likely."""
        out = []
        for row, factor, remembered in zip(logits, penalty, self.remembered, strict=True):
            seen = set(remembered[-self.window :]) if factor else set()
            out.append([(v / factor if v > 0 else v * factor) if token in seen else v for token, v in enumerate(row)])
        return out

    def hold_stops(self, logits: list[Row], generated: list[int]) -> list[Row]:
        """Return the logits, stop tokens of young rows ruled out."""
        return [
            [-inf if count < self.min_tokens and token in self.stop_tokens else v for token, v in enumerate(row)]
            for row, count in zip(logits, generated, strict=True)
        ]

    def accept(self, target: list[list[int]], draft: list[list[int]]) -> tuple[list[list[int]], list[int]]:
        """Return the accepted tokens and how many they are."""
        counts = []
        for wanted, drafted in zip(target, draft, strict=True):
            wrong = [at for at, token in enumerate(drafted) if token != wanted[at]]
            counts.append(1 + min(wrong, default=len(drafted)))
        pairs = zip(target, counts, strict=True)
        return [row[:count] + [PAD] * (len(row) - count) for row, count in pairs], counts

    def close(self, tokens: list[int], finished: list[bool]) -> tuple[list[int], list[bool]]:
        """Return the tokens to emit, and who has finished by now."""
        out = [PAD if is_over else token for token, is_over in zip(tokens, finished, strict=True)]
        return out, [is_over or token in self.stop_tokens for token, is_over in zip(out, finished, strict=True)]

    def remember(self, tokens: list[int]) -> None:
        """Take one token a row."""
        for row, token in zip(self.remembered, tokens, strict=True):
            row.append(token)


class Draw:
    """Draws inputs.

    Args:
        rng: the judge's fixture.
        device: where they lie.
    """

    def __init__(self, rng: Random, device: str) -> None:
        self._rng = rng
        self.device = device

    def numbers(self, *shape: int, dtype: torch.dtype = torch.int64, least: int = 0, most: int = 9) -> Tensor:
        """Return whole numbers from least to most."""
        count = 1
        for size in shape:
            count *= size
        values = [self._rng.randint(least, most) for _ in range(count)]
        return self.tensor(values, dtype).reshape(shape)

    def logits(self, rows: int, vocab: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return odd quarters, no two alike in a row: however a row is penalised, it has one largest."""
        values = [self._rng.sample(range(-vocab, vocab + 1), vocab) for _ in range(rows)]
        return self.tensor([[(2 * v + 1) / 4 for v in row] for row in values], dtype).reshape(rows, vocab)

    def penalty(self, rows: int) -> Tensor:
        """Return one penalty a row."""
        return self.tensor([self._rng.choice(PENALTIES) for _ in range(rows)], torch.float32)

    def tensor(self, values: Any, dtype: torch.dtype) -> Tensor:
        """Return a tensor of given values."""
        return torch.tensor(values, dtype=dtype, device=self.device)


def read(value: Tensor) -> Any:
    """Return a tensor as nested lists, whole numbers as int, -0.0 as 0.0; the host waits."""
    host = value.detach().cpu()
    return (host.double() + 0.0).tolist() if host.is_floating_point() else host.tolist()
