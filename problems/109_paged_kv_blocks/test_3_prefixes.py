"""Prompts that begin alike share their full blocks, for as long as these hold what they held."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(("common", "cached"), [(0, 0), (3, 0), (4, 4), (7, 4), (8, 8), (11, 8)])
def test_full_blocks_of_the_same_beginning_are_shared(server: Any, expect: Any, common: int, cached: int) -> None:
    """Two prompts of 11 and 12 tokens agree in the first few: as many full blocks as these fill are shared.

    zh: 两个 prompt（11 和 12 个 token）开头几个相同：这几个 token 写满几个块，就共享几个块。
    """
    manager = server.open()
    tokens = server.draw(11)
    first = server.add(tokens, cached=0)
    other = [token + 1000 for token in server.draw(12 - common)]
    second = server.add(tokens[:common] + other, cached=cached)
    server.check(("two prompts", "两个 prompt"))
    same = sum(one == two for one, two in zip(manager.blocks(first), manager.blocks(second), strict=True))
    expect.equal(same * 4, cached, ("tokens in shared blocks", "共享的块里的 token 数"))
    for seq in (first, second):
        server.append(seq)
    server.check(("both have appended", "两边都追加之后"))
    server.settle()


def test_a_partial_block_is_not_shared(server: Any) -> None:
    """The same prompt twice: its last block is not full, and each has its own, as both will write there.

    zh: 同一个 prompt 来两次：最后一块没写满，各用各的，因为两边都还要往里写。
    """
    server.open()
    tokens = server.draw(6)
    seqs = [server.add(tokens, cached=wanted) for wanted in (0, 4, 4)]
    for seq in seqs:
        server.append(seq)
        server.check(("an append", "追加之后"))
    server.settle()


def test_the_same_tokens_elsewhere_are_something_else(server: Any) -> None:
    """A block of the same four tokens behind another beginning holds other keys: it is not shared.

    zh: 前面的 token 不同，同样四个 token 的块里装的键就不同：不能共享。
    """
    server.open(blocks=12)
    head, body = server.draw(4), server.draw(4)
    other = [token + 1000 for token in head]
    server.add(head + body, cached=0)
    server.add(other + body, cached=0)
    server.add(body + head, cached=0)
    server.add(head + body, cached=8)
    server.check(("the same blocks behind other ones", "同样的块跟在不同的块后面"))
    server.settle()


def test_a_block_is_known_by_all_that_stands_before_it(server: Any) -> None:
    """Two prompts differ in their second block only: a third one shares the last block of the one that it repeats.

    zh: 两个 prompt 只有第二块不同：第三个 prompt 共享的最后一块，来自它所重复的那一个。
    """
    server.open(blocks=12)
    head, one, two, tail = (server.draw(4) for _ in range(4))
    server.add(head + one + tail, cached=0)
    second = server.add(head + two + tail, cached=4)
    third = server.add(head + two + tail, cached=12)
    server.expect.equal(
        server.manager.blocks(third),
        server.manager.blocks(second),
        ("the blocks of a prompt that repeats another one", "重复另一个 prompt 时得到的块"),
        (
            "What does a block's key stand for: its own tokens, the first block's, or all tokens up to its end?",
            "一个块的键代表什么：它自己的 token，第一块的，还是到它末尾为止的全部 token？",
        ),
    )
    server.check(("the same prompt again", "同一个 prompt 再来"))
    server.settle()


def test_a_filled_block_can_be_found(server: Any) -> None:
    """A block that appends have filled is shared with a prompt that repeats the conversation.

    zh: 被追加写满的块，会与重复这段对话的 prompt 共享。
    """
    server.open()
    tokens = server.draw(6)
    seq = server.add(tokens)
    for _ in range(3):
        server.append(seq)
    server.add(server.live[seq], cached=8)
    server.check(("the conversation again", "对话再来一遍"))
    server.settle()


def test_a_freed_block_can_be_found_again(server: Any, expect: Any) -> None:
    """What a freed sequence has left is shared with the next prompt, and is not handed out to anybody else then.

    zh: 释放的序列留下的块，下一个 prompt 仍能共享；共享之后就不会再分给别人。
    """
    manager = server.open(blocks=4)
    tokens = server.draw(9)
    server.free(server.add(tokens))
    again = server.add(tokens[:8], cached=8)
    server.check(("found again", "又找到了"))
    what = ("free_blocks once two free blocks are in use again", "两个空闲块重新启用之后的 free_blocks")
    expect.equal(manager.free_blocks, 2, what)
    server.add([token + 1000 for token in server.draw(8)], cached=0)
    server.check(("the other blocks are taken", "其余的块也分出去之后"))
    server.append(again) if manager.free_blocks else server.free(again)
    server.check(("the end", "最后"))
    server.settle()


def test_a_block_handed_out_again_is_no_prefix(server: Any) -> None:
    """Once a free block has been given to another sequence, nobody finds there what it held before.

    zh: 空闲块一旦给了别的序列，就没有人能在那里找到它以前的内容。
    """
    server.open(blocks=3)
    tokens = server.draw(12)
    server.free(server.add(tokens))
    other = server.add([token + 1000 for token in server.draw(5)], cached=0)
    server.check(("two blocks have been handed out again", "两个块重新分出之后"))
    server.free(other)
    server.add(tokens, cached=4)
    server.check(("the first prompt again", "第一个 prompt 再来"))
    server.settle()


def test_two_blocks_of_the_same_contents(server: Any) -> None:
    """Two sequences fill blocks with the same tokens: each keeps its own, and the one filled first is found.

    zh: 两个序列各自把块写成同样的内容：各用各的，能找到的是先写满的那个。
    """
    server.open(blocks=6)
    head, last = server.draw(3), server.draw(1)[0]
    first, second = server.add(head), server.add(head)
    server.append(second, last)
    server.append(first, last)
    server.check(("the same block twice", "同样内容的两个块"))
    server.free(first)
    third = server.add([*head, last], cached=4)
    server.expect.equal(
        server.manager.blocks(third),
        server.manager.blocks(second),
        ("which of two equal blocks is found", "两个相同的块，找到的是哪个"),
        ("The block that was full first stays in the prefix table.", "先写满的那个块留在前缀表里。"),
    )
    server.free(second)
    server.add(server.draw(20), cached=0)
    server.check(("blocks handed out again", "块重新分出之后"))
    server.settle()
