"""Which generators there are: several, shared, the default one, or one that nobody draws from."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_model import add_normal, draw_from_two, draw_twice, drop, pass_on
from torch import Tensor


@pytest.mark.weight(2)
def test_each_generator_goes_its_own_way(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    rng: Random,
    evidence: Any,
) -> None:
    """A model may draw from several generators, each a different number of times; a new seed changes only its own.

    zh: 模型可以用几个生成器，各取不同次数；给其中一个换种子，只影响它自己。
    """
    x, first, second = rows(4), generate(), generate()
    trial = attempt(draw_from_two, x, [first, second])
    trial.serve(x, "call 1")
    second.manual_seed(rng.getrandbits(32))
    trial.serve(x, "call 2, a new seed for the second generator")
    first.manual_seed(rng.getrandbits(32))
    trial.serve(x, "call 3, a new seed for the first generator")
    trial.serve(x, "call 4")
    trial.record(evidence)


@pytest.mark.weight(2)
@pytest.mark.parametrize("case", ["alone", "beside_another"])
def test_the_default_generator_is_like_any_other(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    rng: Random,
    evidence: Any,
    case: str,
) -> None:
    """Dropout draws from the default generator, alone or beside another: torch.cuda.manual_seed counts.

    zh: dropout 从默认生成器取数，单独使用，或者与别的生成器同时使用：torch.cuda.manual_seed 同样有效。
    """
    x = rows(16)
    trial = attempt(drop, x, [] if case == "alone" else [generate()])
    trial.serve(x, "call 1")
    trial.serve(x, "call 2")
    torch.cuda.manual_seed(rng.getrandbits(32))
    trial.serve(x, "call 3, after torch.cuda.manual_seed")
    trial.record(evidence)


def test_two_runners_share_a_generator(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
) -> None:
    """Two runners may draw from one generator in turn, and one goes on when the other dies.

    zh: 两个运行器可以轮流用同一个生成器；一个消亡，另一个照常工作。
    """
    x, generator = rows(4), generate()
    one, other = attempt(add_normal, x, [generator]), attempt(draw_twice, x, [generator])
    for number in (1, 2):
        one.serve(x, f"call {number} of one runner")
        other.serve(x, f"call {number} of the other")
    one.runner = None
    other.serve(x, "call 3 of the other, after the first one has died")
    one.record(evidence)
    evidence.exact("other", other.outputs, labels=other.labels)


def test_a_generator_nobody_draws_from_stays(
    attempt: Callable[..., Any],
    rows: Callable[..., Tensor],
    generate: Callable[[], torch.Generator],
    evidence: Any,
) -> None:
    """A generator that the model does not draw from stays where it is.

    zh: 模型没有用到的生成器原地不动。
    """
    x = rows(4)
    trial = attempt(pass_on, x, [generate()])
    for number in (1, 2):
        trial.serve(x, f"call {number}")
    trial.record(evidence)
