"""What merge() makes of two partials."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
import torch


def test_two_halves_are_the_whole(lab: Any, rng: Random) -> None:
    """The keys are cut in two anywhere: merged, the two partials are that of all keys.

    zh: 把键从任意处切成两段：两个 partial 合并起来，就是全部键的 partial。
    """
    task = lab.task()
    for cut in (1, rng.randrange(2, 21), 22):
        pieces = [task.cut(0, cut), task.cut(cut, 23)]
        lab.check_partial(lab.fold(pieces, task), task, f"merge() at {cut}")
    lab.settle()


def test_the_order_does_not_matter(lab: Any, rng: Random) -> None:
    """Five pieces of different sizes, merged in a random order and as a tree.

    zh: 大小不同的五段，以任意次序合并，或像树一样两两合并。
    """
    task = lab.task(keys=40)
    cuts = [0, *sorted(rng.sample(range(1, 40), 4)), 40]
    pieces = [task.cut(start, end) for start, end in pairwise(cuts)]
    rng.shuffle(pieces)
    lab.check_partial(lab.fold(pieces, task), task, "merge() in any order")
    left, right = lab.fold(pieces[:2], task), lab.fold(pieces[2:], task)
    lab.check_partial(lab.merge(left, right, task), task, "merge() as a tree")
    lab.settle()


@pytest.mark.parametrize("rising", [True, False], ids=["rising", "falling"])
@pytest.mark.parametrize("size", [50.0, 2e4])
def test_the_maxima_may_lie_far_apart(lab: Any, size: float, rising: bool) -> None:
    """One half has scores around -size, the other around +size, in either order: the smaller ones hardly count.

    zh: 一半的分数在 -size 附近，另一半在 +size 附近，先后两种次序：小的那一半几乎不起作用。
    """
    task = lab.whole_task(24)
    task.queries[..., 0] = 1.0
    task.keys[..., 0] = torch.tensor([-size] * 12 + [size] * 12 if rising else [size] * 12 + [-size] * 12)
    lab.check_partial(lab.fold([task.cut(0, 12), task.cut(12, 24)], task), task, "merge()")
    lab.settle()


@pytest.mark.parametrize("first", ["empty_first", "empty_second", "both_empty", "no_keys"])
def test_an_empty_side_changes_nothing(lab: Any, first: str) -> None:
    """A side in which some rows, or all, have no key to attend: these rows are the other side's, and never NaN.

    zh: 一侧的某些行（或所有行）没有可见的键：这些行就取另一侧的，绝不会是 NaN。
    """
    task = lab.task(keys=24)
    mask = lab.mask(2, 5, 24)
    empty = {"empty_first": slice(0, 12), "empty_second": slice(12, 24), "both_empty": slice(0, 24)}
    if first in empty:
        mask[0, :, empty[first]] = False
        mask[1, 2, empty[first]] = False
    task = replace(task, mask=mask)
    cut = 0 if first == "no_keys" else 12
    lab.check_partial(lab.fold([task.cut(0, cut), task.cut(cut, 24)], task), task, "merge()")
    lab.settle()
