"""What comes: shape, dtype and values, whatever the form of the source."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support_forms import PAIRS, STRIDES, name_pair

SHAPES = [(), (7,), (3, 0), (2, 1, 4)]


@pytest.mark.parametrize("pair", PAIRS, ids=name_pair)
def test_any_dtype_becomes_any_other(trial: Any, watch: Any, pair: tuple[torch.dtype, torch.dtype]) -> None:
    """Both directions, from pinned and pageable memory, have the values that a conversion on the host gives.

    zh: 两个方向，锁页或可换页，得到的值都与在主机上转换的相同。
    """
    source_dtype, dtype = pair
    with watch() as seen:
        for pinned in (False, True):
            source = trial.draw(5, 3, dtype=source_dtype, pinned=pinned)
            trial.upload(source, dtype, f"upload() from {'pinned' if pinned else 'pageable'} memory")
        trial.read(trial.download(source.to("cuda"), dtype), source.to(dtype))
    trial.settle(seen)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_shape_comes(trial: Any, shape: tuple[int, ...]) -> None:
    """A tensor may have any shape, also no dimension, or 0 elements.

    zh: 形状任意，0 维或 0 个元素也行。
    """
    for pinned in (False, True):
        source = trial.draw(*shape, pinned=pinned)
        trial.upload(source, torch.bfloat16)
        trial.read(trial.download(source.to("cuda"), torch.float64), source.double())
    trial.settle()


@pytest.mark.parametrize("strides", list(STRIDES))
def test_any_strides_come_straight(trial: Any, watch: Any, strides: str) -> None:
    """A view is copied with its values in its order, and what comes is contiguous.

    zh: 视图按自己的次序拷过去，得到的是连续的。
    """
    make = STRIDES[strides]
    with watch() as seen:
        for dtype in (torch.float32, torch.bfloat16, torch.float64):
            for pinned in (False, True):
                whole = trial.draw(4, 3, 6, pinned=pinned)
                trial.upload(make(whole), dtype, f"upload() to {dtype}")
            trial.read(trial.download(make(whole.to("cuda")), dtype), make(whole).to(dtype).contiguous())
    trial.settle(seen)


def test_sources_are_only_read(trial: Any, expect: Any) -> None:
    """Neither direction changes its source.

    zh: 两个方向都不改变源。
    """
    pageable, pinned = trial.draw(4, 5), trial.draw(4, 5, pinned=True)
    there = trial.draw(4, 5).to("cuda")
    with expect.unchanged(pageable=pageable, pinned=pinned, there=there):
        for source in (pageable, pinned):
            trial.solution.upload(source, torch.float32).add_(1)
        trial.solution.download(there, torch.float32).read().add_(1)
        trial.upload(pinned, torch.float32)
    trial.settle()
