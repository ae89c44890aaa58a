"""One sequence beside another: blocks, slots and tables, without anything shared."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 24])
def test_a_prompt_takes_its_blocks(server: Any, expect: Any, count: int) -> None:
    """A prompt of n tokens takes n / 4 blocks, rounded up, and its row of the table names them.

    zh: n 个 token 的 prompt 占 n / 4 个块（向上取整），表里它那一行就是这些块。
    """
    manager = server.open()
    seq = server.add(server.draw(count), cached=0)
    server.check((f"a prompt of {count}", f"{count} 个 token 的 prompt"))
    what = ("free_blocks after the prompt", "放入 prompt 之后的 free_blocks")
    expect.equal(manager.free_blocks, 8 - -(-count // 4), what)
    server.append(seq) if count < 24 else server.free(seq)
    server.check(("one call more", "再调用一次"))
    server.settle()


def test_tokens_are_appended(server: Any) -> None:
    """Three sequences grow in turn, through several blocks: a new block is taken when the last one is full.

    zh: 三个序列轮流变长，跨过好几个块：最后一块写满了，才取新块。
    """
    server.open(blocks=12)
    seqs = [server.add(server.draw(count), cached=0) for count in (3, 0, 4)]
    server.check(("three prompts", "三个 prompt"))
    for step in range(9):
        for seq in seqs:
            server.append(seq)
        server.check((f"step {step}", f"第 {step} 步"))
    server.settle()


def test_blocks_and_rows_are_used_again(server: Any, expect: Any) -> None:
    """What a freed sequence had goes to the next ones: blocks, row, and the row of the table is -1 between.

    zh: 释放的序列留下的块和行都会给后来的序列用；在那之前，表里那一行全是 -1。
    """
    manager = server.open(blocks=4, rows=2)
    for turn in range(5):
        first, second = server.add(server.draw(7)), server.add(server.draw(6))
        server.check((f"turn {turn}", f"第 {turn} 轮"))
        server.free(first)
        server.check((f"turn {turn}, one freed", f"第 {turn} 轮，释放一个"))
        server.append(second)
        server.free(second)
        server.check((f"turn {turn}, both freed", f"第 {turn} 轮，都释放"))
    expect.equal(manager.free_blocks, 4, ("all blocks are free again", "所有的块又都空闲了"))
    server.settle()


def test_the_block_free_longest_is_taken(server: Any, expect: Any) -> None:
    """Blocks are handed out in the order in which they became free, of one sequence the last one first.

    zh: 块按变为空闲的先后分出；同一个序列的块，末尾的先空闲。
    """
    manager = server.open(blocks=6)
    first, second = server.add(server.draw(9)), server.add(server.draw(8))
    taken = [manager.blocks(first), manager.blocks(second)]
    expect.equal(taken, [[0, 1, 2], [3, 4]], ("the first blocks that were handed out", "最先分出的块"))
    server.free(second)
    server.free(first)
    third = server.add(server.draw(22))
    look = (
        "At the start blocks 0, 1, 2, … are free in this order. free() puts back a sequence's last block first, behind "
        "those that have been free longer.",
        "一开始空闲的块依次是 0、1、2……free() 把序列的块从最后一个起放回去，排在空闲更久的块后面。",
    )
    expect.equal(manager.blocks(third), [5, 4, 3, 2, 1, 0], ("the order of the blocks", "块的次序"), look)
    server.settle()


def test_what_blocks_returns_is_the_callers(server: Any) -> None:
    """The caller changes the list that blocks() returned, and the prompt that it gave.

    zh: 调用者改动 blocks() 返回的列表，也改动自己传入的 prompt。
    """
    manager = server.open()
    tokens = server.draw(5)
    seq, _ = manager.add(tokens)
    server.live[seq] = list(tokens)
    for position, token in enumerate(tokens):
        server.write(manager.blocks(seq)[position // 4], position % 4, token, position)
    tokens.clear()
    manager.blocks(seq).clear()
    server.check(("a cleared list", "清空列表之后"))
    server.append(seq)
    server.check(("an append", "追加之后"))
    server.preempt()
    server.settle()
