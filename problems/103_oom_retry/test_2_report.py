"""What the error says: the figures, and PyTorch's words for them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# goldens/README.md; what it said of other processes is left out, as in the statement.
H200_TEXT = (
    "CUDA out of memory. Tried to allocate 1.17 GiB. GPU 0 has a total capacity of 139.80 GiB of which 137.38 GiB is"
    " free. 1.40 GiB allowed; Of the allocated memory 600.00 MiB is allocated by PyTorch, and 0 bytes is reserved by"
    " PyTorch but unallocated."
)
H200_TOTAL_BYTES = 150_109_880_320


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (KIB, "1024 bytes"),
        (KIB + 1, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (MIB, "1024.00 KiB"),
        (MIB + 1, "1.00 MiB"),
        (20 * MIB, "20.00 MiB"),
        (GIB, "1024.00 MiB"),
        (1200 * MIB, "1.17 GiB"),
        (2048 * GIB, "2048.00 GiB"),
    ],
    ids=lambda value: str(value).replace(" ", "_"),
)
def test_a_size_is_written_as_pytorch_does(
    solution: ModuleType, expect: Any, evidence: Any, rng: Any, size: int, text: str
) -> None:
    """Two decimals, in the largest unit that the size exceeds; bytes have none.

    zh: 用大小所超过的最大单位，两位小数；字节不带小数。
    """
    look = (
        "Exactly one KiB, MiB or GiB is still written in the unit below; GiB is the largest unit.",
        "恰好 1 KiB、1 MiB、1 GiB 仍用下一级单位书写；最大的单位是 GiB。",
    )
    expect.equal(solution.format_size(size), text, (f"format_size({size})", f"format_size({size})"), look)
    sizes = [size, *(rng.randrange(1 << rng.randrange(1, 44)) for _ in range(20))]
    evidence.exact("texts", [solution.format_size(it) for it in sizes], labels=[f"format_size({it})" for it in sizes])


@pytest.mark.parametrize(
    ("request_bytes", "wanted"),
    [(1000, 2 * MIB), (3 * MIB, 20 * MIB), (10 * MIB, 10 * MIB), (11 * MIB + 1, 12 * MIB)],
    ids=["small", "large", "own_segment", "rounded"],
)
def test_what_was_tried_is_the_segment(play: Callable[..., Any], request_bytes: int, wanted: int) -> None:
    """The report names the segment that the GPU was asked for, not the request.

    zh: 报告里写的是向 GPU 要的段，不是请求的大小。
    """
    game = play(total=MIB)
    report = game.refuse(request_bytes, with_report=True)
    what = (f"malloc({request_bytes})", f"malloc({request_bytes})")
    look = ("What was the GPU asked for? segment_size() is given.", "向 GPU 要的是多少？segment_size() 已给出。")
    game.check_fields(report, what, look, wanted=wanted)
    game.record()


def test_the_figures_are_those_after_giving_back(play: Callable[..., Any], rng: Any) -> None:
    """Free, allocated and cached bytes are counted when the unused segments have gone back.

    zh: 空闲、已分配、已缓存的字节数，都在没人用的段归还之后统计。
    """
    others = rng.randrange(1, 4) * MIB
    game = play(total=100 * MIB, others=others)
    pinned = game.malloc(9 * MIB)
    game.free(game.malloc(30 * MIB), game.malloc(10 * MIB), game.malloc(512, 1))
    game.malloc(700)
    report = game.refuse(90 * MIB, with_report=True)
    what = ("The report of malloc(90 MiB)", "malloc(90 MiB) 的报告")
    look = (
        "The figures are those at the moment of the error, when what was unused has gone back (rule 6).",
        "数字取报错那一刻的，此时没人用的段已经归还（规则 6）。",
    )
    game.check_fields(report, what, look, allocated=pinned.size + 1024, cached=22 * MIB - pinned.size - 1024)
    game.check_fields(report, what, look, free=78 * MIB - others, total=100 * MIB, allowed=None)
    game.record()


@pytest.mark.parametrize("limit", [None, 50 * MIB], ids=["without_a_limit", "with_a_limit"])
def test_the_text_says_the_figures(
    play: Callable[..., Any], solution: ModuleType, expect: Any, limit: int | None
) -> None:
    """The error's text is PyTorch's, with a part about the limit only where there is one.

    zh: 异常的文字与 PyTorch 相同，有上限时才有关于上限的那一段。
    """
    game = play(total=60 * MIB, limit=limit)
    game.malloc(5 * MIB)
    report = game.refuse(48 * MIB, with_report=True)
    allowed = "" if limit is None else "50.00 MiB allowed; "
    text = (
        "CUDA out of memory. Tried to allocate 48.00 MiB. GPU 0 has a total capacity of 60.00 MiB of which 40.00 MiB"
        f" is free. {allowed}Of the allocated memory 5.00 MiB is allocated by PyTorch, and 15.00 MiB is reserved by"
        " PyTorch but unallocated."
    )
    what = ("The text of the error", "异常的文字")
    look = ("Compare it word by word with rule 7.", "逐字对照规则 7。")
    expect.equal(game.last["text"], text, what, look)
    expect.equal(solution.explain(report), text, what, look)
    game.record()


def test_the_text_is_the_real_gpus(play: Callable[..., Any], expect: Any) -> None:
    """In the situation of the recorded error, the text is the one that the H200 gave.

    zh: 在录下那个异常的情形里，文字与 H200 给出的一致。
    """
    game = play(total=H200_TOTAL_BYTES, others=1_970_000_000, limit=H200_TOTAL_BYTES // 100)
    blocks = [game.malloc(300 * MIB) for _ in range(3)]
    game.free(blocks[1])
    game.refuse(1200 * MIB, with_report=True)
    look = (
        "The freed block of 300 MiB was a segment of its own: it is no longer reserved when the error is raised.",
        "释放的 300 MiB 块独占一个段：报错时它已不再 reserved。",
    )
    expect.equal(game.last["text"], H200_TEXT, ("The text of the error", "异常的文字"), look)
    game.record()
