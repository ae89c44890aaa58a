"""row() and batch(): which part of the cache they show, and that they are it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

LOOK_VIEW = (
    "Basic indexing (integers and slices) gives a view. contiguous(), clone(), cat(), an index by a list or a tensor "
    "give a copy: it costs the whole history each step, and goes stale.",
    "基本索引（整数和切片）得到视图。contiguous()、clone()、cat()、用列表或张量索引得到的是拷贝："
    "每一步都要把全部历史拷一遍，而且很快过期。",
)


def take_pair(expect: Any, answer: Any, name: str, shape: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return keys and values, once their form has been found right."""
    __tracebackhide__ = True
    kind = type(answer).__name__
    what = (f"{name} did not return two tensors", f"{name} 没有返回两个张量")
    expect.true(isinstance(answer, tuple) and len(answer) == 2, what, expected="(keys, values)", actual=kind)
    keys, values = (expect.tensor(tensor, name, shape=shape, device="cuda") for tensor in answer)
    return keys, values


def test_a_row_shows_its_tokens(ledger: Any, expect: Any, evidence: Any) -> None:
    """row() shows as many tokens as the row holds, none of another row's, and none at all of an empty one.

    zh: row() 给出的正是该行已有的 token，没有别的行的；空行则一个也没有。
    """
    cache = ledger.open(rows=3)
    for row, count in ((0, 2), (2, 5)):
        ledger.prefill(row, *ledger.draw_prompt(count))
    shown = []
    for row, count in enumerate((2, 0, 5)):
        pair = take_pair(expect, cache.row(row), f"row({row})", (2, count, 4))
        for name, view in zip(("keys", "values"), pair, strict=True):
            what = (f"row({row}) shows other {name} than the cache holds", f"row({row}) 的 {name} 与缓存里的不同")
            expect.equal(view.tolist(), getattr(cache, name)[row, :, :count].tolist(), what)
            shown.append(view.tolist())
    evidence.exact("rows", shown)


def test_a_batch_reaches_to_the_longest_row(ledger: Any, expect: Any, evidence: Any) -> None:
    """batch() shows all rows up to the length of the longest one.

    zh: batch() 给出所有的行，长度到最长的一行为止。
    """
    cache = ledger.open(rows=3)
    shown = []
    for row, count, longest in ((1, 4, 4), (0, 1, 4), (2, 6, 6)):
        ledger.prefill(row, *ledger.draw_prompt(count))
        pair = take_pair(expect, cache.batch(), "batch()", (3, 2, longest, 4))
        for name, view in zip(("keys", "values"), pair, strict=True):
            what = (f"batch() shows other {name} than the cache holds", f"batch() 的 {name} 与缓存里的不同")
            expect.equal(view.tolist(), getattr(cache, name)[:, :, :longest].tolist(), what)
            shown.append(view.tolist())
    evidence.exact("batches", shown)


def test_views_are_the_cache_itself(ledger: Any, expect: Any, evidence: Any) -> None:
    """What is written after a view was taken shows in it, and what is written through it stands in the cache.

    zh: 取得视图之后再写入的内容，在视图里看得到；通过视图写入的内容，缓存里也有。
    """
    cache = ledger.open(rows=2)
    ledger.prefill(0, *ledger.draw_prompt(3))
    views = {
        "row(0)": take_pair(expect, cache.row(0), "row(0)", (2, 3, 4)),
        "batch()": take_pair(expect, cache.batch(), "batch()", (2, 2, 3, 4)),
    }
    ledger.clear()
    keys, values = ledger.draw_prompt(3)
    ledger.prefill(0, keys, values)
    for name, (of_keys, of_values) in views.items():
        for view, wanted in ((of_keys, keys), (of_values, values)):
            seen = view if view.dim() == 3 else view[0]
            what = (f"{name} is a copy: it shows what stood there before", f"{name} 是拷贝：看到的还是以前的内容")
            expect.true(torch.equal(seen, wanted), what, LOOK_VIEW, None, wanted[0, 0].tolist(), seen[0, 0].tolist())
    views["row(0)"][0].fill_(7)
    what = ("What is written through a view does not reach the cache", "通过视图写入的内容没有到缓存里")
    expect.equal(cache.keys[0, :, :3].unique().tolist(), [7.0], what, LOOK_VIEW)
    evidence.exact("cache", [cache.keys.tolist(), cache.values.tolist()])


def test_a_view_costs_nothing(ledger: Any, expect: Any, evidence: Any, watch: Any) -> None:
    """row(), batch() and length() launch nothing and take no memory.

    zh: row()、batch() 和 length() 不启动任何工作，也不占显存。
    """
    cache = ledger.open(rows=2, capacity=512, head_dim=16)
    ledger.prefill(0, *ledger.draw_prompt(500))
    with watch() as seen:
        shapes = [tuple(view.shape) for view in (*cache.row(0), *cache.row(1), *cache.batch())]
        lengths = [cache.length(row) for row in range(2)]
    cost = {"launches": seen.launches, "bytes": seen.peak_growth_bytes}
    what = ("A view costs launches or memory", "取视图花了启动或显存")
    expect.equal(cost, {"launches": 0, "bytes": 0}, what, LOOK_VIEW)
    evidence.exact("shapes", [shapes, lengths])
