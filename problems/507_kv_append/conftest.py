"""What the tests of this problem share: a ledger that knows what the cache must hold."""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

Pair = tuple[str, str]

LOOK_PLACE: Pair = (
    "Row r's next token goes to position lengths[r] of row r, before that length grows. Is it each row's own position, "
    "and is what stood there before left alone?",
    "第 r 行的下一个 token 写在第 r 行的位置 lengths[r]，写完长度才加一。"
    "用的是各行自己的位置吗？之前写入的有没有被动过？",
)
LOOK_BEHIND: Pair = (
    "Behind a row's end attention multiplies with 0, and 0 × NaN is NaN: memory that nobody has written must not hold "
    "just anything. What does torch.empty() return?",
    "行尾之后的内容，attention 会乘以 0，而 0 × NaN 还是 NaN：没写过的内存不能什么都放。torch.empty() 返回的是什么？",
)
LOOK_LEFT: Pair = (
    "This token was written earlier, and its row has been cleared since: clear() only makes the rows empty. To wipe "
    "the contents costs a pass over the whole cache for each batch.",
    "这个 token 是以前写的，所在的行后来清空了：clear() 只让各行变空。抹掉内容，每个批次就要多走一遍整个缓存。",
)
LOOK_OBJECT: Pair = (
    "self.x = … binds another tensor, and whoever holds the old one (a captured graph, an attention kernel's "
    "arguments) never hears of it. Write into the one that is there: x[…] = …, copy_(), add_().",
    "self.x = … 绑定的是另一个张量，手里拿着旧张量的人（捕获好的图、attention kernel 的参数）毫不知情。"
    "应当写进原来那个：x[…] = …、copy_()、add_()。",
)
LOOK_GRAPH: Pair = (
    "Written in place with autograd on, the cache becomes a node of the graph of each token, and keeps all of it.",
    "开着 autograd 原地写入，缓存就成了每个 token 的计算图中的一个节点，并留住整张图。",
)


class Ledger:
    """Makes a cache of the solution's, feeds it, and keeps on the host what it must hold.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        rng: the judge's fixture.
        device: where tensors belong.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, rng: Random, device: str) -> None:
        self.solution = solution
        self._expect = expect
        self._evidence = evidence
        self._generator = torch.Generator().manual_seed(rng.getrandbits(40))
        self._device = device
        self._checks: list[Any] = []

    def open(
        self, rows: int = 3, heads: int = 2, capacity: int = 12, head_dim: int = 4, dtype: torch.dtype = torch.float32
    ) -> Any:
        """Return a new cache, and begin an empty ledger for it."""
        __tracebackhide__ = True
        self.shape = (rows, heads, capacity, head_dim)
        self.dtype = dtype
        self.cache = self.solution.KVCache(rows, heads, capacity, head_dim, dtype, self._device)
        self._objects = {name: self.take(name) for name in ("keys", "values", "lengths")}
        self.held = [0] * rows
        self._truth = {name: torch.zeros(self.shape, dtype=dtype) for name in ("keys", "values")}
        return self.cache

    def take(self, name: str) -> Tensor:
        """Return a public tensor of the cache, once its form has been found right."""
        __tracebackhide__ = True
        shape, dtype = (self.shape[:1], torch.int64) if name == "lengths" else (self.shape, self.dtype)
        tensor = getattr(self.cache, name, None)
        return self._expect.tensor(tensor, f"cache.{name}", dtype=dtype, shape=shape, device=self._device)

    def draw(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """Return tokens on the device: whole numbers other than 0, which every dtype holds exactly."""
        size = torch.randint(1, 100, shape, generator=self._generator)
        sign = torch.randint(0, 2, shape, generator=self._generator) * 2 - 1
        return (size * sign).to(dtype or self.dtype).to(self._device)

    def draw_step(self, dtype: torch.dtype | None = None) -> tuple[Tensor, Tensor]:
        """Return keys and values for one append."""
        rows, heads, _, head_dim = self.shape
        return self.draw(rows, heads, head_dim, dtype=dtype), self.draw(rows, heads, head_dim, dtype=dtype)

    def draw_prompt(self, count: int, dtype: torch.dtype | None = None) -> tuple[Tensor, Tensor]:
        """Return keys and values for a prefill of so many tokens."""
        _, heads, _, head_dim = self.shape
        return self.draw(heads, count, head_dim, dtype=dtype), self.draw(heads, count, head_dim, dtype=dtype)

    def append(self, keys: Tensor, values: Tensor) -> None:
        """Append, and write it down; the caller's tensors must stay as they are."""
        __tracebackhide__ = True
        with self._expect.unchanged(keys=keys, values=values):
            self.cache.append(keys, values)
        self.note_append(keys, values)

    def prefill(self, row: int, keys: Tensor, values: Tensor) -> None:
        """Prefill, and write it down; the caller's tensors must stay as they are."""
        __tracebackhide__ = True
        with self._expect.unchanged(keys=keys, values=values):
            self.cache.prefill(row, keys, values)
        self.note_prefill(row, keys, values)

    def note_append(self, keys: Tensor, values: Tensor) -> None:
        """Write down what an append has added."""
        for row in range(self.shape[0]):
            self.note_prefill(row, keys[row].unsqueeze(1), values[row].unsqueeze(1))

    def note_prefill(self, row: int, keys: Tensor, values: Tensor) -> None:
        """Write down what a prefill has added."""
        start, end = self.held[row], self.held[row] + keys.shape[1]
        self._truth["keys"][row, :, start:end] = keys.detach().cpu().to(self.dtype)
        self._truth["values"][row, :, start:end] = values.detach().cpu().to(self.dtype)
        self.held[row] = end

    def clear(self) -> None:
        """Clear the cache, and write it down; the contents must stay."""
        self.cache.clear()
        self.held = [0] * self.shape[0]

    def check(self, after: Pair) -> None:
        """Fail unless the cache holds what is written down; and hand it over as evidence.

        Args:
            after: what has just been done, for the messages.
        """
        __tracebackhide__ = True
        for name, tensor in self._objects.items():
            what = (f"{after[0]}: cache.{name} is another tensor", f"{after[1]}：cache.{name} 换成了另一个张量")
            self._expect.true(getattr(self.cache, name) is tensor, what, LOOK_OBJECT)
        self._check_lengths(after)
        for name in ("keys", "values"):
            self._check_contents(name, after)
        state = {name: self.take(name).detach().cpu().float().tolist() for name in ("keys", "values")}
        self._checks.append({"lengths": list(self.held), **state})
        self._evidence.exact(f"state {len(self._checks)}", self._checks[-1])

    def _check_lengths(self, after: Pair) -> None:
        __tracebackhide__ = True
        look = (
            "Both know the lengths: the device in cache.lengths, the host by counting what it queues. They grow "
            "together, once a call has succeeded; a call that is refused changes neither.",
            "长度有两份：设备上的 cache.lengths，以及主机自己数的。"
            "调用成功时两份一起增长；被拒绝的调用，哪一份也不改。",
        )
        what = (f"{after[0]}: cache.lengths is wrong", f"{after[1]}：cache.lengths 不对")
        self._expect.equal(self.take("lengths").tolist(), self.held, what, look)
        told = [self.cache.length(row) for row in range(self.shape[0])]
        what = (f"{after[0]}: length() of the rows is wrong", f"{after[1]}：各行的 length() 不对")
        self._expect.equal(told, self.held, what, look)

    def _check_contents(self, name: str, after: Pair) -> None:
        """Compare one of the two halves, the tokens first, then what lies behind them."""
        __tracebackhide__ = True
        tensor = self.take(name)
        what = (f"{after[0]}: cache.{name} requires a gradient", f"{after[1]}：cache.{name} 要求梯度")
        self._expect.true(not tensor.requires_grad, what, LOOK_GRAPH)
        actual, expected = tensor.detach().cpu(), self._truth[name]
        is_wrong = (actual != expected).any(dim=-1).any(dim=1)  # (rows, capacity)
        for row, position in is_wrong.nonzero().tolist():
            is_behind = position >= self.held[row]
            what = (
                f"{after[0]}: cache.{name}, row {row}, position {position} is wrong; the row holds {self.held[row]}",
                f"{after[1]}：cache.{name} 第 {row} 行位置 {position} 不对；该行有 {self.held[row]} 个 token",
            )
            wanted, found = (side[row, :, position].tolist() for side in (expected, actual))
            look = LOOK_PLACE if not is_behind else LOOK_LEFT if any(map(any, wanted)) else LOOK_BEHIND
            self._expect.fail(what, wanted, found, look)


@pytest.fixture
def ledger(solution: ModuleType, expect: Any, evidence: Any, rng: Random, device: str) -> Ledger:
    """Return an empty ledger; ``open()`` makes its cache."""
    return Ledger(solution, expect, evidence, rng, device)
