"""Memory that is dropped while another stream still reads it: nobody else writes there until that is over."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from test_1_results import find_logprobs


@pytest.mark.weight(2)
def test_saved_blocks_are_not_overwritten(yard: Any, watch: Any, busy: Any) -> None:
    """The copies to the host lag behind, and the caller's next step takes memory of the same size.

    zh: 拷往主机的拷贝落在后面，调用者的下一步又申请同样大小的内存。
    """
    lane = yard.open()
    wanted = yard.model.clone()
    copies = []
    with watch() as seen:
        for first in range(0, 12, 3):
            busy(lane.out)
            copies.append(yard.save([first, first + 1, first + 2]))
            yard.reuse(wanted[:3])
        for number, copy in enumerate(copies):
            yard.take(copy, wanted[3 * number :][:3], f"save() {number}")
    yard.settle(seen)


@pytest.mark.weight(2)
def test_fetched_blocks_are_not_overwritten(yard: Any, watch: Any, busy: Any) -> None:
    """The caller's stream lags behind; a placed batch of blocks is dropped, and the next one is fetched.

    zh: 调用者的流落在后面；放好的一批块被丢掉，接着又取回下一批。
    """
    yard.open()
    saved = [yard.save([number]) for number in range(4)]
    wanted = yard.model.clone()
    yard.model[:4] = -1
    torch.cuda.synchronize()
    with watch() as seen:
        for number, copy in enumerate(saved):
            busy()
            yard.place(yard.call("fetch", copy), [11 - number], wanted[number : number + 1])
    yard.settle(seen)
    yard.check_cache()


@pytest.mark.weight(2)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("dropped", ["logits", "tokens"])
def test_logits_and_tokens_may_be_dropped_at_once(
    yard: Any, watch: Any, busy: Any, dropped: str, dtype: torch.dtype
) -> None:
    """Logprobs lag behind; the caller drops the logits or the tokens, and takes memory of the same size.

    zh: 对数概率的计算落在后面；调用者丢掉 logits 或 token，又申请同样大小的内存。
    """
    lane = yard.open()
    logits, tokens = (yard.draw(3, 8, 300) / 8).to(dtype), yard.draw(3, 8, dtype=torch.int64)
    torch.cuda.synchronize()
    copies, kept = [], []
    with watch() as seen:
        for step in range(3):
            given = {"logits": logits[step].to("cuda"), "tokens": tokens[step].to("cuda")}
            busy(lane.out)
            copies.append(yard.call("logprobs", given["logits"], given["tokens"]))
            kept.append(given["tokens" if dropped == "logits" else "logits"])
            del given
            yard.reuse(logits[step] if dropped == "logits" else tokens[step] * 0 + 7)
        for step, copy in enumerate(copies):
            yard.take(copy, find_logprobs(logits[step], tokens[step]), f"logprobs() {step}")
    yard.settle(seen)


def test_dropped_results_do_no_harm(yard: Any, watch: Any, busy: Any) -> None:
    """Requests are aborted: what was saved or fetched for them is dropped before the copies have run.

    zh: 请求被取消：为它们保存、取回的东西，拷贝还没执行就丢掉了。
    """
    lane = yard.open()
    wanted = yard.model.clone()
    with watch() as seen:
        for number in range(4):
            busy(lane.out)
            yard.call("fetch", yard.save([number]))
        copies = [yard.save([number]) for number in range(4, 8)]
        for number, copy in enumerate(copies, 4):
            yard.take(copy, wanted[number : number + 1], f"save() {number}")
    yard.settle(seen)
