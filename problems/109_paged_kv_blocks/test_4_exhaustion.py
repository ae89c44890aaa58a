"""No block left: what is refused, that nothing is lost, and how preemption makes room."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_prompt_that_does_not_fit(server: Any) -> None:
    """A prompt that wants one block more than are free is refused, and takes none of them; a smaller one goes in.

    zh: prompt 比空闲的多要一个块：拒绝，一个也不占；小一点的照样放得下。
    """
    server.open(blocks=4)
    server.add(server.draw(5))
    tokens = server.draw(9)
    server.refuse(
        server.solution.OutOfBlocks,
        lambda: server.manager.add(tokens),
        ("a prompt of 3 blocks, 2 free", "要 3 个块的 prompt，空闲 2 个"),
    )
    server.add(tokens[:8], cached=0)
    server.check(("a smaller prompt", "小一点的 prompt"))
    server.settle()


def test_shared_blocks_are_not_room(server: Any) -> None:
    """A prompt finds two of its blocks, both free, and wants two more: two free blocks in all are not enough.

    zh: prompt 的两个块都找到了，而且都是空闲的；它还要两个新块：总共两个空闲块是不够的。
    """
    server.open(blocks=4)
    tokens = server.draw(8)
    server.add([token + 1000 for token in server.draw(8)])
    server.free(server.add(tokens))
    server.refuse(
        server.solution.OutOfBlocks,
        lambda: server.manager.add([*tokens, *tokens]),
        ("2 shared and 2 more", "共享 2 个、再要 2 个，空闲共 2 个"),
    )
    server.add(tokens, cached=8)
    server.check(("only the shared ones", "只用共享的块"))
    server.settle()


def test_an_append_without_a_block(server: Any) -> None:
    """At the edge of a block, with none free, append() is refused; a sequence with room in its last block goes on.

    zh: 块已写满又没有空闲块：拒绝追加；最后一块还有空位的序列照常追加。
    """
    server.open(blocks=3)
    full, roomy = server.add(server.draw(8)), server.add(server.draw(2))
    server.refuse(
        server.solution.OutOfBlocks,
        lambda: server.manager.append(full, 7),
        ("append at the edge of a block", "在块的边界追加，没有空闲块"),
    )
    server.append(roomy)
    server.check(("the other sequence", "另一个序列"))
    server.free(roomy)
    server.append(full)
    server.check(("a block has become free", "有块空出之后"))
    server.settle()


def test_a_copy_without_a_block(server: Any) -> None:
    """A fork wants to write into a shared block, and no block is free for the copy: refused; and later it succeeds.

    zh: 分叉要写共享的块，却没有空闲块可供拷贝：拒绝；等有了空闲块再写就成功。
    """
    server.open(blocks=3)
    parent, other = server.add(server.draw(6)), server.add(server.draw(1))
    child = server.fork(parent)
    server.refuse(
        server.solution.OutOfBlocks,
        lambda: server.manager.append(child, 7),
        ("a copy, and no block free", "需要拷贝，没有空闲块"),
    )
    server.free(other)
    server.append(child)
    server.append(parent)
    server.check(("both have written", "两边都写过之后"))
    server.settle()


def test_no_row_left(server: Any) -> None:
    """With every row of the table taken, add() and fork() are refused, whatever the blocks.

    zh: 表里的行都占满了：不论还有多少块，add() 和 fork() 都拒绝。
    """
    server.open(rows=2)
    first, second = server.add(server.draw(2)), server.add(server.draw(3))
    out = server.solution.OutOfBlocks
    server.refuse(
        out, lambda: server.manager.add([1, 2, 3, 4, 5]), ("a third prompt, 2 rows", "第三个 prompt，共 2 行")
    )
    server.refuse(out, lambda: server.manager.fork(first), ("a fork, 2 rows taken", "分叉，2 行都占着"))
    server.free(second)
    server.append(server.fork(first))
    server.check(("a row has become free", "有行空出之后"))
    server.settle()


@pytest.mark.parametrize("name", ["free", "append", "fork", "row", "blocks"])
def test_a_sequence_that_is_gone(server: Any, name: str) -> None:
    """A number that was freed, also twice, or was never given out, is a ValueError, though its row has a new owner.

    zh: 已经释放的编号（再次释放也一样）、从未给出的编号：抛出 ValueError，哪怕那一行已有新主人。
    """
    server.open(rows=2)
    gone = server.add(server.draw(5))
    kept = server.fork(gone)
    server.free(gone)
    rest = [7] if name == "append" else []
    for seq in (gone, 99, -1):
        server.refuse(
            ValueError, lambda seq=seq: getattr(server.manager, name)(seq, *rest), (f"{name}({seq})", f"{name}({seq})")
        )
    server.add(server.draw(5))
    server.refuse(
        ValueError, lambda: getattr(server.manager, name)(gone, *rest), f"{name}({gone}), its row taken again"
    )
    server.append(kept)
    server.check(("the others", "其余的序列"))
    server.settle()


def test_a_sequence_that_is_too_long(server: Any) -> None:
    """More than ``width`` blocks are a ValueError, though blocks are free: of a prompt, and of an append.

    zh: 超过 width 个块，即使还有空闲块，也抛出 ValueError：prompt 如此，追加也如此。
    """
    server.open(blocks=8, width=2)
    tokens = server.draw(9)
    server.refuse(
        ValueError, lambda: server.manager.add(tokens), ("a prompt of 3 blocks, width 2", "要 3 个块的 prompt，宽 2")
    )
    seq = server.add(tokens[:8])
    server.refuse(
        ValueError,
        lambda: server.manager.append(seq, 7),
        ("an append to 2 full blocks, width 2", "2 个块已写满再追加，宽 2"),
    )
    server.check(("the longest sequence", "最长的序列"))
    server.settle()


def test_preemption_makes_room(server: Any) -> None:
    """The sequence that came last goes, its tokens are returned, and later it comes back to what is left of it.

    zh: 最后进来的序列让位并交还 token；之后它再回来，还在的部分直接接上。
    """
    server.open(blocks=5)
    first = server.add(server.draw(8))
    server.add(server.draw(8))
    server.append(first)
    for _ in range(3):
        server.append(first)
    server.refuse(
        server.solution.OutOfBlocks,
        lambda: server.manager.append(first, 7),
        ("append, no block free", "追加，没有空闲块"),
    )
    tokens = server.preempt()
    server.check(("preempted", "抢占之后"))
    server.append(first)
    server.free(first)
    server.add(tokens, cached=4)
    server.check(("admitted again", "重新进来之后"))
    server.settle()


def test_preemption_takes_the_youngest(server: Any) -> None:
    """Forks count as admitted when they were made; with nobody left preempt() is a ValueError.

    zh: 分叉以分出之时为准；一个序列都没有时，preempt() 抛出 ValueError。
    """
    server.open()
    first = server.add(server.draw(5))
    server.add(server.draw(3))
    server.fork(first)
    server.append(first)
    for left in (2, 1, 0):
        server.preempt()
        server.check((f"{left} sequences are left", f"还剩 {left} 个序列"))
    server.refuse(ValueError, server.manager.preempt, ("preempt() with nobody there", "没有序列时 preempt()"))
    server.settle()
