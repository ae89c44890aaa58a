"""Forks share their blocks, and copy one of them when they write."""

from __future__ import annotations

from typing import Any

import pytest

LOOK_SHARE = (
    "A fork takes no block: it counts as one user more of each block. Copied is later, only the last block, and only "
    "where it is written while somebody else uses it.",
    "分叉不占新块：它只是每个块多出来的一个使用者。拷贝是以后的事，只拷最后一块，而且只在别人也在用、自己又要写的时候。",
)


@pytest.mark.parametrize("count", [0, 4, 6, 17])
def test_a_fork_takes_no_block(server: Any, expect: Any, count: int) -> None:
    """A fork has the same blocks as its parent, whatever its length, and reads the same tokens.

    zh: 不论多长，分叉与父序列的块完全相同，读到的 token 也相同。
    """
    manager = server.open()
    parent = server.add(server.draw(count))
    before = manager.free_blocks
    child = server.fork(parent)
    server.check(("a fork", "分叉之后"))
    what = ("a fork took blocks", "分叉占用了新块")
    expect.equal(before - manager.free_blocks, 0, what, LOOK_SHARE)
    what = ("parent and fork have different blocks", "父序列与分叉的块不同")
    expect.equal(manager.blocks(child), manager.blocks(parent), what, LOOK_SHARE)
    server.settle()


@pytest.mark.parametrize("first", ["parent", "child"])
def test_who_writes_first_gets_a_copy(server: Any, expect: Any, first: str) -> None:
    """Both go on with tokens of their own: one block is copied, once, for the one that writes first.

    zh: 两边各自继续生成：只拷贝一个块，只拷一次，先写的得到副本。
    """
    manager = server.open()
    parent = server.add(server.draw(6))
    child = server.fork(parent)
    order = (parent, child) if first == "parent" else (child, parent)
    shared = manager.blocks(parent)
    for turn in range(2):
        for seq in order:
            server.append(seq)
        server.check((f"token {turn} of both", f"两边的第 {turn} 个 token"))
    what = ("free_blocks after both have written", "两边都写过之后的 free_blocks")
    expect.equal(manager.free_blocks, 8 - 3, what, LOOK_SHARE)
    kept = [manager.blocks(seq)[0] for seq in order] + [manager.blocks(order[1])[1]]
    what = ("the full block is shared, and the second writer keeps the old one", "满块仍共享，后写的留用原来那块")
    expect.equal(kept, [shared[0], shared[0], shared[1]], what, LOOK_SHARE)
    server.settle()


def test_full_blocks_are_never_copied(server: Any, expect: Any) -> None:
    """At the edge of a block each side takes a new one, and nothing is copied.

    zh: 正好在块的边界上分叉：两边各取新块，什么也不拷贝。
    """
    manager = server.open()
    parent = server.add(server.draw(8))
    child = server.fork(parent)
    for seq in (parent, child):
        server.append(seq)
    server.check(("both have appended", "两边都追加之后"))
    what = ("blocks in use: two shared ones, and one for each", "在用的块：共享的两个，两边各一个")
    expect.equal(8 - manager.free_blocks, 4, what, LOOK_SHARE)
    server.settle()


def test_a_beam_of_forks(server: Any, expect: Any) -> None:
    """Forks of forks, of which some go while others write, read what their own line has written.

    zh: 分叉再分叉，有的离开，有的继续写，读到的都是自己这一支写下的。
    """
    manager = server.open(blocks=16, rows=6)
    beams = [server.add(server.draw(5))]
    for step in range(12):
        for seq in beams:
            server.append(seq)
        while len(beams) > 3:
            server.free(beams.pop(server.rng.randrange(len(beams))))
        beams += [server.fork(server.rng.choice(beams)) for _ in range(2)]
        server.check((f"step {step}", f"第 {step} 步"))
    for seq in beams:
        server.free(seq)
    what = ("all sequences are freed: free_blocks", "所有序列都释放了：free_blocks")
    expect.equal(manager.free_blocks, 16, what)
    server.settle()


def test_a_parent_may_go_first(server: Any) -> None:
    """The parent is freed while the fork lives: the fork alone has the blocks now, and writes without a copy.

    zh: 父序列先释放，分叉还在：块只剩分叉一个使用者，写入时不必拷贝。
    """
    manager = server.open(blocks=2)
    parent = server.add(server.draw(6))
    child = server.fork(parent)
    server.free(parent)
    server.check(("the parent is gone", "父序列离开之后"))
    server.append(child)
    server.append(child)
    server.check(("the fork has written", "分叉写入之后"))
    server.free(child)
    server.check(("both are gone", "都离开之后"))
    server.expect.equal(manager.free_blocks, 2, ("free_blocks at the end", "最后的 free_blocks"))
    server.settle()
