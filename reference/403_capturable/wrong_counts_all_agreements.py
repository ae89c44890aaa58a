"""All drafts that agree are counted, those behind the first wrong one too.

Caught by: test_1_results.py::test_drafts_are_accepted_up_to_the_first_wrong_one[4_drafts]
"""

from __future__ import annotations

import torch
from torch import Tensor

PAD = -1
"""Stands where there is no token, and for the expert of a row that is only padding."""


class CapturableStep:
    """The same step, for a CUDA graph. Arguments as for the eager step.

    Synchronises: the constructor may; no method does. No method changes its arguments, but ``close`` changes
    ``finished``.
    """

    def __init__(
        self, rows: int, vocab: int, stop_tokens: list[int], min_tokens: int, window: int, experts: Tensor
    ) -> None:
        device = experts.device
        self._min_tokens = min_tokens
        self._experts = experts
        stops = torch.tensor(stop_tokens, dtype=torch.int64, device=device)  # uploaded here, once
        self._is_stop = torch.zeros(vocab, dtype=torch.bool, device=device).index_fill_(0, stops, True)
        self._window = torch.full((rows, window), PAD, dtype=torch.int64, device=device)
        self._position = torch.zeros(1, dtype=torch.int64, device=device)  # a replay moves it on

    def route(self, x: Tensor, expert: Tensor) -> Tensor:
        """Send each token through its expert.

        Args:
            x: (tokens, width), the dtype of the experts; in rows of padding anything, NaN as well.
            expert: (tokens,), int64: the expert's number, or PAD.

        Returns:
            (tokens, width), the dtype of x: ``x[i] @ experts[expert[i]]``, zeros in rows of padding.
        """
        every = x @ self._experts  # (experts, tokens, width): the shape that holds any routing
        token = torch.arange(len(expert), device=x.device)
        chosen = every[expert, token]  # PAD, which is -1, takes the last expert's for now
        return chosen.masked_fill((expert == PAD).unsqueeze(1), 0)  # not multiplied by 0: 0 * nan is nan

    def penalise(self, logits: Tensor, penalty: Tensor) -> Tensor:
        """Make the tokens of the window less likely.

        Args:
            logits: (rows, vocab), float32, float16 or bfloat16, any strides; -inf is a token that is ruled out.
            penalty: (rows,), float32, 0 or more; 0 switches it off for the row.

        Returns:
            (rows, vocab), the dtype of logits. Where the token is among the row's last ``window`` remembered ones, and
            the penalty is not 0: logits / penalty where positive, else logits * penalty. Elsewhere the logits.
        """
        rows, vocab = logits.shape
        seen = torch.zeros(rows, vocab + 1, dtype=torch.bool, device=logits.device)
        seen.scatter_(1, self._window.where(self._window != PAD, vocab), True)  # PAD goes to a column of its own
        factor = penalty.unsqueeze(1)
        punished = torch.where(logits > 0, logits / factor, logits * factor)
        return torch.where(seen[:, :vocab] & (factor != 0), punished, logits).to(logits.dtype)

    def hold_stops(self, logits: Tensor, generated: Tensor) -> Tensor:
        """Rule out the stop tokens where a request is too young to stop.

        Args:
            logits: (rows, vocab), as for :meth:`penalise`.
            generated: (rows,), int64: tokens generated so far.

        Returns:
            (rows, vocab), the dtype of logits: -inf for the stop tokens of rows with fewer than ``min_tokens``
            generated, elsewhere the logits.
        """
        is_young = (generated < self._min_tokens).unsqueeze(1)
        return logits.masked_fill(is_young & self._is_stop, -torch.inf)

    def accept(self, target: Tensor, draft: Tensor) -> tuple[Tensor, Tensor]:
        """Keep the drafted tokens that the model agrees with, and the model's own next one.

        Args:
            target: (rows, drafts + 1), int64: what the model itself would have said, at each place.
            draft: (rows, drafts), int64: what was guessed; PAD where nothing was. ``drafts`` is 0 or more.

        Returns:
            tokens: (rows, drafts + 1), int64: the first ``count`` of target, then PAD.
            count: (rows,), int64: 1 plus how many drafted tokens equal target *before the first that does not*.
        """
        agrees = (draft == target[:, :-1]).long()
        count = 1 + agrees.sum(1)
        place = torch.arange(target.shape[1], device=target.device)
        return target.masked_fill(place >= count.unsqueeze(1), PAD), count

    def close(self, tokens: Tensor, finished: Tensor) -> Tensor:
        """Silence the requests that have finished, and note those that finish now.

        Args:
            tokens: (rows,), int64, each from 0 to vocab - 1, in finished rows as well.
            finished: (rows,), bool; the caller's, and changed: True from now on where the row's token is a stop token.

        Returns:
            (rows,), int64: PAD where the row had finished before, else its token (a stop token too).
        """
        out = tokens.masked_fill(finished, PAD)
        finished |= self._is_stop[tokens]  # in place: the next replay reads this very memory
        return out

    def remember(self, tokens: Tensor) -> None:
        """Put one token a request into the window, in the place of the oldest.

        A call counts when its work runs: each eager call, each replay, but not the call that is being captured.

        Args:
            tokens: (rows,), int64; PAD takes a place like any other, and is never penalised.
        """
        place = self._position % self._window.shape[1]
        self._window.index_copy_(1, place, tokens.unsqueeze(1))
        self._position += 1
