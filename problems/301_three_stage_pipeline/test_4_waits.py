"""Where the host waits: once for each result that is handed out, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from support_chunks import double, fill_chunks, sleepy
from support_timeline import explain_waits
from torch import Tensor

COUNT = 8

MEMORY: dict[str, Callable[[Tensor], Tensor]] = {
    "pinned": lambda chunk: chunk.pin_memory(),
    "pageable": lambda chunk: chunk,
    "pinned_transposed": lambda chunk: chunk.view(64, -1).pin_memory().t(),
    "pinned_columns": lambda chunk: chunk.view(64, -1).pin_memory()[:, 1:],
}


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=COUNT)
@pytest.mark.parametrize("memory", list(MEMORY))
def test_one_wait_a_result(trial: Any, rng: Random, watch: Any, measure: Any, memory: str) -> None:
    """The host waits once for each result, wherever the chunks lie and whatever their strides.

    zh: 每个结果主机只等一次，不论块在哪种内存里、步长如何。
    """
    chunks = [MEMORY[memory](chunk) for chunk in fill_chunks(COUNT, 128 << 10, rng, pinned=False)]
    results = []
    with watch() as seen:
        for result in trial.open(chunks, sleepy(double), 3, chunks):
            results.append(result.clone())
    trial.check_races(seen)
    trial.check_values(results, chunks, double)
    trial.record(results)
    measure("syncs", len(seen.syncs), "", places=seen.places)
    trial.expect.waits(
        seen,
        most=COUNT,
        what=("The host waited more often than once a result", "主机等待的次数超过了每个结果一次"),
        look=explain_waits(seen.syncs, COUNT),
    )
