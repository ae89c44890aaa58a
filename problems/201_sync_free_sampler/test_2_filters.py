"""Which tokens a row may draw."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from support_rules import Row, draw_row, rank_tokens
from torch import Tensor

INF = math.inf


def test_a_greedy_row_allows_its_best_token(bench: Any, evidence: Any) -> None:
    """Temperature 0 allows the largest logit alone, of equal ones the lowest token, whatever the filters say.

    zh: 温度为 0 时只允许 logit 最大的 token，并列时取编号最小的，其他过滤参数不起作用。
    """
    logits = bench.tensor([[0.0, 3.0, 1.0, 3.0], [-5.0, -4.0, -4.0, -INF], [2.0, 2.0, 2.0, 2.0], [0.0, 0.1, 0.2, 0.3]])
    rows = [Row(0.0), Row(0.0, top_k=3), Row(0.0, top_p=0.9, min_p=0.5), Row(0.0, top_k=2, top_p=0.01)]
    look = (
        "A greedy row is one token wide. What does dividing by its temperature give?",
        "贪心行只剩一个 token。拿它的温度去除，会得到什么？",
    )
    evidence.exact("masks", bench.compare_masks(logits, rows, look))


@pytest.mark.parametrize("top_k", [0, 1, 3, 9, 10, 14], ids=lambda value: f"k{value}")
def test_top_k_keeps_k_tokens(bench: Any, evidence: Any, logits_of: Callable[..., Tensor], top_k: int) -> None:
    """top_k keeps the k largest logits; 0, and more than the vocabulary, keep all.

    zh: top_k 保留最大的 k 个 logit；取 0 或超过词表大小时全部保留。
    """
    look = (
        "How many tokens does this k leave, of a vocabulary of 10? Is 0 off?",
        "词表大小为 10，这个 k 应当留下几个？0 是不是当作关闭？",
    )
    evidence.exact("masks", bench.compare_masks(logits_of(3, 10), [Row(top_k=top_k)] * 3, look))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_equal_logits_go_by_token(bench: Any, evidence: Any, rng: Random, dtype: torch.dtype) -> None:
    """top_k keeps exactly k tokens: of equal logits at its border the lowest tokens stay.

    zh: top_k 恰好保留 k 个 token：边界上 logit 相等时，编号小的留下。
    """
    rows = [[float(rng.randrange(4)) for _ in range(64)] for _ in range(8)]
    look = (
        "A comparison with the k-th value keeps all of its equals, and sort orders equals as it likes, unless told "
        "otherwise.",
        "与第 k 大的值作比较，会把所有并列的都留下；而 sort 在没有特别要求时，对并列的先后不作保证。",
    )
    parameters = [Row(top_k=top_k) for top_k in (1, 5, 13, 20, 31, 40, 55, 63)]
    evidence.exact("masks", bench.compare_masks(bench.tensor(rows, dtype), parameters, look))


@pytest.mark.parametrize("top_p", [0.001, 0.125, 0.126, 0.5, 0.51, 0.875, 0.99, 1.0], ids=lambda value: f"p{value:g}")
def test_top_p_keeps_the_token_that_reaches_it(bench: Any, evidence: Any, top_p: float) -> None:
    """top_p keeps a token while the probability in front of it is below top_p: never more, never none.

    zh: 只要前面的概率之和还小于 top_p，token 就保留：不多留，也不会一个不留。
    """
    look = (
        "Eight tokens of exactly 1/8. Is the token that reaches top_p still in, and the one behind it out? "
        "Off by one: compare what lies before a token, not what lies up to its end.",
        "八个 token，概率恰好都是 1/8。使和达到 top_p 的那个留下了吗？它后面的那个去掉了吗？"
        "差一错误：要比较的是某个 token 之前的和，不是包含它自己的和。",
    )
    logits = bench.tensor([[2.5] * 8, [0.0] * 8, [-30.0] * 8])
    evidence.exact("masks", bench.compare_masks(logits, [Row(top_p=top_p)] * 3, look))


def test_top_p_counts_what_top_k_left(bench: Any, evidence: Any) -> None:
    """top_p looks at the probabilities among the tokens that top_k left, and min_p comes after it.

    zh: top_p 看的是 top_k 留下的那些 token 之间的概率，min_p 排在它后面。
    """
    look = (
        "Were the probabilities taken before top_k, or after min_p? Equal tokens that top_k left have 1/k each, and "
        "min_p comes last.",
        "概率是在 top_k 之前算的，还是在 min_p 之后算的？top_k 留下的 k 个相等的 token 各占 1/k；min_p 排在最后。",
    )
    logits = bench.tensor([[1.0] * 8, [1.0] * 8, [1.0] * 8, [math.log(8.0), 0.0, 0.0, -INF, 0.0, -1.0, 0.0, 0.0]])
    shares = bench.tensor([[math.log(share) for share in (4.0, 3.0, 2.0, 1.0)] + [-INF] * 4])
    rows = [Row(top_k=4, top_p=0.5), Row(top_k=2, top_p=0.5), Row(top_k=4, top_p=0.51), Row(top_p=0.8, min_p=0.2)]
    logits, rows = torch.cat([logits, shares]), [*rows, Row(top_p=0.75, min_p=0.3)]
    evidence.exact("masks", bench.compare_masks(logits, rows, look))


def test_top_p_of_one_keeps_everything(bench: Any, evidence: Any) -> None:
    """top_p = 1 is no filter: tokens stay whose probability is lost in rounding.

    zh: top_p 为 1 等于不过滤：概率小到被舍入掉的 token 也要保留。
    """
    logits = bench.tensor([[20.0] + [0.0] * 500, [0.0] * 499 + [60.0, -60.0]])
    look = (
        "In float32 the sum reaches 1 before the last token. No token is to be lost to that.",
        "在 float32 里，还没到最后一个 token，和就已经是 1 了。不能因此丢掉 token。",
    )
    evidence.exact("masks", bench.compare_masks(logits, [Row(), Row(top_k=400)], look))


def test_min_p_is_a_share_of_the_best(bench: Any, evidence: Any) -> None:
    """min_p keeps what has at least that share of the best token's probability; 1 keeps the best and its equals.

    zh: min_p 保留概率不低于最佳 token 这一比例的 token，在温度之后计算；取 1 时只留最佳及与其并列者。
    """
    steps = [math.log(share) for share in (1.0, 0.5, 0.25, 0.12, 0.05, 0.01)]
    logits = bench.tensor([steps, steps, [2 * step for step in steps], [1.0, 3.0, 3.0, 2.999, -INF, 3.0], steps[::-1]])
    rows = [Row(min_p=0.2), Row(min_p=0.011), Row(min_p=0.2, temperature=2.0), Row(min_p=1.0), Row(min_p=0.0)]
    look = (
        "A share of the best token's probability, not of 1; and of the scaled logits.",
        "是相对最佳 token 概率的比例，不是相对 1；而且要用除过温度的 logits。",
    )
    evidence.exact("masks", bench.compare_masks(logits, rows, look))


def test_the_temperature_comes_first(bench: Any, evidence: Any) -> None:
    """The probabilities that top_p adds up are those after the temperature.

    zh: top_p 累加的是除过温度之后的概率。
    """
    logits = bench.tensor([[3.0, 2.0, 1.0, 0.0, -1.0]] * 3)
    rows = [Row(temperature, top_p=0.8) for temperature in (0.5, 1.0, 3.0)]
    look = ("Divide first, filter after.", "先除以温度，再过滤。")
    evidence.exact("masks", bench.compare_masks(logits, rows, look))


def test_minus_infinity_is_never_allowed(bench: Any, evidence: Any) -> None:
    """A token at minus infinity is not allowed, also where k is not reached; a row of nothing else allows none.

    zh: logit 为负无穷的 token 不允许，即使还不足 k 个；整行都是负无穷时，一个也不允许。
    """
    logits = bench.tensor([[-INF, 1.0, -INF, 2.0, -INF, -INF]] * 3 + [[-INF] * 6] * 4)
    rows = [Row(), Row(top_k=4), Row(top_p=0.99, min_p=0.01), Row(), Row(0.0), Row(top_k=2), Row(top_p=0.5, min_p=0.5)]
    look = (
        "softmax of minus infinities alone is NaN. What does a comparison with NaN give, and its negation?",
        "全是负无穷时 softmax 得到 NaN。与 NaN 比较得到什么，再取反又是什么？",
    )
    evidence.exact("masks", bench.compare_masks(logits, rows, look))


def test_large_logits_do_not_overflow(bench: Any, evidence: Any) -> None:
    """Logits of some hundreds, or a low temperature, are filtered like small ones.

    zh: logit 有几百大，或温度很低时，过滤结果与小的 logit 一样。
    """
    logits = bench.tensor([[300.0, 299.0, 298.0, 0.0], [3.0, 2.99, 2.98, 0.0], [-300.0, -301.0, -302.0, -600.0]])
    rows = [Row(top_p=0.8), Row(0.01, top_p=0.8), Row(top_p=0.8, min_p=0.1)]
    look = (
        "exp(300) is infinite in float32, and inf / inf is NaN; exp(-300) is 0. "
        "Subtract the row's largest logit first, as torch.softmax does.",
        "exp(300) 在 float32 里是无穷大，inf / inf 是 NaN；exp(-300) 则是 0。"
        "先减去这一行最大的 logit，torch.softmax 就是这么做的。",
    )
    evidence.exact("masks", bench.compare_masks(logits, rows, look))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
def test_every_dtype_is_computed_in_float32(bench: Any, evidence: Any, rng: Random, dtype: torch.dtype) -> None:
    """Half types are filtered as exactly as float32: of 4,096 equal tokens top_p leaves as many as it should.

    zh: 半精度与 float32 过滤得一样精确：4,096 个等可能的 token，top_p 之后该留几个就留几个。
    """
    logits = bench.tensor([[0.5] * 4096] * 2, dtype)
    counts = [rng.randrange(low, low + 500) * 2 + 1 for low in (600, 1400)]
    look = (
        "Shares of 1/4096: a sum in half precision can't tell two of them apart. "
        "Convert the logits before softmax, not after.",
        "每份 1/4096：半精度的和已经分不清相邻两份。要在 softmax 之前转换 logits，而不是之后。",
    )
    masks = bench.compare_masks(logits, [Row(top_p=(count - 0.5) / 4096) for count in counts], look)
    evidence.exact("tokens allowed", [sum(mask) for mask in masks], labels=["row 0", "row 1"])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
def test_half_logits_are_scaled_in_float32(bench: Any, evidence: Any, rng: Random, dtype: torch.dtype) -> None:
    """Half types are scaled in float32: unequal logits, a temperature of 0.7, borders a few in ten thousand away.

    zh: 半精度的 logits 用 float32 来除温度：logit 各不相同，温度 0.7，界限只差万分之几。
    """
    values = [[8.0] + [rng.randrange(-64, 64) / 64 for _ in range(7)] for _ in range(12)]
    values += [[rng.uniform(0.0, 3.0) for _ in range(8)] for _ in range(12)]
    logits = bench.tensor(values, dtype)
    rows: list[Row] = []
    for at, row in enumerate(logits.float().tolist()):
        places = rank_tokens(row, Row(0.7))
        shift = (3e-4, -3e-4)[at % 2]
        if at < 12:
            rows.append(Row(0.7, min_p=places[4].probability / places[0].probability * (1 + shift)))
        else:
            rows.append(Row(0.7, top_p=places[2].before + shift))
    look = (
        "Is anything computed in the logits' dtype: a difference, a quotient, or the temperature, which is 0.699 or "
        "0.7002 there? Convert first, then subtract and divide.",
        "有没有哪一步是按 logits 的 dtype 算的：减法、除法，或者温度本身（在那里是 0.699 或 0.7002）？"
        "先转换，再做减法和除法。",
    )
    evidence.exact("masks", bench.compare_masks(logits, rows, look))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=["f32", "f16", "bf16"])
def test_every_finite_logit_is_a_token(bench: Any, evidence: Any, dtype: torch.dtype) -> None:
    """Finite logits at the ends of their dtype are tokens like others, at any temperature.

    zh: 有限的 logit 哪怕到了 dtype 的两端，也是普通的 token，温度多低都一样。
    """
    most, least = torch.finfo(dtype).max, torch.finfo(dtype).min
    lines = [[least] * 4, [most, 0.0, least, most], [0.0, least, -INF, least / 2], [-2e4, -INF, -3e4, -2e4]]
    logits = bench.tensor([line for line in lines for _ in range(4)], dtype)
    rows = [Row(), Row(0.01), Row(0.01, top_k=3), Row(0.01, top_p=0.4, min_p=0.5)] * len(lines)
    look = (
        "Only -inf is no token. Divided by 0.01, the largest numbers overflow, and inf - inf is NaN: subtract the "
        "row's largest logit first.",
        "只有 -inf 才不算 token。最大的那些数除以 0.01 会溢出，而 inf - inf 是 NaN：先减去这一行最大的 logit。",
    )
    evidence.exact("masks", bench.compare_masks(logits, rows, look))


@pytest.mark.weight(3)
@pytest.mark.parametrize("layout", ["plain", "padded", "transposed", "f16", "bf16"])
def test_each_row_has_its_own_parameters(
    bench: Any, evidence: Any, rng: Random, logits_of: Callable[..., Tensor], layout: str
) -> None:
    """Rows with random parameters of their own, of any strides and dtype, drawn anew in each run.

    zh: 每行各用一套随机参数，任意步长与 dtype，每次评测重新生成。
    """
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}.get(layout, torch.float32)
    logits = logits_of(24, 97, dtype=dtype)
    if layout == "padded":
        logits = logits_of(24, 128)[:, :97]
    elif layout == "transposed":
        logits = logits_of(97, 24).t()
    rows = [draw_row(rng, values) for values in logits.float().tolist()]
    look = (
        "Does each filter see what the rules say it sees? top_p: what rule 3 left; min_p: the row's first token. "
        "And does a parameter of shape (rows,) meet the logits along the right dimension?",
        "每个过滤看到的是不是规则所说的范围？top_p 看规则 3 留下的，min_p 看该行的第一个 token。"
        "再看形状为 (rows,) 的参数与 logits 对齐的维度对不对。",
    )
    evidence.exact("masks", bench.compare_masks(logits, rows, look))
