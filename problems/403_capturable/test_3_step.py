"""The parts together in one graph, for a batch from its first token to its last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support_rules import Draw, read

STEPS = 14


@pytest.mark.weight(3)
def test_a_whole_batch_is_decoded_by_one_graph(
    bench: Callable[..., Any], draw: Draw, evidence: Any, expect: Any
) -> None:
    """Penalty, stops, finished requests and the window work together in one graph, until each request has finished.

    zh: 惩罚、停止 token、已结束的请求和窗口在同一张图里一起工作，直到所有请求结束。
    """
    one = bench(rows=4, stop_tokens=[3, 7], min_tokens=4)
    step, rules = one.step, one.rules
    logits, penalty = draw.logits(4, 11), draw.tensor([0.0, 2.0, 4.0, 0.5], torch.float32)
    generated = torch.zeros(4, dtype=torch.int64, device=draw.device)
    finished = torch.zeros(4, dtype=torch.bool, device=draw.device)

    def decode() -> Any:
        held = step.hold_stops(step.penalise(logits, penalty), generated)
        tokens = step.close(held.argmax(1), finished)
        step.remember(tokens)
        return tokens

    def expected() -> Any:
        held = rules.hold_stops(rules.penalise(read(logits), read(penalty)), read(generated))
        tokens, ended = rules.close([row.index(max(row)) for row in held], read(finished))
        rules.remember(tokens)
        return tokens, ended

    graph = torch.cuda.CUDAGraph()
    tokens, emitted = None, []
    for number in range(STEPS):
        logits.copy_(draw.logits(4, 11))
        logits[number % 4, 3] = 99  # a request wants to stop in each step
        wanted = expected()
        if number == 0:
            tokens = decode()
        elif number == 1:
            tokens = one.record("the whole step", graph, decode)
        if number > 0:
            graph.replay()
        what = (f"step {number}: tokens and finished flags are wrong", f"第 {number} 步：token 和结束标志不对")
        look = (
            "Each part is right alone. What do they share: a tensor that one of them changes or binds anew?",
            "每一部分单独都对。它们共用了什么：是不是有张量被其中一个改动，或者重新绑定了？",
        )
        expect.equal((read(tokens), read(finished)), wanted, what, look)
        emitted.append(read(tokens))
        generated += 1
    evidence.exact("emitted", emitted, labels=[f"step {number}" for number in range(STEPS)])
