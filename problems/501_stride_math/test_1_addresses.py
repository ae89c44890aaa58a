"""Where an element lies, and what that makes of the whole: contiguity, storage, overlap."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from support_layouts import draw_tensor, make_tensor

LOOK_ADDRESS = (
    "Offset, and for each dimension its index times its stride. A negative index counts from the end.",
    "offset，再加上每一维的下标乘以步长。负的下标从末尾数起。",
)
LOOK_CONTIGUOUS = (
    "From the last dimension on, each stride should be the number of elements inside it. A dimension of size 1 is "
    "never stepped along; without elements there is nothing out of place.",
    "从最后一维起，每个步长都应等于它里面的元素个数。大小为 1 的维从不迈步；没有元素，也就没有什么放错了位置。",
)
LOOK_STORAGE = (
    "The element with the highest address must still lie in the storage. Where is it? And what if there is none?",
    "地址最高的元素也必须在存储之内。它在哪里？一个元素也没有时呢？",
)
LOOK_OVERLAP = (
    "List the addresses of all indices: does one occur twice? Stride 0 is not the only way, and a stride that is "
    "smaller than what lies inside is not yet a proof.",
    "把所有下标的地址列出来：有没有重复的？步长 0 不是唯一的可能；步长小于内层的跨度，也还不能说明重叠。",
)

LAYOUTS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "no_dimension": ((), ()),
    "dense": ((2, 3, 4), (12, 4, 1)),
    "transposed": ((3, 2), (1, 3)),
    "every_other": ((4,), (2,)),
    "rows_with_a_gap": ((3, 4), (8, 1)),
    "expanded": ((3, 4), (0, 1)),
    "one_row_of_a_wide_table": ((1, 4), (100, 1)),
    "one_column_of_a_table": ((4, 1), (100, 1)),
    "one_column_of_one": ((4, 1), (1, 100)),
    "a_one_in_the_middle": ((2, 1, 3), (3, 999, 1)),
    "only_ones": ((1, 1), (7, 5)),
    "stride_0_of_a_one": ((1, 3), (0, 1)),
    "no_element": ((2, 0, 3), (17, 5, 9)),
    "no_element_dense": ((0, 3), (3, 1)),
    "no_element_expanded": ((0, 4), (1, 0)),
}
OVERLAPS: dict[str, tuple[tuple[int, ...], tuple[int, ...], bool]] = {
    "windows": ((5, 3), (1, 1), True),
    "windows_that_touch": ((5, 3), (3, 1), False),
    "expanded": ((4, 2), (0, 1), True),
    "stride_0_of_a_one": ((1, 2), (0, 1), False),
    "transposed": ((3, 4), (1, 3), False),
    "interleaved": ((3, 2), (2, 3), False),
    "interleaved_once_too_far": ((4, 2), (2, 6), True),
    "three_dimensions": ((2, 2, 2), (3, 4, 7), True),
    "no_element": ((0, 4), (0, 0), False),
    "no_dimension": ((), (), False),
}


def test_every_element_is_where_pytorch_reads_it(desk: Any, rng: Any) -> None:
    """address() of each index is the place in the storage that PyTorch reads.

    zh: 每个下标的 address() 就是 PyTorch 读取的存储位置。
    """
    for tensor in [make_tensor((2, 3), (4, 1), 5), make_tensor((), (), 3), *(draw_tensor(rng) for _ in range(12))]:
        indices = list(product(*map(range, tensor.shape)))
        for index in rng.sample(indices, min(len(indices), 8)):
            desk.ask("address", desk.read(tensor), index, wanted=tensor[index].item(), look=LOOK_ADDRESS)
    desk.record()


def test_a_negative_index_counts_from_the_end(desk: Any) -> None:
    """Index -1 is the last one of its dimension, -size the first.

    zh: 下标 -1 是该维的最后一个，-size 是第一个。
    """
    tensor = make_tensor((3, 4), (1, 5), 2)
    for index in [(-1, -1), (-3, -4), (0, -2), (-2, 3)]:
        desk.ask("address", desk.read(tensor), index, wanted=tensor[index].item(), look=LOOK_ADDRESS)
    desk.record()


@pytest.mark.parametrize("index", [(3, 0), (0, 4), (-4, 0), (0, -5), (1,), (1, 1, 1), ()], ids=str)
def test_an_index_out_of_range_is_refused(desk: Any, index: tuple[int, ...]) -> None:
    """Too large, too far below 0, too few or too many numbers: IndexError, also where the address would exist.

    zh: 下标太大、负得太多、个数太少或太多：抛出 IndexError，即使那个地址存在。
    """
    layout = desk.layout((3, 4), (4, 1), 20)
    desk.refuse("address", layout, index, error=IndexError)
    desk.refuse("address", desk.layout((0, 4), (4, 1)), (0, 0), error=IndexError)
    desk.record()


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_contiguous_means_what_it_means_in_pytorch(desk: Any, name: str) -> None:
    """is_contiguous() agrees with PyTorch, whatever stands in strides that are never used.

    zh: is_contiguous() 与 PyTorch 一致，不论从不使用的步长里写着什么。
    """
    tensor = make_tensor(*LAYOUTS[name])
    desk.ask("is_contiguous", desk.read(tensor), wanted=tensor.is_contiguous(), look=LOOK_CONTIGUOUS)
    desk.record()


def test_contiguity_of_random_views(desk: Any, rng: Any) -> None:
    """is_contiguous() agrees with PyTorch about views of views.

    zh: 对视图的视图，is_contiguous() 也与 PyTorch 一致。
    """
    for _ in range(120):
        tensor = draw_tensor(rng)
        desk.ask("is_contiguous", desk.read(tensor), wanted=tensor.is_contiguous(), look=LOOK_CONTIGUOUS)
    desk.record()


def test_the_smallest_storage_that_holds_it(desk: Any, rng: Any) -> None:
    """PyTorch accepts a storage of storage_size() elements, and refuses one of an element less.

    zh: PyTorch 接受 storage_size() 个元素的存储，少一个就拒绝。
    """
    tensors = [make_tensor(*layout, 3) for layout in LAYOUTS.values()] + [draw_tensor(rng) for _ in range(40)]
    for tensor in tensors:
        wanted = int(tensor.max()) + 1 if tensor.numel() else 0
        place = (tensor.shape, tensor.stride(), tensor.storage_offset())
        torch.empty(wanted).as_strided(*place)
        if wanted:
            with pytest.raises(RuntimeError, match="out of bounds"):
                torch.empty(wanted - 1).as_strided(*place)
        desk.ask("storage_size", desk.read(tensor), wanted=wanted, look=LOOK_STORAGE)
    desk.record()


@pytest.mark.parametrize("name", list(OVERLAPS))
def test_two_indices_at_one_address(desk: Any, name: str) -> None:
    """has_overlap() says whether some address has two indices.

    zh: has_overlap() 回答是否有某个地址对应两个下标。
    """
    shape, strides, wanted = OVERLAPS[name]
    for offset in (0, 7):
        tensor = make_tensor(shape, strides, offset)
        picture = "addresses " + " ".join(map(str, tensor.flatten().tolist()))
        layout = desk.layout(shape, strides, offset)
        desk.ask("has_overlap", layout, wanted=wanted, look=LOOK_OVERLAP, picture=picture)
    desk.record()


def test_overlap_of_random_strides(desk: Any, rng: Any) -> None:
    """has_overlap() is exact for random strides, as PyTorch's own check is not.

    zh: 步长随机时 has_overlap() 也是精确的，而 PyTorch 自己的检查并不是。
    """
    for _ in range(150):
        shape = tuple(rng.choice((1, 2, 3, 4)) for _ in range(rng.randrange(1, 4)))
        tensor = make_tensor(shape, tuple(rng.randrange(14) for _ in shape), rng.randrange(3))
        addresses = tensor.flatten().tolist()
        picture = "addresses " + " ".join(map(str, addresses))
        wanted = len(set(addresses)) < len(addresses)
        desk.ask("has_overlap", desk.read(tensor), wanted=wanted, look=LOOK_OVERLAP, picture=picture)
    desk.record()
