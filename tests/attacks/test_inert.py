"""Text of a learner that would act on a terminal, a page or a parser: it is shown inert (row 39)."""

from __future__ import annotations

import json

import pytest
from junitparser import JUnitXml

from tests.attacks.process import HONEST, PACK, run_judge

NASTY = (
    "\\x1b[31mred\\x1b[0m\\x1b]0;title\\x07\\x1b[2J",  # escape sequences
    "[/bold] [red]red[/red] [link=https://example.org]x[/link]",  # rich markup
    "]]> <![CDATA[ <script>alert(1)</script> &amp;",  # end of CDATA
    "a\\x00b\\x08c\\x7f\\x9b31m",  # control characters
    "\\ud800 \\udfff",  # lone surrogates
    "\\u202e evil \\u2066",  # right to left
)

OUTLETS = {
    "printed": 'def double(numbers):\n    print("{text}")\n    return [0]\n',
    "raised": 'def double(numbers):\n    raise ValueError("{text}")\n',
    "returned": 'def double(numbers):\n    return "{text}"\n',
    "raised at import": 'raise ValueError("{text}")\n',
}


@pytest.mark.parametrize("outlet", OUTLETS)
def test_text_of_a_learner_is_inert(outlet, tmp_path):
    """No raw control, no markup and no broken JSON or XML comes out, whatever a solution says."""
    path = tmp_path / "mine.py"
    path.write_text(HONEST + "\n\n" + OUTLETS[outlet].format(text=" ".join(NASTY)), encoding="utf-8")
    junit = tmp_path / "report.xml"
    arguments = ("901", path, "--problems", PACK, "--junit", junit)
    plain = run_judge(*arguments, "--verbose", home=tmp_path)
    as_json = run_judge(*arguments, "--json", home=tmp_path)
    assert (plain.returncode, as_json.returncode) == (1, 1), plain.stderr
    for text in (plain.stdout, plain.stderr, junit.read_text(encoding="utf-8")):
        assert not [character for character in text if is_active(character)]
    assert json.loads(as_json.stdout)["status"] in ("wrong", "runtime_error")
    assert JUnitXml.fromfile(str(junit)).tests >= 1


def is_active(character: str) -> bool:
    """Tell whether a character does something to a terminal beside being shown."""
    number = ord(character)
    return (
        (number < 0x20 and character not in "\n\t")
        or 0x7F <= number <= 0x9F
        or 0xD800 <= number <= 0xDFFF
        or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


def test_markup_of_a_learner_is_shown_as_it_is(tmp_path):
    """Square brackets neither vanish nor raise: a dtype in a message stays readable."""
    path = tmp_path / "mine.py"
    path.write_text(HONEST + "\n\ndef double(numbers):\n    raise ValueError('got [torch.float32] [/bold]')\n")
    done = run_judge("901", path, "--problems", PACK, home=tmp_path)
    assert "[torch.float32] [/bold]" in done.stdout
