"""Hypothesis under a judge: the same examples for subject and oracle, and a search that ends in time."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from typing import Any

import pytest

from judge.harness.show import show

PROFILE = "tacit"
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120  (text is enough)
SEARCH_S = 2.0
"""How long a smaller failing example is looked for."""


NEEDS_CHARACTERS = (b"text(", b"characters(", b"from_regex(", b"from_type(")
"""Strategies that read hypothesis's table of characters, which takes seconds to make where it is not cached."""


def adopt_profile(seed: int, source: bytes) -> None:
    """Register and load the judge's profile, which draws the run's examples from ``seed``.

    Function-scoped fixtures are meant here: ``rng`` and ``evidence`` belong to one test.

    Args:
        seed: seed of the run.
        source: the test file; what its strategies need is made ready now, on no test's clock.
    """
    from hypothesis import HealthCheck, Phase, core, given, settings, strategies

    settings.register_profile(
        PROFILE,
        deadline=None,
        database=None,
        print_blob=False,
        phases=(Phase.explicit, Phase.generate, Phase.target, Phase.shrink),
        suppress_health_check=(HealthCheck.function_scoped_fixture, HealthCheck.too_slow),
    )
    settings.load_profile(PROFILE)
    if any(sign in source for sign in NEEDS_CHARACTERS):
        settings(max_examples=1)(given(strategies.text())(lambda _text: None))()
    with contextlib.suppress(ImportError, AttributeError):
        _leave_out_the_judge()
    core.global_force_seed = seed  # type: ignore[assignment]  # its None has no wider type


def _leave_out_the_judge() -> None:
    """Keep hypothesis from trying the constants in the judge's own sources, of which it parses every file.

    It takes a checkout for the code under test. They would say nothing about a solution, and cost a tenth of a second.

    Raises:
        ImportError, AttributeError: this hypothesis reads no constants, or does it elsewhere.
    """
    from hypothesis.internal.conjecture import providers

    module: Any = providers
    is_local = module.is_local_module_file
    if is_local.__module__ == __name__:
        return  # done for an earlier test file

    def is_local_and_not_ours(path: str) -> bool:
        return not path.startswith(PACKAGE) and bool(is_local(path))

    module.is_local_module_file = is_local_and_not_ours


class SearchEnded(BaseException):
    """A failing example is known, and the time to find a smaller one is over."""


class Search:
    """Remembers the smallest failing example of one test, because its shrinking may outlast the clock."""

    def __init__(self) -> None:
        self._failure: Exception | None = None
        self._example = ""
        self._until_s = 0.0

    def watch(self, item: pytest.Item) -> None:
        """Put the watch around the test that hypothesis calls; nothing happens for another test."""
        handle: Any = getattr(getattr(item, "obj", None), "hypothesis", None)
        if handle is None or "hypothesis" not in sys.modules:
            return
        inner = handle.inner_test

        @functools.wraps(inner)
        def watched(*arguments: object, **drawn: object) -> object:
            __tracebackhide__ = True
            if self._failure is not None and time.monotonic() > self._until_s:
                raise SearchEnded
            try:
                return inner(*arguments, **drawn)
            except Exception as fault:
                self._keep(fault, drawn)
                raise

        handle.inner_test = watched

    def take_failure(self) -> Exception | None:
        """Return the failure of the smallest example so far, with the example as its note."""
        if self._failure is not None and self._example:
            self._failure.add_note(self._example)
        return self._failure

    def _keep(self, fault: Exception, drawn: dict[str, object]) -> None:
        from hypothesis.errors import HypothesisException

        if isinstance(fault, HypothesisException):
            return
        if self._failure is None:
            self._until_s = time.monotonic() + SEARCH_S
        shown = [f"    {name}={show(value)}," for name, value in drawn.items() if not _is_ours(value)]
        example = "\n".join(["Falsifying example:", *shown]) if shown else ""
        if self._failure is None or len(example) <= len(self._example):
            self._failure, self._example = fault, example


def _is_ours(value: object) -> bool:
    return type(value).__module__.startswith("judge.") or value is sys.modules.get("solution")
