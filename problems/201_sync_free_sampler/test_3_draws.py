"""Which token is drawn, and what it must not depend on."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_rules import CLEAR, Row, draw_row, race, rank_tokens
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
            f"With {row.words[0]} the draws do not follow the probabilities (chi-squared {distance:.0f})",
            f"{row.words[1]}时，抽取结果不符合概率（卡方值 {distance:.0f}）",
        ),
        look=look,
        picture=picture,
    )
    some, drawn = rows[::10], tokens[::10]
    clear = bench.compare_draws(drawn, [values] * len(some), some)
    evidence.exact("tokens", [drawn[at] for at in clear], labels=[f"request with seed {some[at].seed}" for at in clear])


@pytest.mark.weight(3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_the_smallest_noise_for_its_probability_wins(
    bench: Any, evidence: Any, rng: Random, logits_of: Callable[..., Tensor], dtype: torch.dtype
) -> None:
    """Token by token, rows with random parameters draw the winner of the race, which float64 has found.

    zh: 参数随机的各行，抽到的 token 逐个等于按 float64 算出的竞赛胜者。
    """
    logits = logits_of(48, 61, dtype=dtype)
    values = logits.float().tolist()
    rows = [draw_row(rng, row) for row in values]
    tokens = bench.sample(logits, bench.batch(rows)).tolist()
    clear = bench.compare_draws(tokens, values, rows)
    evidence.exact("tokens", [tokens[at] for at in clear], labels=[f"row {at}" for at in clear])


def test_extreme_logits_are_drawn_like_others(bench: Any, evidence: Any, rng: Random) -> None:
    """Rows of the largest and of the smallest finite logits, at a low temperature, draw the winner of their race.

    zh: 由最大或最小的有限 logit 组成的行，在很低的温度下也抽到竞赛的胜者。
    """
    most = torch.finfo(torch.float32).max
    values = [[at * most] * 8 for at in (-1.0, 1.0)] * 8 + [[0.0, most, -most, 1.0, most, 0.0, -most, -1.0]] * 8
    rows = [Row(0.01, seed=rng.randrange(1 << 60)) for _ in values]
    tokens = bench.sample(bench.tensor(values), bench.batch(rows)).tolist()
    look = (
        "Divided by 0.01, the largest numbers overflow, and of equal infinities argmax takes the first or a NaN. "
        "Subtract the row's largest logit first.",
        "最大的那些数除以 0.01 会溢出；全是无穷大时 argmax 只会取第一个，或者取到 NaN。先减去这一行最大的 logit。",
    )
    clear = bench.compare_draws(tokens, values, rows, look)
    evidence.exact("tokens", [tokens[at] for at in clear], labels=[f"row {at}" for at in clear])


def test_a_close_race_is_run_in_float32(bench: Any, expect: Any, evidence: Any, rng: Random) -> None:
    """Races that are won by less than bfloat16 can say are decided in float32.

    zh: 胜负之差小到 bfloat16 分辨不出的竞赛，要按 float32 决出。
    """
    values = [3.0, 2.0, 1.5, 1.0, 0.5, 0.0]
    first = rng.randrange(1 << 40)
    rows = [Row(0.7, seed=first + at) for at in range(8000)]
    places = rank_tokens(values, rows[0])
    winners = {row: race(places, row) for row in rows}
    close = [row for row in rows if 2 * CLEAR < winners[row][1] < 4e-3]
    tokens = bench.sample(bench.tensor([values] * len(close), torch.bfloat16), bench.batch(close)).tolist()
    expect.equal(
        tokens,
        [winners[row][0] for row in close],
        ("Close races of bfloat16 logits have other winners", "bfloat16 的 logits 在势均力敌时胜者不对"),
        look=(
            "Is the race's logit, too, converted before it is divided, and the temperature left in float32?",
            "竞赛用的 logit 也是先转换再做除法的吗？温度是不是仍为 float32？",
        ),
    )
    evidence.exact("tokens", tokens, labels=[f"request with seed {row.seed}" for row in close])


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
    clear = bench.compare_draws(together, logits.tolist(), rows)
    evidence.exact("tokens", [together[at] for at in clear], labels=[f"row {at}" for at in clear])


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
    found, labels = [], []
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
        clear = bench.compare_draws(tokens, logits.tolist(), rows)
        found += [tokens[at] for at in clear]
        labels += [f"seed {rows[at].seed}, position {rows[at].position}" for at in clear]
    evidence.exact("tokens", found, labels=labels)


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
    clear = bench.compare_draws(drawn[0], logits.tolist(), rows)
    evidence.exact("tokens", [drawn[0][at] for at in clear], labels=[f"row {at}" for at in clear])


def _chi_squared_limit(degrees: int) -> float:
    """Return what a sum of squares exceeds with probability ``LEAST_P`` (Wilson and Hilferty)."""
    normal = 5.9978  # of LEAST_P, one-sided
    part = 2 / (9 * degrees)
    return degrees * (1 - part + normal * math.sqrt(part)) ** 3
