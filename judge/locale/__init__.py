"""Messages in English and Chinese, side by side in one TOML file a domain.

``say("cli.created", "zh", path=...)`` reads key ``created`` of ``cli.toml``. Standard library only:
the learner's process uses it too.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

Language = Literal["en", "zh"]


@cache
def _catalogue(domain: str) -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name(f"{domain}.toml").read_text(encoding="utf-8"))


def pair(key: str, **values: object) -> dict[str, str]:
    """Return the message ``domain.name`` in both languages, with ``{placeholders}`` filled in.

    A message that counts may have ``en_one``: its English where ``count`` is 1.

    Raises:
        KeyError: there is no such message.
    """
    domain, _, name = key.partition(".")
    message = _catalogue(domain)[name]
    english = "en_one" if values.get("count") == 1 and "en_one" in message else "en"
    return {language: message[name].format(**values) for language, name in (("en", english), ("zh", "zh"))}


def say(key: str, language: str, **values: object) -> str:
    """Return the message ``domain.name`` in one language."""
    return pair(key, **values)["zh" if language == "zh" else "en"]


def choose_language(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Language:
    """Return the language of ``--lang``, else of ``TACIT_LANG``, ``LC_ALL``, ``LC_MESSAGES`` or ``LANG``.

    It is English where standard output has no Chinese characters: escapes would be read by nobody.
    """
    return "zh" if _find_wish(arguments, environment) == "zh" and _can_show_chinese() else "en"


def _can_show_chinese() -> bool:
    try:
        "通过".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _find_wish(arguments: Sequence[str], environment: Mapping[str, str]) -> Language:
    for at, argument in enumerate(arguments):
        if argument == "--lang":
            return "zh" if arguments[at + 1 : at + 2] == ["zh"] else "en"
        if argument.startswith("--lang="):
            return "zh" if argument == "--lang=zh" else "en"
    for name in ("TACIT_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "zh" if environment[name].lower().startswith("zh") else "en"
    return "en"
