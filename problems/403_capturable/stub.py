"""Problem 403: make a decode step capturable. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

import torch
from torch import Tensor

PAD = -1
"""Stands where there is no token, and for the expert of a row that is only padding."""


class _EagerStep:
    """Given: the step as it was written, right in every result. A capture refuses it, or freezes it in silence.

    Nobody calls it: it is there to be read, and may go.

    Args:
        rows: requests in the batch, 0 or more.
        vocab: tokens that the model knows.
        stop_tokens: token numbers that end a request; maybe none.
        min_tokens: a request may not stop before it has generated so many.
        window: how many tokens back the repetition penalty looks, 1 or more.
        experts: (experts, width, width), one weight for each expert; they stay the caller's.
    """

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


class CapturableStep:
    """The same step, for a CUDA graph. Arguments as for :class:`_EagerStep`.

    Synchronises: the constructor may; no method does. No method changes its arguments, but ``close`` changes
    ``finished``.
    """

    def __init__(
        self, rows: int, vocab: int, stop_tokens: list[int], min_tokens: int, window: int, experts: Tensor
    ) -> None:
        # TODO: what must lie on the device before anything is captured? What must a replay move on?
        raise NotImplementedError

    def route(self, x: Tensor, expert: Tensor) -> Tensor:
        """Send each token through its expert.

        Args:
            x: (tokens, width), the dtype of the experts; in rows of padding anything, NaN as well.
            expert: (tokens,), int64: the expert's number, or PAD.

        Returns:
            (tokens, width), the dtype of x: ``x[i] @ experts[expert[i]]``, zeros in rows of padding.
        """
        # TODO: which shapes depend on the routing? What can hold NaN, and may not get through?
        raise NotImplementedError

    def penalise(self, logits: Tensor, penalty: Tensor) -> Tensor:
        """Make the tokens of the window less likely.

        Args:
            logits: (rows, vocab), float32, float16 or bfloat16, any strides; -inf is a token that is ruled out.
            penalty: (rows,), float32, 0 or more; 0 switches it off for the row.

        Returns:
            (rows, vocab), the dtype of logits. Where the token is among the row's last ``window`` remembered ones, and
            the penalty is not 0: logits / penalty where positive, else logits * penalty. Elsewhere the logits.
        """
        # TODO: the rows and tokens concerned are known on the device only. What becomes of PAD?
        raise NotImplementedError

    def hold_stops(self, logits: Tensor, generated: Tensor) -> Tensor:
        """Rule out the stop tokens where a request is too young to stop.

        Args:
            logits: (rows, vocab), as for :meth:`penalise`.
            generated: (rows,), int64: tokens generated so far.

        Returns:
            (rows, vocab), the dtype of logits: -inf for the stop tokens of rows with fewer than ``min_tokens``
            generated, elsewhere the logits.
        """
        # TODO: where do the numbers of the stop tokens come from, each time?
        raise NotImplementedError

    def accept(self, target: Tensor, draft: Tensor) -> tuple[Tensor, Tensor]:
        """Keep the drafted tokens that the model agrees with, and the model's own next one.

        Args:
            target: (rows, drafts + 1), int64: what the model itself would have said, at each place.
            draft: (rows, drafts), int64: what was guessed; PAD where nothing was. ``drafts`` is 0 or more.

        Returns:
            tokens: (rows, drafts + 1), int64: the first ``count`` of target, then PAD.
            count: (rows,), int64: 1 plus how many drafted tokens equal target *before the first that does not*.
        """
        # TODO: how many is known on the device only. Which shape holds every answer?
        raise NotImplementedError

    def close(self, tokens: Tensor, finished: Tensor) -> Tensor:
        """Silence the requests that have finished, and note those that finish now.

        Args:
            tokens: (rows,), int64, each from 0 to vocab - 1, in finished rows as well.
            finished: (rows,), bool; the caller's, and changed: True from now on where the row's token is a stop token.

        Returns:
            (rows,), int64: PAD where the row had finished before, else its token (a stop token too).
        """
        # TODO: no branch, no mask as an index. Which memory will the next replay read?
        raise NotImplementedError

    def remember(self, tokens: Tensor) -> None:
        """Put one token a request into the window, in the place of the oldest.

        A call counts when its work runs: each eager call, each replay, but not the call that is being captured.

        Args:
            tokens: (rows,), int64; PAD takes a place like any other, and is never penalised.
        """
        # TODO: capture accepts the eager form. What will every replay do?
        raise NotImplementedError
