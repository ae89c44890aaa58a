"""What a call draws: what the model itself would draw at that moment."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from conftest import LOOK_DRAW
from support_model import add_normal, draw_twice, read, sample
from torch import Tensor

MODELS = {"normal": add_normal, "two_draws": draw_twice, "sampled_tokens": sample}


@pytest.mark.weight(3)
@pytest.mark.parametrize("name", list(MODELS))
def test_replays_draw_what_the_model_draws(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
    name: str,
) -> None:
    """Each replay draws anew, and to the bit what the model draws by itself from the same state.

    zh: 每次重放都重新取随机数，与模型自己从同样状态出发所取的逐位相同。
    """
    x = rows(32 if name == "sampled_tokens" else 4)
    trial = attempt(MODELS[name], x, [generate()])
    for number in range(1, 6):
        trial.serve(x, f"call {number}, the same input")
    trial.serve(-x, "call 6, another input")
    trial.record(evidence)


@pytest.mark.weight(3)
def test_a_seed_begins_the_same_sequence(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    rng: Random,
    evidence: Any,
) -> None:
    """After manual_seed a run of replays draws what a run of the model draws after the same seed.

    zh: manual_seed 之后连续重放，与设同样的种子之后连续运行模型，取得的随机数相同。
    """
    x, generator = rows(4), generate()
    trial = attempt(add_normal, x, [generator])
    trial.serve(x, "a call before any seed is set")
    for seed in (rng.getrandbits(32), rng.getrandbits(32), 0):
        generator.manual_seed(seed)
        expected = [read(add_normal(x, generator)) for _ in range(4)]
        generator.manual_seed(seed)
        for number, values in enumerate(expected, 1):
            trial.check(trial.runner(x), values, f"call {number} after manual_seed({seed})")
    trial.record(evidence)


def test_a_state_put_back_counts(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
    expect: Any,
) -> None:
    """set_state takes the next replay back to where the state was taken.

    zh: set_state 之后，下一次重放回到取状态的那一刻。
    """
    x, generator = rows(4), generate()
    trial = attempt(draw_twice, x, [generator])
    trial.serve(x, "call 1")
    state = generator.get_state()
    there = read(trial.serve(x, "call 2"))
    trial.serve(x, "call 3")
    generator.set_state(state)
    again = read(trial.serve(x, "call 4, the state of before call 2 put back"))
    expect.equal(
        again, there, ("a state put back does not bring the same numbers", "状态放回之后，随机数不一样"), LOOK_DRAW
    )
    trial.record(evidence)


@pytest.mark.weight(2)
def test_others_may_draw_in_between(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    device: str,
    evidence: Any,
) -> None:
    """Whoever draws from a generator between two replays moves it on, the model itself or anybody else.

    zh: 两次重放之间，不论模型自己还是别人从生成器取数，生成器都会往前走。
    """
    x, generator = rows(4), generate()
    trial = attempt(add_normal, x, [generator])
    trial.serve(x, "call 1")
    torch.rand(100, device=device, generator=generator)
    trial.serve(x, "call 2, after a hundred other draws")
    trial.model.run(x, generator)
    trial.serve(x, "call 3, after a run of the model itself")
    trial.record(evidence)


@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty")
@pytest.mark.parametrize(
    ("count", "dtype"),
    [(0, torch.float32), (1, torch.float32), (300, torch.float32), (5, torch.float16), (5, torch.bfloat16)],
    ids=["0_rows", "1_row", "300_rows", "float16", "bfloat16"],
)
def test_any_size_and_dtype(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
    count: int,
    dtype: torch.dtype,
) -> None:
    """No row, one, many, and half precision draw like any other.

    zh: 零行、一行、很多行，以及半精度，都一样。
    """
    x = rows(count, dtype)
    trial = attempt(draw_twice, x, [generate()])
    for number in range(1, 4):
        trial.serve(x, f"call {number}, {count} rows")
    trial.record(evidence)
