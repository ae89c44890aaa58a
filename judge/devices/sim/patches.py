"""Attributes of other packages, replaced for a while and put back exactly."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

Namespace = Any
"""Whatever has attributes: a module, a class, an object."""
Value = Any

_ABSENT = object()


class Patches:
    """What has been replaced, in order, so that it can be undone in reverse."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def set(self, owner: Namespace, name: str, value: Value) -> None:
        """Replace an attribute of a module, class or object; one that is not there is deleted again on restoring.

        Args:
            owner: the namespace itself: an attribute that ``owner`` only inherits counts as absent.
            name: the attribute's name.
            value: what it is from now on; for a class, descriptors are taken as they are.
        """
        before = vars(owner).get(name, _ABSENT)
        setattr(owner, name, value)
        if before is _ABSENT:
            self._undo.append(lambda: delattr(owner, name))
        else:
            self._undo.append(lambda: setattr(owner, name, before))

    def wrap(self, owner: Namespace, name: str, make: Callable[[Value], Value]) -> None:
        """Replace an attribute by what ``make`` builds around the present one."""
        self.set(owner, name, make(getattr(owner, name)))

    def set_item(self, mapping: MutableMapping[Value, Value], key: Value, value: Value) -> None:
        """Replace an item of a mapping, or add one that is taken out again."""
        before = mapping.get(key, _ABSENT)
        mapping[key] = value
        if before is _ABSENT:
            self._undo.append(lambda: mapping.pop(key, None))
        else:
            self._undo.append(lambda: mapping.__setitem__(key, before))

    def add_undo(self, undo: Callable[[], None]) -> None:
        """Run something of the caller's at this point of the way back."""
        self._undo.append(undo)

    def restore(self) -> None:
        """Put everything back, last replacement first. A second call does nothing.

        Raises:
            Exception: the first that an undo step raised, after all the others have been tried.
        """
        fault: Exception | None = None
        while self._undo:
            undo = self._undo.pop()
            try:
                undo()
            except Exception as error:
                fault = fault or error
        if fault is not None:
            raise fault
