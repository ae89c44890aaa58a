"""A second look at a race: the value that the hardware could have produced in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.report import Look, Race, What
from judge.devices.sim.races.undo import Image, Undo
from judge.devices.sim.races.values import find_difference, show_element
from judge.devices.sim.races.vectors import Vector, clock_of
from judge.locale import pair

LOOK_BYTES = 64 << 20
"""Most bytes that one look works on."""

MESSAGES: dict[What, str] = {
    "input": "races.look_input",
    "output": "races.look_output",
    "memory": "races.look_memory",
}

Redo = Callable[[], object]


class SecondLook:
    """Finds what else could have come out of a race.

    The bytes always hold one possible history: operations in the order of their launches. A look undoes, in a copy,
    whatever is not ordered before the second operation, and compares.

    Args:
        view: gives the bytes at an address, to read and to write.
        host: the host's vector clock, the living list.
        is_watching: whether before-images are worth taking; a program with a single stream has no use for them.
    """

    def __init__(
        self,
        view: Callable[[int, int], memoryview],
        host: Vector,
        is_watching: Callable[[], bool] = lambda: True,
    ) -> None:
        self._view = view
        self._undo = Undo(view, host)
        self._is_watching = is_watching

    def preserve(self, actor: int, vector: Vector, writes: Sequence[Access]) -> None:
        """Keep what an actor's next operation is about to overwrite.

        Args:
            actor: who will run it.
            vector: the actor's vector clock before that operation.
            writes: what it will write.
        """
        if self._is_watching():
            self._undo.take(actor, clock_of(vector, actor) + 1, writes)

    def examine(
        self,
        races: Iterable[Race],
        actor: int,
        vector: Vector,
        reads: Sequence[Access],
        writes: Sequence[Access],
        redo: Redo | None = None,
    ) -> None:
        """Add to races what their second operation, which has just run, could have seen or done.

        Args:
            races: found for it.
            actor: who ran it.
            vector: what it is ordered after; its own entry is its clock.
            reads: what it read.
            writes: what it wrote.
            redo: runs it once more, from the bytes as they are onto the same results. All bytes are put back.
        """
        if not self._undo.has_all(vector) or sum(access.high - access.low for access in (*reads, *writes)) > LOOK_BYTES:
            return
        step = actor, vector[actor]

        def is_own(image: Image) -> bool:
            return (image.actor, image.clock) == step

        def is_loose(image: Image) -> bool:
            return is_own(image) or image.clock > clock_of(vector, image.actor)

        for race in races:
            if race.is_first_write and not race.is_second_write:
                if self._undo.has(*race.first_step):
                    self._look_at_inputs(race, reads, is_own, is_loose)
                    if redo is not None and race.looks:
                        self._look_at_outputs(race, reads, writes, is_own, is_loose, redo)
            elif self._undo.has(*step):
                self._look_at_overwritten(race, is_own)

    def _look_at_inputs(
        self, race: Race, reads: Sequence[Access], is_own: Callable[[Image], bool], is_loose: Callable[[Image], bool]
    ) -> None:
        """Compare what the second operation read with what it would have read before all that is not ordered."""
        for access in reads:
            if access.low < race.access.high and race.access.low < access.high:
                saw = self._undo.restore(access.low, access.high, is_own)
                could = self._undo.restore(access.low, access.high, is_loose)
                if _note(race, "input", access, saw, could):
                    return

    def _look_at_outputs(
        self,
        race: Race,
        reads: Sequence[Access],
        writes: Sequence[Access],
        is_own: Callable[[Image], bool],
        is_loose: Callable[[Image], bool],
        redo: Redo,
    ) -> None:
        """Run the second operation once more, on inputs as they could have been, and compare the results."""
        touched = [access for access in (*reads, *writes) if access.high > access.low]
        inputs = [(access, self._undo.restore(access.low, access.high, is_loose)) for access in reads]
        targets = [(access, self._undo.restore(access.low, access.high, is_own)) for access in writes]
        before = [(access, bytes(self._view(access.low, access.high - access.low))) for access in touched]
        try:
            for access, data in (*targets, *inputs):
                self._view(access.low, len(data))[:] = data
            redo()
            results = [bytes(self._view(access.low, access.high - access.low)) for access in writes]
        except Exception:
            # An operation that cannot run on such inputs, an index out of range say, has no other value to show.
            return
        finally:
            for access, old in before:
                self._view(access.low, len(old))[:] = old
        for access, could in zip(writes, results, strict=True):
            if _note(race, "output", access, bytes(self._view(access.low, len(could))), could):
                return

    def _look_at_overwritten(self, race: Race, is_own: Callable[[Image], bool]) -> None:
        """Compare what the first operation found, or left, with what the second one wrote there."""
        access = race.access
        before = self._undo.restore(access.low, access.high, is_own)
        after = bytes(self._view(access.low, access.high - access.low))
        if race.is_first_write:
            _note(race, "memory", access, after, before)
        else:
            _note(race, "input", access, before, after)


def _note(race: Race, what: What, access: Access, saw: bytes | bytearray, could: bytes | bytearray) -> bool:
    """Write down the first element that differs, and tell whether one does."""
    difference = find_difference(access, saw, could)
    if difference is None:
        return False
    index, at = difference
    shown, other = (show_element(data[at : at + access.item_bytes], access.dtype) for data in (saw, could))
    touch = race.first if what == "input" and race.is_second_write else race.second
    words = pair(MESSAGES[what], op=touch.op, line=touch.line, element=index, saw=shown, could=other)
    race.looks.append(Look(what, touch.op, touch.line, index, shown, other, words))
    return True
