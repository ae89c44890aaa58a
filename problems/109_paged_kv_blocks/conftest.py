"""What the tests of this problem share: a server that writes keys and values, and knows what must be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch

Pair = tuple[str, str]

LOOK_READ: Pair = (
    "Somebody else wrote into a block of this sequence, or it was given a block that holds other tokens. Who else has "
    "this block: is it shared and written, free and in use, or found under a key that is no longer true?",
    "有别人写进了这个序列的块，或者它分到的块里装的是别的 token。这个块还有谁在用：是共享着又被写了，"
    "空闲着却在用，还是凭一个已经失效的键找到的？",
)
LOOK_FREE: Pair = (
    "A block is free when no sequence has it. Each sequence that shares it counts once, and when the last one goes, it "
    "becomes free.",
    "没有任何序列使用的块才是空闲的。每个共享它的序列各算一个，最后一个走了，块就空闲。",
)
LOOK_TABLE: Pair = (
    "A kernel reads the row as it stands: each change of a sequence's blocks has to reach it, a freed row is -1 "
    "throughout, and the tensor is the one that was there from the start. Does a row come from pinned memory? Then who "
    "rewrites that before the copy has run?",
    "kernel 读到的就是表里现有的内容：序列的块每次变动都要写进去，释放后的行全为 -1，而且始终是最初那个张量。"
    "行是从锁页内存拷来的吗？拷贝还没执行，是谁又改写了那块内存？",
)
LOOK_ROOM: Pair = (
    "Is all that can fail looked at before the first thing changes: rows, and blocks without those that are shared?",
    "凡是可能失败的，是否都在改动任何东西之前查过了：行够不够；除去共享的，块够不够？",
)
LOOK_GONE: Pair = (
    "Numbers are never used again. Does anything still answer for one that has gone: a row, a list of blocks?",
    "编号从不重复使用。已经离开的编号，还有什么在替它应答：某一行，还是某个块列表？",
)


class Server:
    """Drives a block manager as an engine would, and keeps on the host what must be read.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        evidence: the judge's fixture.
        rng: the judge's fixture.
        device: where tensors belong.
    """

    def __init__(self, solution: ModuleType, expect: Any, evidence: Any, rng: Random, device: str) -> None:
        self.solution = solution
        self.expect = expect
        self.rng = rng
        self._evidence = evidence
        self._device = device
        self.log: list[Any] = []
        self.labels: list[str] = []

    def open(self, blocks: int = 8, block_size: int = 4, rows: int = 6, width: int = 6) -> Any:
        """Return a new manager of a new pool."""
        self.size, self.block_size = blocks, block_size
        self.shape = (rows, width)
        self.pool = torch.full((blocks, block_size, 2), -1.0, device=self._device)
        self.manager = self.solution.BlockManager(self.pool, rows, width)
        self.tables = self.manager.tables
        self.live: dict[int, list[int]] = {}
        return self.manager

    def draw(self, count: int) -> list[int]:
        """Return so many tokens."""
        return [self.rng.randrange(1, 1000) for _ in range(count)]

    def add(self, tokens: Sequence[int], cached: int | None = None) -> int:
        """Admit a sequence, and write what is not cached; fail if another number of tokens is cached than wanted."""
        __tracebackhide__ = True
        name = f"add({len(tokens)} tokens)"
        answer = self.manager.add(list(tokens))
        what = (f"{name} returned {answer!r}", f"{name} 返回了 {answer!r}")
        is_pair = isinstance(answer, tuple) and len(answer) == 2 and all(type(part) is int for part in answer)
        self.expect.true(is_pair, what, expected="(number, cached tokens)", actual=type(answer).__name__)
        seq, found = answer
        fresh = (f"{name} returned the number of another sequence", f"{name} 返回了别的序列的编号")
        self.expect.true(seq not in self.live, fresh, actual=seq)
        if cached is not None:
            self._check_cached(name, found, cached)
        self.live[seq] = list(tokens)
        blocks = self.manager.blocks(seq)
        for position in range(found, len(tokens)):
            self.write(blocks[position // self.block_size], position % self.block_size, tokens[position], position)
        self._note(name, [seq, found, blocks])
        return seq

    def append(self, seq: int, token: int | None = None) -> None:
        """Add a token to a sequence, and write it where the manager says."""
        __tracebackhide__ = True
        token = self.draw(1)[0] if token is None else token
        position = len(self.live[seq])
        answer = self.manager.append(seq, token)
        what = (f"append({seq}) returned {answer!r}", f"append({seq}) 返回了 {answer!r}")
        is_pair = isinstance(answer, tuple) and len(answer) == 2 and all(type(part) is int for part in answer)
        self.expect.true(is_pair, what, expected="(block, offset)", actual=type(answer).__name__)
        self.expect.equal(
            answer[1], position % self.block_size, (f"append({seq}): the offset", f"append({seq}) 的偏移")
        )
        self.live[seq].append(token)
        self.write(*answer, token, position)
        self._note(f"append({seq})", list(answer))

    def fork(self, seq: int) -> int:
        """Fork a sequence."""
        child = self.manager.fork(seq)
        self.live[child] = list(self.live[seq])
        self._note(f"fork({seq})", child)
        return child

    def free(self, seq: int) -> None:
        """Free a sequence."""
        self.manager.free(seq)
        del self.live[seq]
        self._note(f"free({seq})", self.manager.free_blocks)

    def preempt(self) -> list[int]:
        """Preempt; the answer is checked."""
        __tracebackhide__ = True
        answer = self.manager.preempt()
        seq = max(self.live)
        what = ("preempt() took another sequence, or lost its tokens", "preempt() 抢占了别的序列，或丢了它的 token")
        look = (
            "The last one admitted goes first, forks included, as it has the least to compute again.",
            "最后进来的先走，分叉也算进来：它要重算的最少。",
        )
        self.expect.equal(answer, (seq, self.live[seq]), what, look)
        del self.live[seq]
        self._note("preempt()", seq)
        return answer[1]

    def refuse(self, kind: type[Exception], call: Callable[[], object], name: Pair) -> None:
        """Fail unless a call raises, and leaves everything as it was."""
        __tracebackhide__ = True
        before = self.look_inside()
        what = (f"Not refused: {name[0]}", f"没有拒绝：{name[1]}")
        self.expect.raises(kind, call, what, LOOK_GONE if kind is ValueError else LOOK_ROOM)
        what = (f"Refused, and yet something has changed: {name[0]}", f"拒绝了，却有东西变了：{name[1]}")
        self.expect.equal(self.look_inside(), before, what, LOOK_ROOM)
        self._note(f"{name[0]}: refused", kind.__name__)

    def look_inside(self) -> dict[str, Any]:
        """Return all that can be seen of the manager."""
        blocks = {str(seq): self.manager.blocks(seq) for seq in self.live}
        return {"free": self.manager.free_blocks, "blocks": blocks, "tables": self.tables.tolist()}

    def write(self, block: int, offset: int, token: int, position: int) -> None:
        """Write the keys and values of a token: they hang on its position as well."""
        self.pool[block, offset].fill_(token * 64 + position)

    def check(self, after: Pair) -> None:
        """Fail unless the tables lead every sequence to its own tokens, and all other blocks are free."""
        __tracebackhide__ = True
        self._check_tables(after)
        pool, tables = self.pool[:, :, 0].tolist(), self.tables.tolist()
        for seq, tokens in self.live.items():
            row = tables[self.manager.row(seq)]
            for position, token in enumerate(tokens):
                block, offset = row[position // self.block_size], position % self.block_size
                what = (
                    f"{after[0]}: sequence {seq} reads another token at position {position} (block {block})",
                    f"{after[1]}：序列 {seq} 在位置 {position}（块 {block}）读到的是别的 token",
                )
                wanted, found = token * 64 + position, int(pool[block][offset])
                self.expect.true(found == wanted, what, LOOK_READ, None, name_value(wanted), name_value(found))
        used = {block for seq in self.live for block in self.manager.blocks(seq)}
        what = (
            f"{after[0]}: free_blocks is wrong; {len(used)} of {self.size} blocks are in use",
            f"{after[1]}：free_blocks 不对；{self.size} 个块中有 {len(used)} 个在用",
        )
        self.expect.equal(self.manager.free_blocks, self.size - len(used), what, LOOK_FREE)

    def settle(self) -> None:
        """Hand over as evidence what every call has answered."""
        self._evidence.exact("calls", self.log, labels=self.labels)

    def _check_tables(self, after: Pair) -> None:
        """Compare the tables on the device with what blocks() tells."""
        __tracebackhide__ = True
        tables = self.expect.tensor(
            self.manager.tables, "manager.tables", dtype=torch.int32, shape=self.shape, device=self._device
        )
        what = (f"{after[0]}: manager.tables is another tensor", f"{after[1]}：manager.tables 换成了另一个张量")
        self.expect.true(tables is self.tables, what, LOOK_TABLE)
        wanted = [[-1] * self.shape[1] for _ in range(self.shape[0])]
        for seq, tokens in self.live.items():
            blocks = self.manager.blocks(seq)
            count = -(-len(tokens) // self.block_size)
            what = (
                f"{after[0]}: sequence {seq} has {len(blocks)} blocks for {len(tokens)} tokens",
                f"{after[1]}：序列 {seq} 有 {len(tokens)} 个 token，却有 {len(blocks)} 个块",
            )
            self.expect.equal(len(blocks), count, what)
            row = self.manager.row(seq)
            what = (f"{after[0]}: two sequences have row {row}", f"{after[1]}：有两个序列用第 {row} 行")
            self.expect.true(all(block == -1 for block in wanted[row]), what)
            wanted[row][:count] = blocks
        for row, (actual, expected) in enumerate(zip(tables.tolist(), wanted, strict=True)):
            what = (f"{after[0]}: row {row} of the table is wrong", f"{after[1]}：表的第 {row} 行不对")
            self.expect.equal(actual, expected, what, LOOK_TABLE)

    def _check_cached(self, name: str, found: int, wanted: int) -> None:
        __tracebackhide__ = True
        what = (f"{name}: {found} tokens were found in the pool", f"{name}：在池中找到了 {found} 个 token")
        more = (
            "Only full blocks are shared, and only behind the same tokens from the start; a block that has been handed "
            "out again is no prefix any more.",
            "只共享写满的块，而且从头到它为止的 token 都得相同；已经重新分出去的块，不再是前缀。",
        )
        fewer = (
            "A block can be found from the moment it is full until it is handed out again: also when an append filled "
            "it, and also when it is free.",
            "块从写满起，到重新分出去为止，都找得到：被追加写满的也算，空闲着的也算。",
        )
        self.expect.equal(found, wanted, what, more if found > wanted else fewer)

    def _note(self, label: str, answer: Any) -> None:
        self.labels.append(label)
        self.log.append(answer)


def name_value(value: int) -> str:
    """Return in words what stands in the pool."""
    return "nothing was written there" if value < 0 else f"token {value // 64} of position {value % 64}"


@pytest.fixture
def server(solution: ModuleType, expect: Any, evidence: Any, rng: Random, device: str) -> Server:
    """Return a server; ``open()`` makes its manager."""
    return Server(solution, expect, evidence, rng, device)
