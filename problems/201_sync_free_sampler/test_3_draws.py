"""Which token is drawn, and what it must not depend on."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_rules import Row, draw_row, list_clear, race, rank_tokens
from torch import Tensor

LEAST_P = 1e-9
"""A right sampler fails the chi-squared test once in a thousand million runs."""


@pytest.mark.weight(2)
@pytest.mark.parametrize(
    "row",
    [Row(), Row(0.5), Row(2.0, top_k=5), Row(top_p=0.8), Row(min_p=0.2)],
    ids=["plain", "cold", "hot_top_k", "top_p", "min_p"],
)
def test_the_draws_follow_the_probabilities(bench: Any, expect: Any, evidence: Any, rng: Random, row: Row) -> None:
    """3,000 draws of one row under different seeds are spread as its probabilities say (chi-squared).

    zh: 同一行用不同种子抽取 3,000 次，频数符合它的概率（卡方检验）。
    """
    values = [1.5, -0.5, 0.0, 1.0, -1.5, 0.5, -math.inf, 0.75]
    draws = 3000
    logits = bench.tensor([values] * draws)
    first = rng.randrange(1 << 40)
    rows = [Row(row.temperature, row.top_k, row.top_p, row.min_p, first + at) for at in range(draws)]
    tokens = bench.sample(logits, bench.batch(rows)).tolist()
    places = rank_tokens(values, row)
    whole = math.fsum(place.probability for place in places if place.allowed)
    wanted = {place.token: draws * place.probability / whole for place in places if place.allowed}
    counts = [tokens.count(token) for token in range(len(values))]
    look = (
        "The winner is the largest p / q: probability over noise. The product, the sum, or noise that is not "
        "exponential gives other shares.",
        "胜者是 p / q 最大的：概率除以噪声。换成乘积、求和，或噪声不是指数分布，比例就不对了。",
    )
    lines = [f"{token:>6}{wanted.get(token, 0.0):>10.0f}{count:>8}" for token, count in enumerate(counts)]
    picture = ("\n".join([" token  expected   yours", *lines]), "\n".join([" token    应有次数  你的", *lines]))
    stray = sum(count for token, count in enumerate(counts) if token not in wanted) + draws - sum(counts)
    expect.equal(stray, 0, ("Tokens were drawn that are not allowed", "抽到了不允许的 token"), picture=picture)
    distance = math.fsum((counts[token] - share) ** 2 / share for token, share in wanted.items())
    expect.true(
        distance <= _chi_squared_limit(len(wanted) - 1),
        (
            f"With {row.words} the draws do not follow the probabilities (chi-squared {distance:.0f})",
            f"{row.words} 时，抽取结果不符合概率（卡方值 {distance:.0f}）",
        ),
        look=look,
        picture=picture,
    )
    chosen = range(0, draws, 10)
    clear = [chosen[at] for at in list_clear([values] * len(chosen), [rows[at] for at in chosen])]
    evidence.exact("tokens", [tokens[at] for at in clear], labels=[f"seed {rows[at].seed}" for at in clear])


@pytest.mark.weight(3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_the_smallest_noise_for_its_probability_wins(
    bench: Any, expect: Any, evidence: Any, rng: Random, logits_of: Callable[..., Tensor], dtype: torch.dtype
) -> None:
    """Token by token, rows with random parameters draw the winner of the race, which float64 has found.

    zh: 参数随机的各行，抽到的 token 逐个等于按 float64 算出的竞赛胜者。
    """
    logits = logits_of(48, 61, dtype=dtype)
    values = logits.float().tolist()
    rows = [draw_row(rng, row) for row in values]
    tokens = bench.sample(logits, bench.batch(rows)).tolist()
    clear = list_clear(values, rows)
    for at in clear:
        row = rows[at]
        expect.equal(
            tokens[at],
            race(rank_tokens(values[at], row), row)[0],
            (
                f"Row {at} ({row.words}, seed={row.seed}, position={row.position}) draws another token",
                f"第 {at} 行（{row.words}，seed={row.seed}，position={row.position}）抽到的 token 不对",
            ),
            look=(
                "The noise of a row comes from its own seed and position, and the race is between allowed tokens.",
                "每行的噪声由它自己的 seed 和 position 决定，参赛的只有允许的 token。",
            ),
        )
    evidence.exact("tokens", [tokens[at] for at in clear], labels=[f"row {at}" for at in clear])


def test_a_row_does_not_know_its_batch(
    bench: Any, expect: Any, evidence: Any, rng: Random, logits_of: Callable[..., Tensor]
) -> None:
    """The same request draws the same token in any row of any batch, beside anybody.

    zh: 同一个请求，不论在哪个批次、哪一行、与谁为伴，抽到的 token 都一样。
    """
    logits = logits_of(16, 200)
    rows = [Row(1.2, seed=rng.randrange(1 << 60), position=rng.randrange(99)) for _ in range(16)]
    together = bench.sample(logits, bench.batch(rows)).tolist()
    order = rng.sample(range(16), 16)
    shuffled = bench.sample(logits[order], bench.batch([rows[at] for at in order])).tolist()
    alone = [bench.sample(logits[at : at + 1], bench.batch([rows[at]])).tolist()[0] for at in range(4)]
    look = (
        "A generator hands out numbers in the order in which they are asked for, so a row gets others when its "
        "neighbours change. Take the noise from the row's seed and position.",
        "随机数生成器按请求的先后发号，邻居一变，这一行拿到的数就变了。噪声应当由该行的 seed 和 position 决定。",
    )
    for name, tokens in (
        (("in another order", "换了顺序"), [shuffled[order.index(at)] for at in range(16)]),
        (("alone", "单独一行"), alone + together[4:]),
    ):
        expect.equal(
            tokens,
            together,
            (f"The requests draw other tokens {name[0]}", f"{name[1]}之后，同样的请求抽到了别的 token"),
            look=look,
        )
    evidence.exact("tokens", [together[at] for at in list_clear(logits.tolist(), rows)])


def test_a_new_seed_or_position_draws_anew(bench: Any, expect: Any, evidence: Any, rng: Random) -> None:
    """Among 1,000 equal tokens, other seeds and other positions draw others; the same ones the same.

    zh: 在 1,000 个等可能的 token 中，种子或位置不同，抽到的就不同；相同则相同。
    """
    seed = rng.randrange(1 << 50)
    logits = bench.tensor([[0.0] * 1000] * 8)
    draws = {
        ("seeds", "种子"): [Row(seed=seed + at) for at in range(8)],
        ("positions", "位置"): [Row(seed=seed, position=at) for at in range(8)],
    }
    found = []
    for (english, chinese), rows in draws.items():
        tokens = bench.sample(logits, bench.batch(rows)).tolist()
        expect.true(
            len(set(tokens)) >= 5,
            (
                f"Eight {english} drew {len(set(tokens))} different tokens",
                f"八个不同的{chinese}只抽到 {len(set(tokens))} 种 token",
            ),
            look=("Do both, seed and position, go into the noise?", "seed 和 position 都进入噪声了吗？"),
            actual=tokens,
        )
        found += [tokens[at] for at in list_clear(logits.tolist(), rows)]
    evidence.exact("tokens", found)


def test_the_global_generator_has_no_say(
    bench: Any, expect: Any, evidence: Any, rng: Random, logits_of: Callable[..., Tensor]
) -> None:
    """Neither does the global generator change what is drawn, nor does drawing move it on.

    zh: 全局随机数生成器既不影响抽取结果，也不因抽取而前进。
    """
    logits = logits_of(12, 100)
    rows = [Row(seed=rng.randrange(1 << 60)) for _ in range(12)]
    drawn, states = [], []
    look = (
        "multinomial, rand and exponential_ draw from torch's global generator: whoever else draws from it changes "
        "the tokens of a request.",
        "multinomial、rand、exponential_ 用的是 torch 的全局生成器：别处抽一次，请求的 token 就变了。",
    )
    for global_seed in (1, 2):
        torch.manual_seed(global_seed)
        states.append(torch.rand(4, device=bench.device).tolist())
        torch.manual_seed(global_seed)
        drawn.append(bench.sample(logits, bench.batch(rows)).tolist())
        expect.equal(
            torch.rand(4, device=bench.device).tolist(),
            states[-1],
            ("sample() drew from torch's global generator", "sample() 用了 torch 的全局随机数生成器"),
            look=look,
        )
    expect.equal(
        drawn[1],
        drawn[0],
        ("Another torch.manual_seed gave other tokens", "换一个 torch.manual_seed，抽到的 token 就变了"),
        look=look,
    )
    evidence.exact("tokens", [drawn[0][at] for at in list_clear(logits.tolist(), rows)])


def _chi_squared_limit(degrees: int) -> float:
    """Return what a sum of squares exceeds with probability ``LEAST_P`` (Wilson and Hilferty)."""
    normal = 5.9978  # of LEAST_P, one-sided
    part = 2 / (9 * degrees)
    return degrees * (1 - part + normal * math.sqrt(part)) ** 3
