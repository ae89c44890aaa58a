"""Vector clocks: what each actor, the host or a stream, knows to have happened.

Actor 0 is the host, 1 the default stream. A vector holds, by actor, the clock of the last step that happened before;
a step is ordered after another exactly when its vector has reached the other's clock. Plain lists, which grow with the
number of actors: merging and reading them is on the path of every launch.
"""

from __future__ import annotations

Vector = list[int]

HOST = 0
"""The actor that launches: each launch is ordered after everything the host has seen."""


def clock_of(vector: Vector, actor: int) -> int:
    """Return the last clock of ``actor`` that the vector has seen, 0 when it has seen none."""
    return vector[actor] if actor < len(vector) else 0


def merge(vector: Vector, other: Vector) -> None:
    """Let the owner of ``vector`` know all that ``other`` knows: ``vector`` is changed in place."""
    if len(vector) < len(other):
        vector.extend([0] * (len(other) - len(vector)))
    for actor, clock in enumerate(other):
        if clock > vector[actor]:
            vector[actor] = clock


def tick(vector: Vector, actor: int) -> int:
    """Begin the actor's next step on its own ``vector``, and return the step's clock."""
    if len(vector) <= actor:
        vector.extend([0] * (actor + 1 - len(vector)))
    vector[actor] += 1
    return vector[actor]
