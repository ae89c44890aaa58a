"""Lines are broken by the width of characters."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from judge.report.wrapping import crop, fold, wrap

MIXED = st.text(st.sampled_from("ab (显存，。「」“”)`x=1 \n"), max_size=80)
CHINESE = "释放的块在 `0x600` 处有一个空闲邻块，在下一次请求寻找空间之前，它合并了吗？（见“规则”一节。）"


@given(MIXED, st.integers(4, 40))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    """Every line fits, and the lines together hold every character that is seen."""
    lines = [line.plain for line in wrap(Text(text), width)]
    assert [] == [line for line in lines if cell_len(line) > width]
    assert "".join(text.split()) == "".join("".join(lines).split())


@pytest.mark.parametrize("width", range(8, 60))
def test_chinese_punctuation_stays_with_its_word(width: int) -> None:
    """No line begins with a closing mark or ends with an opening one."""
    lines = [line.plain for line in wrap(Text(CHINESE), width)]
    assert [] == [line for line in lines if line[0] in "，。？）”" or line[-1] in "（“"]


def test_chinese_fills_its_lines() -> None:
    """A Chinese sentence breaks where the line is full, not at its next space."""
    assert ["see 一二三", "四五六七八", "九十"] == [line.plain for line in wrap(Text("see 一二三四五六七八九十"), 10)]


def test_styles_survive() -> None:
    """A styled word keeps its style on the next line."""
    text = Text("plain ").append("styled words", "red")
    assert ["red", "red"] == [str(line.spans[0].style) for line in wrap(text, 7)[1:]]


def test_a_cropped_text_ends_with_a_sign() -> None:
    """It is never cut without saying so, and wide characters are not halved."""
    assert ["显存…", "short"] == [crop("显存分配器", 6, "…"), crop("short", 6, "…")]


@given(MIXED, st.integers(2, 20))
def test_folded_pieces_fit(text: str, width: int) -> None:
    """Cutting at the offsets gives pieces of at most the width."""
    offsets = [0, *fold(text, width), len(text)]
    pieces = [text[a:b] for a, b in pairwise(offsets)]
    assert [] == [piece for piece in pieces if cell_len(piece) > width]
