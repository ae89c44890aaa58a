"""What the cache holds after appends and prefills: each row at its own positions, in the cache's dtype."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def test_a_new_cache_is_empty(ledger: Any, device: str) -> None:
    """A new cache has the stated shapes and dtypes, holds nothing, and is 0 throughout, whatever lay in its memory.

    zh: 新建的缓存形状和 dtype 正确，什么也没有；不论那块内存以前放过什么，处处是 0。
    """
    stale = [torch.full((3, 2, 12, 4), torch.nan, device=device) for _ in range(4)]
    del stale  # its blocks are what the cache is given
    ledger.open()
    ledger.check(("new cache", "新建缓存"))


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_one_append_after_another(ledger: Any, dtype: str) -> None:
    """Every append adds one token to each row, until the rows are full to the last position.

    zh: 每次追加都给每一行添一个 token，直到最后一个位置也写满。
    """
    ledger.open(rows=3, capacity=5, dtype=DTYPES[dtype])
    for step in range(5):
        ledger.append(*ledger.draw_step())
        ledger.check((f"append {step}", f"第 {step} 次追加"))


def test_rows_have_positions_of_their_own(ledger: Any, rng: Random) -> None:
    """Prompts of different lengths, one of them of no token, and then appends: each row goes on where it ended.

    zh: prompt 长短不一，其中一个没有 token，之后再追加：每一行都接着自己的末尾写。
    """
    ledger.open(rows=4, capacity=12)
    counts = rng.sample([0, 1, 4, 7], 4)
    for row, count in enumerate(counts):
        ledger.prefill(row, *ledger.draw_prompt(count))
    ledger.check(("prefill", "prefill"))
    for step in range(3):
        ledger.append(*ledger.draw_step())
        ledger.check((f"append {step}", f"第 {step} 次追加"))


def test_a_prompt_comes_in_chunks(ledger: Any) -> None:
    """A row is prefilled in three chunks, with an append between them, and becomes full.

    zh: 一行的 prompt 分三块写入，中间夹着一次追加，最后正好写满。
    """
    ledger.open(rows=2, capacity=9)
    ledger.prefill(1, *ledger.draw_prompt(3))
    ledger.prefill(1, *ledger.draw_prompt(1))
    ledger.append(*ledger.draw_step())
    ledger.prefill(1, *ledger.draw_prompt(4))
    ledger.check(("three chunks and an append", "三块加一次追加"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_other_types_are_rounded_to_the_caches(ledger: Any, dtype: str) -> None:
    """float32 tokens go into a cache of a half type: rounded there, and the cache keeps its dtype.

    zh: float32 的 token 写进半精度缓存：写入时舍入，缓存的 dtype 不变。
    """
    ledger.open(rows=2, dtype=DTYPES[dtype])
    for _ in range(2):
        keys, values = ledger.draw_step(torch.float32)
        ledger.append(keys / 7, values / 7)
    keys, values = ledger.draw_prompt(3, torch.float32)
    ledger.prefill(0, keys / 7, values / 7)
    ledger.check(("float32 tokens", "写入 float32 的 token"))


def test_tokens_may_have_any_strides(ledger: Any) -> None:
    """Keys and values are slices of a fused QKV product, and transposed.

    zh: 键和值是融合 QKV 结果的切片，而且转置过。
    """
    rows, heads, _, head_dim = ledger.open(rows=3, heads=2, head_dim=5).keys.shape
    prompt = ledger.draw(4, 3, heads, head_dim)  # (tokens, q k v, heads, dim)
    ledger.prefill(2, prompt[:, 1].transpose(0, 1), prompt[:, 2].transpose(0, 1))
    fused = ledger.draw(rows, 3, head_dim, heads)
    ledger.append(fused[:, 1].transpose(1, 2), fused[:, 2].transpose(1, 2))
    ledger.append(ledger.draw(1, heads, head_dim).expand(rows, heads, head_dim), fused[:, 0].transpose(1, 2))
    ledger.check(("strided tokens", "写入不连续的 token"))


def test_the_callers_tensors_are_free_again(ledger: Any) -> None:
    """After the call the caller overwrites the tensors that it gave.

    zh: 调用之后，调用者改写自己给出的张量。
    """
    ledger.open()
    for number in range(2):
        step, prompt = ledger.draw_step(), ledger.draw_prompt(2)
        ledger.append(*step)
        ledger.prefill(number, *prompt)
        for tensor in (*step, *prompt):
            tensor.fill_(-1)
    ledger.check(("overwritten inputs", "改写输入之后"))


def test_no_autograd_graph_is_kept(ledger: Any) -> None:
    """Tokens that require gradients are written by value.

    zh: 要求梯度的 token 只写入数值。
    """
    ledger.open()
    ledger.append(*(tensor.requires_grad_() for tensor in ledger.draw_step()))
    ledger.prefill(1, *(tensor.requires_grad_() for tensor in ledger.draw_prompt(2)))
    ledger.check(("tokens with gradients", "写入要求梯度的 token"))


def test_a_cleared_cache_begins_anew(ledger: Any) -> None:
    """After clear() every row is empty, the contents stay, and the next batch overwrites them from position 0 on.

    zh: clear() 之后每行都是空的，内容原样留着；下一批从位置 0 开始覆盖。
    """
    ledger.open(rows=2)
    ledger.prefill(0, *ledger.draw_prompt(5))
    ledger.append(*ledger.draw_step())
    ledger.clear()
    ledger.check(("clear()", "clear()"))
    ledger.prefill(1, *ledger.draw_prompt(2))
    ledger.append(*ledger.draw_step())
    ledger.check(("the next batch", "下一批"))


@pytest.mark.parametrize("shape", [(0, 2, 4, 3), (1, 1, 1, 1), (2, 1, 3, 0)], ids=["no_rows", "ones", "no_dim"])
def test_the_smallest_caches(ledger: Any, expect: Any, shape: tuple[int, int, int, int]) -> None:
    """A cache of no rows, one of a single number, one of empty heads.

    zh: 没有行的缓存、只有一个数的缓存、head 为空的缓存。
    """
    cache = ledger.open(*shape)
    ledger.append(*ledger.draw_step())
    ledger.check(("append", "追加"))
    wanted = (shape[0], shape[1], max(ledger.held, default=0), shape[3])
    what = ("batch() has other shapes", "batch() 的形状不对")
    expect.equal([tuple(view.shape) for view in cache.batch()], [wanted] * 2, what)
