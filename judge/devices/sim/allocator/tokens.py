"""Cut a configuration string into tokens and read values from them, with PyTorch's errors."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[,:\[\]]|[^,:\[\]]+")
_COUNT = re.compile(r"([+-]?)(\d+)")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|nan|inf(?:inity)?)", re.IGNORECASE)
_SIZE_LIMIT = 2**64


class Tokens:
    """The tokens of ``key:value,key:[value,value]``; blanks count nowhere.

    Args:
        text: the configuration string.

    Source: ``ConfigTokenizer`` in c10/core/AllocatorConfig.h, torch 2.13.
    """

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = _TOKEN.findall("".join(text.split()))

    def __len__(self) -> int:
        return len(self._tokens)

    def __getitem__(self, at: int) -> str:
        if at >= len(self._tokens):
            raise _internal_assert("Index out of bounds in ConfigTokenizer")
        return self._tokens[at]

    def find_end(self, at: int) -> int:
        """Return the index of the last token of the value that starts at ``at``.

        Raises:
            RuntimeError: it is a list without an end.
        """
        if self[at] != "[":
            return at
        if "]" not in self._tokens[at:]:
            raise _internal_assert("Expected closing bracket ']' in ConfigTokenizer but reached end of config")
        return self._tokens.index("]", at)

    def read_count(self, at: int) -> int:
        """Return token ``at`` as an unsigned number of 64 bits, as ``std::stoull`` reads it.

        Raises:
            ValueError: no digit leads the token.
            IndexError: the number has more than 64 bits.
        """
        match = _COUNT.match(self[at])
        if match is None:
            raise ValueError("stoull")
        value = int(match[2])
        if value >= _SIZE_LIMIT:
            raise IndexError("stoull")
        return -value % _SIZE_LIMIT if match[1] == "-" else value

    def read_number(self, at: int) -> float:
        """Return token ``at`` as a floating-point number, as ``std::stod`` reads it.

        Raises:
            ValueError: no number leads the token.
        """
        match = _NUMBER.match(self[at])
        if match is None:
            raise ValueError("stod")
        return float(match[0])

    def read_switch(self, at: int) -> bool:
        """Return token ``at``, which must be ``True`` or ``False``, as a bool.

        Raises:
            ValueError: it is neither.
        """
        token = self[at]
        if token not in ("True", "False"):
            raise ValueError(f"Expected 'True' or 'False' at index {at} in ConfigTokenizer but got '{token}'")
        return token == "True"


def _internal_assert(what: str) -> RuntimeError:
    return RuntimeError(f"i < config_.size() INTERNAL ASSERT FAILED, please report a bug to PyTorch. {what}")
