"""What an append costs: no wait, few launches, and no memory."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

MOST_LAUNCHES = 6
MOST_BYTES = 64 << 10

LOOK_WAIT = (
    "The host has queued every token itself: it knows all lengths without asking, and needs no list of positions "
    "uploaded, as the positions lie on the device already, in lengths.",
    "每个 token 都是主机自己排入的：各行多长，主机不问也知道；位置也不必从列表上传，设备上的 lengths 就是。",
)
LOOK_LAUNCHES = (
    "A launch takes the host some microseconds, whatever its size. One indexed write reaches all rows, each at its own "
    "position.",
    "一次启动不论大小都要花主机几微秒。一次带索引的写入就能到达所有的行，各在自己的位置。",
)
LOOK_MEMORY = (
    "cat() takes memory for the whole history each step, and where() for the whole cache. What is written is one token "
    "a row.",
    "cat() 每一步都为全部历史取一次显存，where() 则为整个缓存取一次。要写的不过是每行一个 token。",
)


@pytest.mark.weight(2)
@pytest.mark.budget(syncs=0)
def test_the_host_never_waits(ledger: Any, expect: Any, measure: Any, watch: Any) -> None:
    """Clearing, prefills, appends and views: the host never waits for the device.

    zh: clear()、prefill、追加、取视图：主机从不等待设备。
    """
    cache = ledger.open(rows=3)
    ledger.append(*ledger.draw_step())
    prompts = [ledger.draw_prompt(count) for count in (2, 0, 5)]
    steps = [*(ledger.draw_step() for _ in range(3)), ledger.draw_step(torch.float16)]
    torch.cuda.synchronize()
    with watch() as seen:
        cache.clear()
        for row, prompt in enumerate(prompts):
            cache.prefill(row, *prompt)
        for step in steps:
            cache.append(*step)
            cache.batch()
            cache.row(1)
            cache.length(2)
    measure("syncs", len(seen.syncs), "host waits", places=seen.places, look=LOOK_WAIT)
    ledger.held = [0, 0, 0]
    for row, prompt in enumerate(prompts):
        ledger.note_prefill(row, *prompt)
    for step in steps:
        ledger.note_append(*step)
    ledger.check(("clear, prefills and appends", "clear、prefill 和追加"))
    expect.waits(seen, look=LOOK_WAIT)


def test_a_refusal_does_not_wait_either(ledger: Any, expect: Any, watch: Any) -> None:
    """That a row is full is known without asking the device.

    zh: 哪一行满了，不问设备就知道。
    """
    cache = ledger.open(rows=2, capacity=2)
    ledger.prefill(1, *ledger.draw_prompt(2))
    keys, values = ledger.draw_step()
    torch.cuda.synchronize()
    what = ("row 1 is full, and append() went on", "第 1 行已满，append() 却照样执行")
    with watch() as seen:
        expect.raises(ledger.solution.CacheFull, lambda: cache.append(keys, values), what)
    expect.waits(seen, look=LOOK_WAIT)
    ledger.check(("after the refusal", "拒绝之后"))


@pytest.mark.parametrize("name", ["append", "prefill", "clear"])
def test_the_launches_are_few(ledger: Any, expect: Any, watch: Any, name: str) -> None:
    """Whatever the number of rows, tokens and heads, a call launches at most 6 times.

    zh: 不论有多少行、多少 token、多少 head，一次调用最多启动 6 次。
    """
    cache = ledger.open(rows=16, heads=3, capacity=24)
    ledger.prefill(3, *ledger.draw_prompt(7))
    ledger.append(*ledger.draw_step())
    step, prompt = ledger.draw_step(torch.bfloat16), ledger.draw_prompt(13, torch.bfloat16)
    torch.cuda.synchronize()
    with watch() as seen:
        if name == "append":
            cache.append(*step)
        elif name == "prefill":
            cache.prefill(5, *prompt)
        else:
            cache.clear()
    what = (f"{name}() launched {seen.launches} times", f"{name}() 启动了 {seen.launches} 次")
    expect.true(seen.launches <= MOST_LAUNCHES, what, LOOK_LAUNCHES, None, f"≤ {MOST_LAUNCHES}", seen.launches)
    if name == "append":
        ledger.note_append(*step)
    elif name == "prefill":
        ledger.note_prefill(5, *prompt)
    else:
        ledger.held = [0] * 16
    ledger.check((f"{name}()", f"{name}()"))


@pytest.mark.budget(memory_bytes=MOST_BYTES)
def test_a_step_takes_no_memory(ledger: Any, expect: Any, evidence: Any, measure: Any, watch: Any) -> None:
    """Beside a cache of 16 MiB eight appends need at most 64 KiB more at any time, and keep nothing.

    zh: 缓存 16 MiB；追加八次，任何时刻多占的显存不超过 64 KiB，之后一点不剩。
    """
    cache = ledger.open(rows=4, heads=4, capacity=4096, head_dim=64, dtype=torch.bfloat16)
    steps = [ledger.draw_step() for _ in range(9)]
    cache.prefill(2, *fill_up(cache, 4000))
    cache.append(*steps[8])
    before = torch.cuda.memory_allocated()
    with watch() as seen:
        for step in steps[:8]:
            cache.append(*step)
    measure("memory_bytes", seen.peak_growth_bytes, "B", look=LOOK_MEMORY)
    kept = torch.cuda.memory_allocated() - before
    what = ("Each append keeps memory", "每次追加都占着显存不放")
    expect.equal(kept, 0, what, LOOK_MEMORY)
    evidence.exact("lengths", cache.lengths.tolist())
    evidence.exact("last tokens", cache.row(2)[0][:, -9:].tolist())


def test_it_works_on_the_current_stream(ledger: Any, expect: Any, watch: Any) -> None:
    """Called on a side stream it works there, in order with what makes the tokens and what reads the cache.

    zh: 在旁支流上调用，就在那个流上工作，与产生 token、读取缓存的工作保持先后。
    """
    cache = ledger.open(rows=2)
    steps, prompt = [ledger.draw_step() for _ in range(3)], ledger.draw_prompt(2)
    stream = torch.cuda.Stream(priority=-1)
    stream.wait_stream(torch.cuda.current_stream())
    made = []
    with watch() as seen, torch.cuda.stream(stream):
        cache.prefill(1, prompt[0] * 2, prompt[1] * 2)
        for keys, values in steps:
            made.append((keys * 2, values * 2))
            cache.append(*made[-1])
            sums = [view.sum() for view in cache.batch()]
        sums = [total.item() for total in sums]
    torch.cuda.current_stream().wait_stream(stream)
    expect.ordered(seen)
    ledger.note_prefill(1, prompt[0] * 2, prompt[1] * 2)
    for step in made:
        ledger.note_append(*step)
    ledger.check(("work on a side stream", "在旁支流上工作"))
    what = ("The views were read before they were written", "视图还没写好就被读了")
    expect.equal(sums, [half.float().sum().item() for half in (cache.keys, cache.values)], what)


def fill_up(cache: Any, count: int) -> tuple[Tensor, Tensor]:
    """Return keys and values of so many tokens, all 1, for one row."""
    _, heads, _, head_dim = cache.keys.shape
    ones = torch.ones(1, 1, 1, dtype=cache.keys.dtype, device=cache.keys.device).expand(heads, count, head_dim)
    return ones, ones
