"""What is ordered after what on a real GPU, as vector clocks of the host and the streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from judge.devices.sim.races.vectors import HOST, Vector, merge, tick

MOMENT = "_tacit_moment"
"""Attribute of an event: what it is ordered after. Kept there because an event outlives no reference of its own, and
because torch's events don't clear weak references to them when they go: the next search for garbage crashes."""


class Moment(NamedTuple):
    """When an event was recorded."""

    order: Order
    """Who noted it: what another watch noted before is over."""
    vector: Vector


class Order:
    """Follows launches, events and waits; streams are known by their handles.

    PyTorch's streams don't wait for the default stream by themselves, so nothing is assumed of it.

    Args:
        on_learned: called when the host may know more than before.
    """

    def __init__(self, on_learned: Callable[[], None]) -> None:
        self.host: Vector = [0]
        """What the host is ordered after. Always this list: others hold it too."""
        self._on_learned = on_learned
        self._actors: dict[int, int] = {}
        self._handles: list[int | None] = [None]
        self._vectors: list[Vector] = [self.host]

    def actor_of(self, handle: int) -> int:
        """Return the actor of a stream, 1 or higher."""
        actor = self._actors.get(handle)
        if actor is None:
            actor = self._actors[handle] = len(self._vectors)
            self._handles.append(handle)
            self._vectors.append([])
        return actor

    def handle_of(self, actor: int) -> int | None:
        """Return the handle of an actor's stream, ``None`` for the host."""
        return self._handles[actor] if actor < len(self._handles) else None

    def launch(self, handle: int) -> tuple[int, Vector]:
        """Begin an operation of a stream; return its actor and what it is ordered after, itself included."""
        actor = self.actor_of(handle)
        vector = self._vectors[actor]
        merge(vector, self.host)
        tick(vector, actor)
        return actor, vector

    def look_at(self, handle: int) -> Vector:
        """Return what comes next on a stream is ordered after. A copy."""
        vector = self._vectors[self.actor_of(handle)].copy()
        merge(vector, self.host)
        return vector

    def record(self, event: object, handle: int) -> None:
        """Note that an event was recorded on a stream."""
        setattr(event, MOMENT, Moment(self, self.look_at(handle)))

    def wait(self, handle: int, event: object) -> None:
        """Note that a stream waits for an event; one that was recorded before all this orders nothing new."""
        merge(self._vectors[self.actor_of(handle)], self._find(event))

    def see_event(self, event: object) -> None:
        """Note that the host knows an event to be over."""
        self.learn(self._find(event))

    def _find(self, event: object) -> Vector:
        moment = getattr(event, MOMENT, None)
        return moment.vector if moment is not None and moment.order is self else []

    def see_stream(self, handle: int) -> None:
        """Note that the host knows all work of a stream to be over."""
        self.learn(self._vectors[self.actor_of(handle)])

    def see_all(self) -> None:
        """Note that the host knows all work to be over."""
        for vector in self._vectors[HOST + 1 :]:
            merge(self.host, vector)
        self.learn([])

    def learn(self, vector: Vector) -> None:
        """Order the host after some work."""
        merge(self.host, vector)
        self._on_learned()

    def join(self, handle: int) -> None:
        """Order what comes next on a stream after all that has been launched, by means that can't be seen."""
        mine = self._vectors[self.actor_of(handle)]
        for vector in self._vectors:
            merge(mine, vector)
