"""Usual slips at the border between caller and pipeline, each with a message of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

Pair = tuple[str, str]


class Slips:
    """Checks what crosses the border.

    Args:
        expect: the judge's fixture.
        device: the judge's fixture.
    """

    def __init__(self, expect: Any, device: str) -> None:
        self._expect = expect
        self._device = device

    def check_iterator(self, returned: Any) -> None:
        """Fail unless the solution returned something that hands results out one by one."""
        __tracebackhide__ = True
        if isinstance(returned, Iterator):
            return
        look = ("yield each result, or return a generator that does.", "逐个 yield 结果，或者返回一个这样做的生成器。")
        if isinstance(returned, (list, tuple)):
            look = (
                "A finished list means that all chunks were under way, and all results in memory, before the caller "
                "saw the first: yield them one by one.",
                "返回整个列表意味着调用者看到第一个结果之前，所有块都已在途、所有结果都占着内存：应当逐个 yield。",
            )
        name = type(returned).__name__
        self._expect.fail(
            (f"run_pipeline() returned {name}, not an iterator", f"run_pipeline() 返回了 {name}，而不是迭代器"),
            "Iterator[Tensor]",
            name,
            look,
        )

    def check_argument(
        self, number: int, arguments: tuple[Any, ...], options: dict[str, Any], chunks: list[Tensor] | None
    ) -> None:
        """Fail unless compute got one contiguous device tensor like the chunk."""
        __tracebackhide__ = True
        shown = ", ".join([*(_describe(item) for item in arguments), *(f"{name}=…" for name in options)])
        call = f"compute({shown})"
        if len(arguments) != 1 or options or not isinstance(arguments[0], Tensor):
            self._fail(("compute takes one tensor", "compute 只接受一个张量"), "compute(Tensor)", call, ("", ""))
        x = arguments[0]
        if x.device.type != self._device:
            self._fail(
                (f"compute got chunk {number} on the host", f"compute 拿到的第 {number} 块还在主机上"),
                self._device,
                x.device.type,
                (
                    "The first stage copies each chunk to the device; compute gets that copy.",
                    "第一级把每块拷到设备上，compute 拿到的是那份拷贝。",
                ),
            )
        if chunks is None or number >= len(chunks):
            return
        chunk = chunks[number]
        wanted = f"{_describe(chunk, x.device.type)}, contiguous"
        if x.shape != chunk.shape or x.dtype != chunk.dtype or not x.is_contiguous():
            actual = f"{_describe(x)}, {'contiguous' if x.is_contiguous() else f'strides {x.stride()}'}"
            self._fail(
                (f"compute got chunk {number} in another form", f"compute 拿到的第 {number} 块形式变了"),
                wanted,
                actual,
                (
                    "Shape and dtype are the chunk's, strides are contiguous, whatever the chunk's are: `.to()` keeps "
                    "them.",
                    "形状和 dtype 与块相同；不论块的步长如何，拿到的都是连续的：`.to()` 会保留步长。",
                ),
            )

    def check_result(self, number: int, result: Any) -> None:
        """Fail unless a result is a contiguous, pinned host tensor without autograd's history."""
        __tracebackhide__ = True
        if not isinstance(result, Tensor):
            self._fail(
                (f"Result {number} is no tensor", f"结果 {number} 不是张量"),
                "Tensor",
                _describe(result),
                (
                    "Hand out the host tensor itself, not a pair or a list of it.",
                    "直接交出主机张量，不要装进元组或列表。",
                ),
            )
        if result.device.type != "cpu":
            self._fail(
                (f"Result {number} was handed out on the device", f"结果 {number} 交出时还在设备上"),
                "cpu",
                result.device.type,
                (
                    "The third stage copies compute's result to pinned host memory; that copy is handed out.",
                    "第三级把 compute 的结果拷到锁页的主机内存，交出的是那份拷贝。",
                ),
            )
        if result.numel() and not result.is_pinned():
            self._fail(
                (f"Result {number} does not lie in pinned memory", f"结果 {number} 不在锁页内存中"),
                "pinned",
                "pageable",
                (
                    "A copy into pageable memory holds the host until it is done, whatever non_blocking says.",
                    "拷到可换页内存会一直占住主机，不论 non_blocking 写的是什么。",
                ),
            )
        if result.requires_grad:
            self._fail(
                (f"Result {number} carries an autograd graph", f"结果 {number} 带着 autograd 图"),
                "requires_grad=False",
                "requires_grad=True",
                (
                    "As long as the caller keeps the result, the graph keeps device memory. detach() cuts it off.",
                    "调用者留着结果，图就一直占着设备内存。detach() 可以切断它。",
                ),
            )
        if not result.is_contiguous():
            self._fail(
                (f"Result {number} is not contiguous", f"结果 {number} 不连续"),
                "contiguous",
                f"strides {result.stride()}",
                (
                    "`.cpu()` and `.to()` keep strides: copy into a contiguous pinned tensor, or make the result "
                    "contiguous on the device first.",
                    "`.cpu()` 和 `.to()` 会保留步长：拷进一块连续的锁页张量，或者先在设备上变成连续的。",
                ),
            )

    def check_form(self, number: int, result: Tensor, wanted: Tensor) -> None:
        """Fail unless shape and dtype are those of what compute returned."""
        __tracebackhide__ = True
        if result.shape != wanted.shape or result.dtype != wanted.dtype:
            self._fail(
                (f"Result {number} has another form than compute's", f"结果 {number} 的形式与 compute 的返回不同"),
                _describe(wanted),
                _describe(result),
                (
                    "Shape and dtype are those of what compute returned, not the chunk's.",
                    "形状和 dtype 取自 compute 的返回值，而不是块本身。",
                ),
            )

    def check_stream(self, caller: Any, moment: Pair) -> None:
        """Fail unless the caller's stream is current again."""
        __tracebackhide__ = True
        current = torch.cuda.current_stream()
        if current != caller:
            self._fail(
                (
                    f"At {moment[0]} another stream is current than the caller's",
                    f"到{moment[1]}时，当前流不再是调用者的流",
                ),
                "the caller's current stream",
                "a stream of the pipeline",
                (
                    "A with block that is open at a yield stays open in the caller; set_stream() stays, too.",
                    "yield 时尚未退出的 with 块，在调用者那里仍然有效；set_stream() 也是如此。",
                ),
            )

    def check_chunks(self, chunks: list[Tensor], before: list[Tensor]) -> None:
        """Fail unless the caller's chunks are as they were."""
        __tracebackhide__ = True
        for number, (chunk, old) in enumerate(zip(chunks, before, strict=False)):
            what = (f"Chunk {number} was changed", f"第 {number} 块被改动了")
            look = (
                "Chunks are the caller's, and only read: compute changes a copy, and a result has memory of its own.",
                "块归调用者所有，只能读：compute 修改的是设备上的那份，结果也要有自己的内存。",
            )
            self._expect.equal(chunk, old, what, look)

    def check_kept(self, kept: list[Tensor], copies: list[Tensor]) -> None:
        """Fail unless every result is still what it was when it was handed out."""
        __tracebackhide__ = True
        for number, (now, then) in enumerate(zip(kept, copies, strict=True)):
            what = (
                f"Result {number} changed after it had been handed out",
                f"结果 {number} 交出之后又变了",
            )
            look = (
                "A result is the caller's to keep: is its buffer used again for a later one?",
                "结果交出后归调用者所有：它的缓冲区是否又给后面的结果用了？",
            )
            self._expect.equal(now, then, what, look)

    def _fail(self, what: Pair, expected: str, actual: str, look: Pair) -> None:
        __tracebackhide__ = True
        self._expect.fail(what, expected, actual, look if look[0] else None)


def _describe(value: Any, place: str | None = None) -> str:
    if isinstance(value, Tensor):
        return f"{value.dtype} {tuple(value.shape)} on {place or value.device.type}"
    return type(value).__name__
