"""Usual slips at the border between prefetcher and consumer, each with a message of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from support_batches import Batch, name_tensors
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

    def begin(self, loader: Any) -> Iterator[Any]:
        """Return ``iter(loader)``, or fail."""
        __tracebackhide__ = True
        try:
            returned = iter(loader)
        except TypeError as error:
            self._expect.fail(
                ("for batch in Prefetcher(…) does not work", "for batch in Prefetcher(…) 无法执行"),
                "Iterator[Batch]",
                str(error),
                (
                    "__iter__ returns an iterator: make it a generator, or return one.",
                    "__iter__ 要返回迭代器：把它写成生成器，或者返回一个生成器。",
                ),
            )
        if type(returned).__name__ in ("list_iterator", "tuple_iterator"):
            self._expect.fail(
                ("All batches are fetched before the first is handed out", "还没交出第一个，就已取完所有 batch"),
                "one batch ahead",
                type(returned).__name__,
                ("Yield them one by one.", "逐个 yield。"),
            )
        return returned

    def check_form(self, number: int, batch: Any, host: Batch) -> None:
        """Fail unless a batch has the form of the host's: the same keys, shapes and dtypes, on the device."""
        __tracebackhide__ = True
        if isinstance(host, dict) and (not isinstance(batch, dict) or list(batch) != list(host)):
            self._expect.fail(
                (f"Batch {number} has another form than the host's", f"第 {number} 个 batch 的形式与主机上的不同"),
                f"dict with the keys {', '.join(host)}",
                f"dict with the keys {', '.join(map(str, batch))}" if isinstance(batch, dict) else type(batch).__name__,
                (
                    "A dict becomes a new dict with the same keys, in their order.",
                    "dict 要变成新的 dict，键和次序都不变。",
                ),
            )
        if isinstance(host, Tensor) and isinstance(batch, (tuple, list, dict)):
            self._expect.fail(
                (f"Batch {number} is no tensor", f"第 {number} 个 batch 不是张量"),
                "Tensor",
                type(batch).__name__,
                (
                    "Hand out the device tensor itself, without its event or a container.",
                    "直接交出设备张量，不要连同事件一起，也不要装进容器。",
                ),
            )
        found = name_tensors(batch)
        for name, wanted in name_tensors(host).items():
            tensor = self._expect.tensor(
                found[name], name, dtype=wanted.dtype, shape=tuple(wanted.shape), device=self._device
            )
            if not tensor.is_contiguous():
                self._expect.fail(
                    (f"{name} is not contiguous", f"{name} 不连续"),
                    "contiguous",
                    f"strides {tensor.stride()}",
                    (
                        "to() and empty_like() keep the strides of their argument.",
                        "to() 和 empty_like() 会保留参数的步长。",
                    ),
                )

    def check_stream(self, caller: Any, current: Any, moment: Pair) -> None:
        """Fail unless the consumer's stream is current."""
        __tracebackhide__ = True
        if current != caller:
            self._expect.fail(
                (
                    f"At {moment[0]} another stream is current than the consumer's",
                    f"到{moment[1]}时，当前流不再是消费者的流",
                ),
                "the consumer's current stream",
                "a stream of the prefetcher",
                (
                    "A with block is open as long as its body runs: a yield in it stops there with the stream set, and "
                    "next(source) in it runs the source's code under it. set_stream() stays, too.",
                    "with 块在执行期间一直有效：里面有 yield，就带着这个流停在那里；里面有 next(source)，"
                    "数据源的代码也在这个流下执行。set_stream() 更是一直有效。",
                ),
            )

    def check_source(self, batches: list[Batch], before: list[Batch]) -> None:
        """Fail unless the caller's batches are as they were."""
        __tracebackhide__ = True
        for number, (batch, old) in enumerate(zip(batches, before, strict=True)):
            same = isinstance(batch, Tensor) or list(batch) == list(old)
            pairs = zip(name_tensors(batch).values(), name_tensors(old).values(), strict=same)
            self._expect.true(
                same and all(not now.is_cuda and torch.equal(now, then) for now, then in pairs),
                (f"The host's batch {number} was changed", f"主机上的第 {number} 个 batch 被改动了"),
                (
                    "Host batches are the caller's, and only read: a dict gets a new dict on the device.",
                    "主机上的 batch 归调用者所有，只能读：dict 要在设备上另建一个新的。",
                ),
            )
