"""What crosses the link, and what the host must not touch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support_forms import BF16, F32
from torch import Tensor

SIDE = 1 << 10
MIB = 1 << 20
TIME_RATIO = 1.3
"""A real link is not always quiet; whoever lets too many bytes cross needs twice the time."""
TRIES = 3

LOOK_BYTES = (
    "On which side of the link is the dtype changed? Narrow before, widen behind it; but a pinned source crosses as it "
    "is, untouched by the host.",
    "dtype 在链路的哪一侧改变？变窄在之前，变宽在之后；不过锁页的源原样过去，主机不去碰它。",
)
LOOK_STAGED = (
    'A pinned source whose bytes fill one run of memory, in whatever order, can cross as it lies: .to("cuda", '
    "non_blocking=True) keeps its strides. They are made straight there, by .contiguous().",
    '锁页的源，只要字节不论次序填满一片内存，就可以原样过去：.to("cuda", non_blocking=True) 会保持步长；'
    "到了那边再用 .contiguous() 理顺。",
)

UPLOADS: dict[str, tuple[Callable[[Tensor], Tensor], torch.dtype, torch.dtype, int]] = {
    "pageable_narrowed": (lambda x: x, F32, BF16, 2),
    "pageable_widened": (lambda x: x, BF16, F32, 2),
    "pinned_narrowed": (lambda x: x.pin_memory(), F32, BF16, 4),
    "pinned_columns_narrowed": (lambda x: x.pin_memory()[:, ::2], F32, BF16, 1),
}
DOWNLOADS: dict[str, tuple[Callable[[Tensor], Tensor], torch.dtype, torch.dtype, int]] = {
    "transposed_narrowed": (lambda x: x.t(), F32, BF16, 2),
    "widened": (lambda x: x, BF16, F32, 2),
}


@pytest.mark.budget(time_ratio=TIME_RATIO)
@pytest.mark.parametrize("form", list(UPLOADS))
def test_an_upload_is_no_longer_on_the_link_than_needed(
    trial: Any, watch: Any, expect: Any, measure: Any, form: str
) -> None:
    """The link is busy for at most 1.3 times as long as one copy, by way of pinned memory, of what has to cross.

    zh: 链路的忙碌时间，不超过把必须传的字节经锁页内存拷一次所需时间的 1.3 倍。
    """
    make, source_dtype, dtype, most_mib = UPLOADS[form]
    source = make(trial.draw(SIDE, SIDE).to(source_dtype))
    values = torch.ones(most_mib * MIB, dtype=torch.uint8)
    pinned, there = torch.empty_like(values, pin_memory=True), torch.empty_like(values, device="cuda")

    def copy() -> None:
        there.copy_(pinned.copy_(values), non_blocking=True)  # bytes that the host has just written cross more slowly

    judge_link(watch, copy, lambda: trial.solution.upload(source, dtype), ("h2d", most_mib), expect, measure)
    trial.upload(source, dtype)
    trial.settle()


@pytest.mark.budget(time_ratio=TIME_RATIO)
@pytest.mark.parametrize("form", list(DOWNLOADS))
def test_a_download_is_no_longer_on_the_link_than_needed(
    trial: Any, watch: Any, expect: Any, measure: Any, form: str
) -> None:
    """The link is busy for at most 1.3 times as long as one copy into pinned memory of what has to cross.

    zh: 链路的忙碌时间，不超过把必须传的字节往锁页内存拷一次所需时间的 1.3 倍。
    """
    make, source_dtype, dtype, most_mib = DOWNLOADS[form]
    source = make(trial.draw(SIDE, SIDE).to(source_dtype).to("cuda"))
    there = torch.ones(most_mib * MIB, dtype=torch.uint8, device="cuda")

    def copy() -> None:
        torch.empty(there.shape, dtype=there.dtype, pin_memory=True).copy_(there, non_blocking=True)

    judge_link(watch, copy, lambda: trial.solution.download(source, dtype).read(), ("d2h", most_mib), expect, measure)
    trial.read(trial.download(source, dtype), source.cpu().to(dtype).contiguous())
    trial.settle()


@pytest.mark.parametrize("form", ["contiguous", "permuted", "first_rows", "narrowed"])
def test_a_pinned_source_is_not_staged(trial: Any, expect: Any, pinned_use: Any, form: str) -> None:
    """A pinned source without gaps crosses as it lies: no other pinned memory is taken for it.

    zh: 锁页而没有空隙的源原样过去：不再为它占用别的锁页内存。
    """
    source = trial.draw(32, 64, 64, pinned=True)
    source = {"permuted": source.permute(2, 0, 1), "first_rows": source[:1, :20]}.get(form, source)
    dtype = BF16 if form == "narrowed" else F32
    used = pinned_use(lambda: trial.upload(source, dtype))
    what = ("A pinned source was copied on the host once more", "锁页的源又在主机上拷了一遍")
    expect.true(used.peak_bytes <= 0, what, LOOK_STAGED, expected="0 bytes", actual=f"{used.peak_bytes} bytes")
    trial.settle()


def judge_link(watch: Any, copy: Any, call: Any, crossing: tuple[str, int], expect: Any, measure: Any) -> None:
    """Fail if a call keeps the link busy for longer than a copy of the bytes that have to cross.

    Args:
        watch: the judge's fixture.
        copy: copies those bytes.
        call: what is judged.
        crossing: the engine, ``h2d`` or ``d2h``, and how many MiB have to cross.
        expect: the judge's fixture.
        measure: the judge's fixture.
    """
    __tracebackhide__ = True
    engine, most_mib = crossing
    ideal_us, took_us = 0.0, float("inf")
    for _ in range(TRIES):
        with watch() as ideal:
            copy()
        with watch() as seen:
            call()
        ideal_us, took_us = max(ideal_us, find_busy(ideal, engine)), min(took_us, find_busy(seen, engine))
        if took_us <= TIME_RATIO * ideal_us:
            break
    expect.true(took_us > 0, ("Nothing crossed the link", "没有任何东西经过链路"), LOOK_BYTES)
    measure("time_ratio", took_us / ideal_us, "×", look=LOOK_BYTES)
    expect.true(
        took_us <= TIME_RATIO * ideal_us,
        ("The link was busy for longer than needed", "链路忙碌的时间超出了需要"),
        LOOK_BYTES,
        expected=f"≤ {TIME_RATIO} × {ideal_us:.0f} us ({most_mib} MiB)",
        actual=f"{took_us:.0f} us, {took_us / ideal_us:.2f} ×",
    )


def find_busy(seen: Any, engine: str) -> float:
    """Return for how long a direction of the link was busy, in microseconds."""
    return float(sum(span.ended_us - span.started_us for span in seen.observation.spans if span.engine == engine))
