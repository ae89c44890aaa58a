"""A model whose tokens are drawn beforehand, so that the tests know what each request has to get."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from torch import Tensor

SURPLUS = 4
"""Tokens that follow a request's last one, if nobody stops."""


@dataclass(frozen=True)
class Script:
    """What the model says to one request."""

    tokens: list[int]
    surplus: list[int]
    """What it would go on to say."""


def draw_scripts(rng: Random, lengths: list[int]) -> list[Script]:
    """Return scripts whose tokens all differ, so that each tells whose it is."""
    tokens = iter(rng.sample(range(1, 100_000), sum(lengths) + SURPLUS * len(lengths)))
    return [Script([next(tokens) for _ in range(n)], [next(tokens) for _ in range(SURPLUS)]) for n in lengths]


class ScriptedModel:
    """Decodes on the current stream, each step behind a kernel that takes its time; notes what the host asks for.

    Args:
        rows: requests at once.
        scripts: request ``i`` is told ``scripts[i]``.
        cycles: of ``torch.cuda._sleep``, at each step.
        device: the judge's fixture.
    """

    def __init__(self, rows: int, scripts: list[Script], cycles: int, device: str) -> None:
        self.rows = rows
        self.queued = 0
        """Steps so far."""
        self.admitted: list[tuple[int, int, Any]] = []
        """Step from which on, row, request."""
        self.ends: list[Any] = []
        """Of each step, an event behind it."""
        self.asked_on: list[Any] = []
        """The stream that was current at each call."""
        self.surplus = {token: request for request, script in enumerate(scripts) for token in script.surplus}
        """Tokens behind a request's end, and whose end."""
        self._cycles = cycles
        self._width = max((len(script.tokens) for script in scripts), default=0) + SURPLUS
        told = [script.tokens + script.surplus for script in scripts] or [[0] * SURPLUS]
        padded = [(line + line[-1:] * self._width)[: self._width] for line in told]
        self._table = torch.tensor(padded, dtype=torch.int64).to(device).view(-1)
        self._last = torch.tensor([len(script.tokens) - 1 for script in scripts] or [0]).to(device)
        self._request = torch.zeros(rows, dtype=torch.int64, device=device)
        self._position = torch.full((rows,), self._width - 1, dtype=torch.int64, device=device)
        self._tokens = torch.zeros(rows, dtype=torch.int64, device=device)
        self._finished = torch.zeros(rows, dtype=torch.bool, device=device)
        torch.cuda.synchronize()

    def admit(self, row: int, request: Any) -> None:
        """Put a request into a row."""
        self.asked_on.append(torch.cuda.current_stream())
        self.admitted.append((self.queued, row, request))
        self._request[row : row + 1].fill_(request)
        self._position[row : row + 1].zero_()

    def step(self) -> tuple[Tensor, Tensor]:
        """Decode one token in every row; its two tensors are overwritten by the next step."""
        self.asked_on.append(torch.cuda.current_stream())
        self.queued += 1
        torch.cuda._sleep(self._cycles)
        torch.index_select(self._table, 0, self._request * self._width + self._position, out=self._tokens)
        torch.ge(self._position, self._last[self._request], out=self._finished)
        self._position.add_(1).clamp_(max=self._width - 1)
        end = torch.cuda.Event()
        end.record()
        self.ends.append(end)
        return self._tokens, self._finished
