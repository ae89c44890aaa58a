"""The eager step under the new name.

Caught by: test_2_capture.py::test_route_is_captured
Caught by: test_2_capture.py::test_penalise_is_captured
Caught by: test_2_capture.py::test_hold_stops_is_captured
Caught by: test_2_capture.py::test_accept_is_captured
Caught by: test_2_capture.py::test_close_is_captured
Caught by: test_2_capture.py::test_remember_is_captured
"""

from __future__ import annotations

import torch
from torch import Tensor

PAD = -1
"""Stands where there is no token, and for the expert of a row that is only padding."""


class CapturableStep:
    """The step as it was written."""

    def __init__(
        self, rows: int, vocab: int, stop_tokens: list[int], min_tokens: int, window: int, experts: Tensor
    ) -> None:
        self.rows, self.vocab = rows, vocab
        self.stop_tokens, self.min_tokens = stop_tokens, min_tokens
        self.experts = experts
        self.window = torch.full((rows, window), PAD, dtype=torch.int64, device=experts.device)
        self.position = 0

    def route(self, x: Tensor, expert: Tensor) -> Tensor:
        """Send each token through its expert."""
        out = torch.zeros_like(x)
        for number in expert.unique().tolist():
            if number != PAD:
                chosen = (expert == number).nonzero().flatten()
                out[chosen] = x[chosen] @ self.experts[number]
        return out

    def penalise(self, logits: Tensor, penalty: Tensor) -> Tensor:
        """Make the tokens of the window less likely."""
        out = logits.clone()
        for row in range(self.rows):
            factor = penalty[row].item()
            if factor != 0:
                seen = self.window[row].unique()
                seen = seen[seen != PAD]
                values = out[row, seen]
                out[row, seen] = torch.where(values > 0, values / factor, values * factor)
        return out

    def hold_stops(self, logits: Tensor, generated: Tensor) -> Tensor:
        """Rule out the stop tokens where a request is too young to stop."""
        out = logits.clone()
        stops = torch.tensor(self.stop_tokens, dtype=torch.int64, device=logits.device)
        for row, count in enumerate(generated.tolist()):
            if count < self.min_tokens:
                out[row, stops] = -torch.inf
        return out

    def accept(self, target: Tensor, draft: Tensor) -> tuple[Tensor, Tensor]:
        """Keep the drafted tokens that the model agrees with, and the model's own next one."""
        tokens, counts = [], []
        for wanted, drafted in zip(target.tolist(), draft.tolist(), strict=True):
            count = 0
            while count < len(drafted) and drafted[count] == wanted[count]:
                count += 1
            tokens.append(wanted[: count + 1] + [PAD] * (len(drafted) - count))
            counts.append(count + 1)
        return torch.tensor(tokens, device=target.device).reshape(target.shape).long(), torch.tensor(
            counts, dtype=torch.int64, device=target.device
        )

    def close(self, tokens: Tensor, finished: Tensor) -> Tensor:
        """Silence the requests that have finished, and note those that finish now."""
        if finished.all():
            return torch.full_like(tokens, PAD)
        out = tokens.clone()
        out[finished] = PAD
        for stop in self.stop_tokens:
            finished[(out == stop).nonzero().flatten()] = True
        return out

    def remember(self, tokens: Tensor) -> None:
        """Put one token a request into the window, in the place of the oldest."""
        self.window[:, self.position % self.window.shape[1]] = tokens
        self.position += 1
