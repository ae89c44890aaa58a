"""Whose memory it is, and when; and which stream counts."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support_forms import BF16, F32


@pytest.mark.parametrize("form", ["contiguous", "transposed", "narrowed"])
def test_a_pageable_source_is_the_callers_at_once(trial: Any, watch: Any, busy: Any, form: str) -> None:
    """The device lags behind, and the caller writes into its pageable source right after each upload.

    zh: 设备落在后面，每次上传之后调用者立即改写可换页的源。
    """
    dtype = BF16 if form == "narrowed" else F32
    source = torch.empty(64, 48)
    with watch() as seen:
        for number in range(4):
            busy()
            source.copy_(trial.draw(64, 48))
            trial.upload(source.t() if form == "transposed" else source, dtype, f"upload() {number}")
            source.fill_(-1)
    trial.settle(seen)


@pytest.mark.parametrize("form", ["as_it_is", "narrowed", "widened"])
def test_a_device_source_is_the_callers_at_once(trial: Any, watch: Any, busy: Any, form: str) -> None:
    """The caller overwrites the source on the same stream right after each download, and drops it at the end.

    zh: 每次下载之后调用者立即在同一个流上改写源，最后把它丢掉。
    """
    source_dtype, dtype = {"narrowed": (F32, BF16), "widened": (BF16, F32)}.get(form, (F32, F32))
    values = trial.rng.sample(range(1, 100), 4)
    with watch() as seen:
        there = torch.zeros(300, dtype=source_dtype, device="cuda")
        coming = []
        for value in values:
            busy()
            there.fill_(value)
            coming.append(trial.download(there, dtype))
            there.fill_(-1)
        del there
        torch.full((300,), -2, dtype=source_dtype, device="cuda")
        for number, value in enumerate(values):
            trial.read(coming[number], torch.full((300,), value, dtype=dtype), f"read() {number}")
    trial.settle(seen)


def test_results_are_the_callers_to_keep(trial: Any, expect: Any, busy: Any) -> None:
    """What came before doesn't change when more comes; a second read() returns the same tensor.

    zh: 后来的不会改变先到的；第二次 read() 返回同一个张量。
    """
    sources = [trial.draw(40) for _ in range(6)]
    there = [trial.upload(source, F32, f"upload() {number}") for number, source in enumerate(sources)]
    busy()
    coming = [trial.download(tensor, BF16 if number % 2 else F32) for number, tensor in enumerate(there)]
    kept = [trial.read(one, sources[at].to(BF16 if at % 2 else F32), f"read() {at}") for at, one in enumerate(coming)]
    for number, (tensor, source) in enumerate(zip(kept, sources, strict=True)):
        what = (f"What read() {number} returned has changed", f"第 {number} 次 read() 返回的内容变了")
        look = ("Does one buffer serve several downloads?", "是不是几次下载共用了一个缓冲区？")
        expect.equal(tensor, source.to(tensor.dtype), what, look)
        again = ("A second read() returned another tensor", "第二次 read() 返回了另一个张量")
        expect.true(coming[number].read() is tensor, again)
    trial.settle()


def test_the_stream_of_the_call_counts(trial: Any, watch: Any, busy: Any, side_stream: Any) -> None:
    """Copies are queued on the stream that is current at the call, behind its work; another one is current at read().

    zh: 拷贝排进调用时的当前流，在它已有的工作之后；read() 时的当前流是另一个。
    """
    with watch() as seen:
        for number in range(3):
            source = trial.draw(500, pinned=bool(number % 2))
            with torch.cuda.stream(side_stream):
                busy()
                tensor = trial.upload(source, F32, f"upload() {number}")
                coming = trial.download(tensor * 2, F32)
                del tensor
            trial.read(coming, source * 2, f"read() {number}")
    side_stream.synchronize()
    trial.settle(seen)
