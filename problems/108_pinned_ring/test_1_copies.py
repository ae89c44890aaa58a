"""What arrives on the device, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch

DTYPES = [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool, torch.complex64]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
def test_any_dtype_arrives(depot: Any, watch: Any, dtype: torch.dtype) -> None:
    """The target gets the buffer's bytes as they are, in its own dtype.

    zh: 目标得到缓冲区里原样的字节，按它自己的 dtype。
    """
    depot.open(2)
    with watch() as seen:
        for _ in range(3):
            depot.stage(depot.draw(5, 3, dtype=dtype))
    depot.settle(seen)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3, 4), (0,), (3, 0)], ids=str)
def test_any_shape_arrives(depot: Any, shape: tuple[int, ...]) -> None:
    """A target may have any shape, also no dimension, or 0 elements.

    zh: 目标的形状任意，0 维或 0 个元素也行。
    """
    depot.open(1)
    depot.stage(depot.draw(*shape))
    depot.settle()


@pytest.mark.parametrize("offset_bytes", [0, 8, 13])
def test_several_tensors_share_a_buffer(depot: Any, watch: Any, busy: Any, offset_bytes: int) -> None:
    """Token ids, positions and a flag lie one behind the other in a buffer, also at odd offsets.

    zh: token、位置和一个标志依次放在同一个缓冲区里，偏移量是奇数也行。
    """
    depot.open(1)
    parts = [depot.draw(6), depot.draw(3, 2, dtype=torch.int32), depot.draw(1, dtype=torch.uint8)]
    with watch() as seen:
        buffer = depot.acquire()
        at = offset_bytes
        for part in parts:
            depot.fill(buffer, part, at)
            busy()
            depot.copy(buffer, part, at)
            at += part.numel() * part.element_size()
        depot.release(buffer)
        depot.stage(depot.draw(8))
    depot.settle(seen)


def test_a_target_may_fill_its_buffer(depot: Any) -> None:
    """A target of exactly size_bytes fits, and so does the last byte; what doesn't lie in the buffer is a ValueError.

    zh: 恰好 size_bytes 字节的目标放得下，取最后一个字节也行；超出缓冲区的抛 ValueError。
    """
    ring = depot.open(1, 100)
    buffer = depot.acquire()
    whole, last = depot.draw(100, dtype=torch.uint8), depot.draw(1, dtype=torch.uint8)
    what = ("Bytes that don't lie in the buffer were not refused", "缓冲区之外的字节没有被拒绝")
    for count, offset_bytes in ((101, 0), (100, 1), (1, 100), (1, -1)):
        target = torch.zeros(count, dtype=torch.uint8, device="cuda")
        depot.refuse(ValueError, lambda target=target, at=offset_bytes: ring.copy(buffer, target, at), what)
    depot.fill(buffer, whole)
    depot.copy(buffer, whole)
    torch.cuda.synchronize()
    depot.fill(buffer, last, 99)
    depot.copy(buffer, last, 99)
    depot.settle()


def test_a_strided_target_is_refused(depot: Any, expect: Any) -> None:
    """A target that is not contiguous is a ValueError, and nothing is written to it.

    zh: 目标不连续时抛 ValueError，也不往里写任何东西。
    """
    ring = depot.open(1)
    buffer = depot.acquire()
    depot.fill(buffer, torch.ones(12, dtype=torch.int64))
    target = torch.zeros(3, 4, dtype=torch.int64, device="cuda")
    what = ("A target that is not contiguous was not refused", "不连续的目标没有被拒绝")
    depot.refuse(ValueError, lambda: ring.copy(buffer, target.t()), what)
    depot.refuse(ValueError, lambda: ring.copy(buffer, target[:, :2]), what)
    torch.cuda.synchronize()
    expect.equal(int(target.sum()), 0, ("A copy that was refused has written", "被拒绝的拷贝还是写了"))
    depot.copy(buffer, torch.ones(12, dtype=torch.int64))
    depot.settle()


@pytest.mark.parametrize(("count", "size_bytes"), [(0, 64), (-1, 64), (2, 0)])
def test_a_ring_has_a_buffer_of_a_byte(depot: Any, solution: Any, expect: Any, count: int, size_bytes: int) -> None:
    """Fewer than 1 buffer, or buffers of less than 1 byte, are a ValueError.

    zh: 缓冲区少于 1 个，或者不足 1 字节，都抛 ValueError。
    """
    what = (f"PinnedRing({count}, {size_bytes}) was accepted", f"PinnedRing({count}, {size_bytes}) 被接受了")
    expect.raises(ValueError, lambda: solution.PinnedRing(count, size_bytes), what)
    depot.open(1, 1)
    depot.stage(depot.draw(1, dtype=torch.uint8))
    depot.settle()
