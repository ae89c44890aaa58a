"""What the tests of this problem share: a bench that calls the solution and checks the kind of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

import pytest
import torch
from support_rules import PAD, Row, list_allowed, list_clear, race, rank_tokens
from support_table import Pair, draw_table
from torch import Tensor

DTYPES = {
    "temperature": torch.float32,
    "top_k": torch.int64,
    "top_p": torch.float32,
    "min_p": torch.float32,
    "seed": torch.int64,
    "eos": torch.int64,
    "position": torch.int64,
    "finished": torch.bool,
}
STATE = ("position", "finished")
LOOK_NOISE = (
    "Was the noise asked with the row's own seed, and with its position before it grows? And is the race between "
    "allowed tokens only?",
    "噪声用的是不是该行自己的 seed，以及增长之前的 position？参赛的是不是只有允许的 token？",
)


class SamplerBench:
    """Makes batches, calls the solution with them, and looks at what came back before anything else does.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        device: where tensors belong.
    """

    def __init__(self, solution: ModuleType, expect: Any, device: str) -> None:
        self.solution = solution
        self.expect = expect
        self.device = device

    def tensor(self, rows: Any, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return a tensor on the device."""
        return torch.tensor(rows, dtype=dtype).to(self.device)

    def batch(self, rows: Sequence[Row]) -> Any:
        """Return a ``Batch`` of these rows."""
        fields = {name: self.tensor([getattr(row, name) for row in rows], dtype) for name, dtype in DTYPES.items()}
        return self.solution.Batch(**fields)

    def allowed(self, logits: Tensor, batch: Any) -> Tensor:
        """Return the solution's mask, once it is known to be one."""
        __tracebackhide__ = True
        with self.expect.unchanged(logits=logits, **self._name_fields(batch, DTYPES)):
            mask = self.solution.allowed_tokens(logits, batch)
        shape = tuple(logits.shape)
        return self.expect.tensor(mask, "allowed_tokens()", dtype=torch.bool, shape=shape, device=self.device)

    def sample(self, logits: Tensor, batch: Any, pad: int = PAD) -> Tensor:
        """Return the solution's tokens, once they are known to be some."""
        __tracebackhide__ = True
        held = {name: getattr(batch, name) for name in STATE}
        parameters = [name for name in DTYPES if name not in STATE]
        with self.expect.unchanged(logits=logits, **self._name_fields(batch, parameters)):
            tokens = self.solution.sample(logits, batch, pad)
        self._check_state(batch, held)
        shape = (logits.shape[0],)
        return self.expect.tensor(tokens, "sample()", dtype=torch.int64, shape=shape, device=self.device)

    def compare_masks(self, logits: Tensor, rows: Sequence[Row], look: Pair) -> list[list[bool]]:
        """Return the solution's masks, once they are what the rules say."""
        __tracebackhide__ = True
        masks = self.allowed(logits, self.batch(rows)).tolist()
        for at, (row, values, mask) in enumerate(zip(rows, logits.float().tolist(), masks, strict=True)):
            places = rank_tokens(values, row)
            if mask == list_allowed(places):
                continue
            rank = next(rank for rank, place in enumerate(places) if place.allowed != mask[place.token])
            token, wanted = places[rank].token, places[rank].allowed
            english, chinese = ("must be allowed", "应当允许") if wanted else ("must not be allowed", "不应当允许")
            self.expect.fail(
                (
                    f"Row {at} ({row.words[0]}): token {token}, rank {rank}, {english}",
                    f"第 {at} 行（{row.words[1]}）：token {token}（名次 {rank}）{chinese}",
                ),
                expected=wanted,
                actual=mask[token],
                look=look,
                picture=draw_table(places, mask, rank),
            )
        return masks

    def compare_draws(
        self, tokens: Sequence[int], logits: list[list[float]], rows: Sequence[Row], look: Pair = LOOK_NOISE
    ) -> list[int]:
        """Return which rows have a clear winner, once it is known that these drew theirs.

        Args:
            tokens: what the solution has drawn, one a row.
            logits: the rows' logits, as Python's numbers.
            rows: the requests, as they were before the draw.
            look: what to look at when a token is another one.
        """
        __tracebackhide__ = True
        clear = list_clear(logits, rows)
        for at in clear:
            row = rows[at]
            english, chinese = row.words
            self.expect.equal(
                tokens[at],
                race(rank_tokens(logits[at], row), row)[0],
                (
                    f"Row {at} ({english}), the request with seed {row.seed} at position {row.position}, "
                    "draws another token",
                    f"第 {at} 行（{chinese}），即 seed 为 {row.seed}、position 为 {row.position} 的请求，"
                    "抽到的 token 不对",
                ),
                look=look,
            )
        return clear

    def _name_fields(self, batch: Any, names: Iterable[str]) -> dict[str, Tensor]:
        return {f"batch.{name}": getattr(batch, name) for name in names}

    def _check_state(self, batch: Any, held: dict[str, Tensor]) -> None:
        __tracebackhide__ = True
        for name, tensor in held.items():
            self.expect.true(
                getattr(batch, name) is tensor,
                (f"batch.{name} is another tensor after sample()", f"sample() 之后 batch.{name} 换成了另一个张量"),
                look=(
                    "batch.x = … binds a new tensor, and whoever holds the old one (a CUDA graph, the scheduler) "
                    "never hears of it. Write into it: an augmented assignment, or copy_.",
                    "batch.x = … 绑定的是新张量，手里拿着旧张量的人（CUDA graph、调度器）毫不知情。"
                    "应当写进原张量：增量赋值或 copy_。",
                ),
            )


@pytest.fixture
def bench(solution: ModuleType, expect: Any, device: str) -> SamplerBench:
    """Return a bench for the solution."""
    return SamplerBench(solution, expect, device)


@pytest.fixture
def logits_of(bench: SamplerBench, rng: Any) -> Callable[..., Tensor]:
    """Return a maker of random logits, shape (rows, vocabulary), drawn from the run's seed."""

    def make(rows: int, vocabulary: int, spread: float = 2.0, dtype: torch.dtype = torch.float32) -> Tensor:
        values = [rng.gauss(0.0, spread) for _ in range(rows * vocabulary)]
        return torch.tensor(values).view(rows, vocabulary).to(dtype).to(bench.device)

    return make
