"""What is refused, and that a refusal leaves everything as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

LOOK_FULL = (
    "Is every row's room looked at before the first byte is written, and before any length grows? A position that is "
    "taken modulo the capacity, or clamped, overwrites tokens in silence.",
    "写第一个字节、改任何长度之前，是否已经看过每一行的余量？位置对容量取模或截断，会悄悄覆盖已有的 token。",
)
LOOK_SHAPE = (
    "An assignment and copy_() broadcast: one token for all rows, one head for all heads, without a word.",
    "赋值和 copy_() 会广播：一个 token 写到所有的行，一个 head 写到所有的 head，一声不响。",
)
LOOK_ROW = (
    "Python counts negative indices from the end: row -1 would be the last one.",
    "Python 的负数下标从末尾数起：第 -1 行就成了最后一行。",
)

Refused = Callable[[Any], object]


def refuse(ledger: Any, expect: Any, kind: type[Exception], call: Refused, what: tuple[str, str], look: Any) -> str:
    """Return the message of a refused call; the cache must be as before, and go on working."""
    __tracebackhide__ = True
    error = expect.raises(kind, lambda: call(ledger.cache), what, look)
    ledger.check(("after the refusal", "拒绝之后"))
    return str(error)


def test_a_full_row_is_an_error(ledger: Any, expect: Any) -> None:
    """One row of three is full: append() raises CacheFull, names it, and no row has changed.

    zh: 三行中有一行满了：append() 抛出 CacheFull，说出是哪一行，而各行都没有变化。
    """
    ledger.open(rows=3, capacity=4)
    for row, count in ((0, 1), (1, 3), (2, 2)):
        ledger.prefill(row, *ledger.draw_prompt(count))
    ledger.append(*ledger.draw_step())
    keys, values = ledger.draw_step()
    what = ("row 1 is full, and append() went on", "第 1 行已满，append() 却照样执行")
    message = refuse(
        ledger, expect, ledger.solution.CacheFull, lambda cache: cache.append(keys, values), what, LOOK_FULL
    )
    named = ("The message does not name the full row", "报错没有说出满的是哪一行")
    expect.true("row 1" in message, named, expected="… row 1 …", actual=message)
    ledger.prefill(2, *ledger.draw_prompt(1))
    ledger.check(("a prefill after the refusal", "拒绝之后再 prefill"))


def test_a_prompt_that_does_not_fit_is_an_error(ledger: Any, expect: Any) -> None:
    """A prefill beyond the capacity raises CacheFull and writes not even what would fit; one that just fits goes in.

    zh: 超出容量的 prefill 抛出 CacheFull，放得下的部分也不写；正好放得下的则写入。
    """
    ledger.open(rows=2, capacity=6)
    ledger.prefill(1, *ledger.draw_prompt(3))
    keys, values = ledger.draw_prompt(4)
    what = ("4 tokens more than the capacity allows were accepted", "超出容量的 4 个 token 被接受了")
    full = ledger.solution.CacheFull
    message = refuse(ledger, expect, full, lambda cache: cache.prefill(1, keys, values), what, LOOK_FULL)
    named = ("The message does not name the row", "报错没有说出是哪一行")
    expect.true("row 1" in message, named, expected="… row 1 …", actual=message)
    ledger.prefill(1, keys[:, :3], values[:, :3])
    ledger.prefill(1, keys[:, :0], values[:, :0])
    ledger.check(("a prefill that just fits", "正好放得下的 prefill"))


SHAPES: dict[str, Callable[[Tensor], Tensor]] = {
    "one_row": lambda x: x[:1],
    "no_row_dimension": lambda x: x[0],
    "one_head": lambda x: x[:, :1],
    "a_head_too_many": lambda x: torch.cat([x, x[:, :1]], dim=1),
    "one_number": lambda x: x[..., :1],
    "on_the_host": lambda x: x.cpu(),
}


@pytest.mark.parametrize("half", ["keys", "values"])
@pytest.mark.parametrize("case", list(SHAPES))
def test_other_tensors_are_refused_by_append(ledger: Any, expect: Any, case: str, half: str) -> None:
    """Keys or values of another shape or device: ValueError, and nothing has been written, of the right half neither.

    zh: 键或值的形状、设备不对：抛出 ValueError，什么也没写，没问题的那一半也没写。
    """
    ledger.open(rows=3)
    ledger.append(*ledger.draw_step())
    keys, values = ledger.draw_step()
    keys, values = (SHAPES[case](keys), values) if half == "keys" else (keys, SHAPES[case](values))
    what = (f"append() took {half} of another kind", f"append() 接受了不对的 {half}")
    refuse(ledger, expect, ValueError, lambda cache: cache.append(keys, values), what, LOOK_SHAPE)


PROMPTS: dict[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "no_token_dimension": lambda k, v: (k[:, 0], v[:, 0]),
    "fewer_values": lambda k, v: (k, v[:, :1]),
    "more_values": lambda k, v: (k[:, :1], v),
    "one_head": lambda k, v: (k[:1], v[:1]),
    "one_number": lambda k, v: (k[..., :1], v[..., :1]),
    "on_the_host": lambda k, v: (k, v.cpu()),
}


@pytest.mark.parametrize("case", list(PROMPTS))
def test_other_tensors_are_refused_by_prefill(ledger: Any, expect: Any, case: str) -> None:
    """A prompt of another shape or device, or with more keys than values: ValueError, and nothing has been written.

    zh: prompt 的形状、设备不对，或键与值数目不等：抛出 ValueError，什么也没写。
    """
    ledger.open(rows=3)
    ledger.prefill(1, *ledger.draw_prompt(2))
    keys, values = PROMPTS[case](*ledger.draw_prompt(3))
    what = ("prefill() took tensors of another kind", "prefill() 接受了不对的张量")
    refuse(ledger, expect, ValueError, lambda cache: cache.prefill(1, keys, values), what, LOOK_SHAPE)


@pytest.mark.parametrize("row", [-1, 3])
@pytest.mark.parametrize("name", ["prefill", "row", "length"])
def test_there_is_no_such_row(ledger: Any, expect: Any, name: str, row: int) -> None:
    """A row that does not exist is an IndexError, negative ones included.

    zh: 不存在的行抛出 IndexError，负数也一样。
    """
    ledger.open(rows=3)
    ledger.append(*ledger.draw_step())
    tensors = ledger.draw_prompt(1) if name == "prefill" else ()
    what = (f"{name}() took row {row} of 3", f"{name}() 接受了第 {row} 行，而总共只有 3 行")
    refuse(ledger, expect, IndexError, lambda cache: getattr(cache, name)(row, *tensors), what, LOOK_ROW)
