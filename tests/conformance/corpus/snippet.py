"""Snippets of user code, by topic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

Run = Callable[[str], object]


@dataclass(frozen=True)
class Snippet:
    """A few lines as users write them.

    Args:
        topic: what it is about.
        name: of the function.
        run: takes the device; returns tensors and plain values in lists, tuples and dicts.
        expected: what must come out, for code that has no form on the host; ``None``: what ``run("cpu")`` gives.
        is_random: only shapes, dtypes and plain values are compared.
        needs: packages that it imports.
        refusal: words of the reason why only a real GPU can do it; empty for what runs.
    """

    topic: str
    name: str
    run: Run
    expected: Callable[[], object] | None = None
    is_random: bool = False
    needs: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether the simulated device must say that it needs a real GPU."""
        return bool(self.refusal)

    @property
    def runs_on_host(self) -> bool:
        """Whether ``run("cpu")`` is something."""
        return self.expected is None and not self.refusal


class Topic:
    """Collects the snippets of one file.

    Args:
        name: of the topic.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.snippets: list[Snippet] = []

    @overload
    def snippet(self, run: Run, /) -> Run: ...

    @overload
    def snippet(
        self, *, expected: Callable[[], object] | None = None, is_random: bool = False, needs: tuple[str, ...] = ()
    ) -> Callable[[Run], Run]: ...

    def snippet(
        self,
        run: Run | None = None,
        /,
        *,
        expected: Callable[[], object] | None = None,
        is_random: bool = False,
        needs: tuple[str, ...] = (),
    ) -> Run | Callable[[Run], Run]:
        """Add a snippet that runs."""

        def add(run: Run) -> Run:
            self.snippets.append(Snippet(self.name, run.__name__, run, expected, is_random, needs))
            return run

        return add if run is None else add(run)

    def refused(self, reason: str) -> Callable[[Run], Run]:
        """Add a snippet that only a real GPU can run.

        Args:
            reason: words that the refusal must hold.
        """

        def add(run: Run) -> Run:
            self.snippets.append(Snippet(self.name, run.__name__, run, refusal=reason))
            return run

        return add
