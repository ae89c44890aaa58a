"""What a test says when it compares: failure as teaching, with expected, actual and where to look."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NoReturn, TypeVar

from judge.harness.diagnostic import Text, Words, as_text, text
from judge.harness.equality import find_difference
from judge.harness.show import message_of, show
from judge.locale import choose_language

Raised = TypeVar("Raised", bound=BaseException)


class Mismatch(AssertionError):
    """A test compared and found a difference."""

    def __init__(
        self,
        what: Text,
        *,
        expected: str | None = None,
        actual: str | None = None,
        look: Text | None = None,
        picture: Words | None = None,
    ) -> None:
        super().__init__(what["en"])
        self.what = what
        self.expected = expected
        self.actual = actual
        self.look = look
        self.picture = as_text(picture)

    def __str__(self) -> str:
        language = choose_language((), os.environ)
        lines = [self.what[language]]
        for name, value in (("expected", self.expected), ("actual", self.actual)):
            if value is not None:
                lines.append(f"  {text(name)[language]}: {value}")
        if self.picture:
            lines.append(self.picture[language])
        if self.look:
            lines.append(self.look[language])
        return "\n".join(lines)


def _worded(value: object) -> str | None:
    """Text as the author wrote it; anything else as Python shows it."""
    return value if value is None or type(value) is str else show(value)


class Expect:
    """The fixture ``expect``."""

    def equal(
        self, actual: object, expected: object, what: Words, look: Words | None = None, picture: Words | None = None
    ) -> None:
        """Fail unless the values are equal and of the same types all the way down.

        Raises:
            Mismatch: they differ; a difference inside a long value is named by its place.
        """
        __tracebackhide__ = True
        difference = find_difference(actual, expected)
        if difference is not None:
            raise Mismatch(
                _sentence(what),
                expected=difference.expected,
                actual=difference.actual,
                look=as_text(look),
                picture=picture,
            )

    def true(
        self,
        condition: object,
        what: Words,
        look: Words | None = None,
        picture: Words | None = None,
        expected: object = None,
        actual: object = None,
    ) -> None:
        """Fail unless ``condition`` holds.

        Raises:
            Mismatch: it does not.
        """
        __tracebackhide__ = True
        if not condition:
            self.fail(what, expected, actual, look, picture)

    def raises(
        self, exception_type: type[Raised], call: Callable[[], object], what: Words, look: Words | None = None
    ) -> Raised:
        """Return the exception that ``call()`` raises.

        Raises:
            Mismatch: it raises nothing, or an exception of another type.
        """
        __tracebackhide__ = True
        try:
            returned = call()
        except exception_type as wanted:
            return wanted
        except NotImplementedError:
            raise
        except Exception as other:
            actual = f"{type(other).__name__}: {message_of(other)}"
            raise Mismatch(
                _sentence(what), expected=exception_type.__name__, actual=actual, look=as_text(look)
            ) from other
        actual = text("returned", value=show(returned))["en"]
        raise Mismatch(_sentence(what), expected=exception_type.__name__, actual=actual, look=as_text(look))

    def fail(
        self,
        what: Words,
        expected: object = None,
        actual: object = None,
        look: Words | None = None,
        picture: Words | None = None,
    ) -> NoReturn:
        """Fail.

        Raises:
            Mismatch: always.
        """
        __tracebackhide__ = True
        raise Mismatch(
            _sentence(what), expected=_worded(expected), actual=_worded(actual), look=as_text(look), picture=picture
        )


def _sentence(words: Words) -> Text:
    return as_text(words) or {"en": "", "zh": ""}
