"""What tests of device code expect again and again: a tensor, inputs left alone, order, and no waits."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from judge.harness.diagnostic import Text, Words, text
from judge.harness.expect import Expect
from judge.harness.loading import MODULE

if TYPE_CHECKING:
    from judge.instruments.instruments import Watch
    from judge.instruments.observation import Race, Touch

HOST = "host"
MOST_SHOWN = 3
"""Races, or lines that wait, that one failure shows."""

LOOKS: dict[type, str] = {
    list: "look_slip_list",
    tuple: "look_slip_tuple",
    int: "look_slip_number",
    float: "look_slip_number",
    bool: "look_slip_number",
    type(None): "look_slip_nothing",
}
"""What is said of an answer that is no tensor."""


class DeviceExpect(Expect):
    """The fixture ``expect``, with what needs a device."""

    def tensor(
        self,
        answer: object,
        name: str,
        *,
        dtype: object = None,
        shape: Sequence[int] | None = None,
        device: str | None = None,
        look: Words | None = None,
    ) -> Any:  # noqa: ANN401  a tensor; torch is not imported here
        """Return an answer that is a tensor as wanted; what it is instead is named. *Synchronises: no.*

        Args:
            answer: what the solution returned, or left in a field.
            name: how the learner knows it: ``sample()``, ``batch.position``.
            dtype: as ``torch.int64``; any if left out.
            shape: any if left out.
            device: ``"cuda"`` or ``"cpu"``; any if left out.
            look: said in place of the usual hint.

        Raises:
            Mismatch: it is something else.
        """
        __tracebackhide__ = True
        torch: Any = sys.modules["torch"]
        if not isinstance(answer, torch.Tensor):
            kind = type(answer).__name__
            hint = "look_slip_generator" if isinstance(answer, Iterator) else LOOKS.get(type(answer), "look_slip_other")
            self.fail(text("slip_type", name=name, type=kind), "Tensor", kind, look or text(hint))
        found: Any = answer
        if device is not None and found.device.type != device:
            hint = "look_slip_on_host" if device == "cuda" else "look_slip_on_device"
            self.fail(text("slip_device", name=name), device, found.device.type, look or text(hint))
        if dtype is not None and found.dtype != dtype:
            self.fail(text("slip_dtype", name=name), str(dtype), str(found.dtype), look or text("look_slip_dtype"))
        if shape is not None and tuple(found.shape) != tuple(shape):
            wanted, actual = str(tuple(shape)), str(tuple(found.shape))
            self.fail(text("slip_shape", name=name), wanted, actual, look or text("look_slip_shape"))
        return found

    @contextlib.contextmanager
    def unchanged(self, look: Words | None = None, **tensors: Any) -> Iterator[None]:  # noqa: ANN401  tensors
        """Fail if code in the ``with`` block changed one of the tensors, by value. *Synchronises: yes.*

        Args:
            look: said in place of the usual hint.
            tensors: by the names under which the learner knows them.

        Raises:
            Mismatch: one was changed; an exception of the block goes first.
        """
        __tracebackhide__ = True
        before = {name: tensor.detach().clone() for name, tensor in tensors.items()}
        yield
        torch: Any = sys.modules["torch"]
        for name, tensor in tensors.items():
            if not torch.equal(_as_bits(torch, before[name]), _as_bits(torch, tensor.detach())):
                self.fail(text("changed", name=name), look=look or text("look_changed"))

    def ordered(self, seen: Watch, what: Words | None = None, look: Words | None = None) -> None:
        """Fail if two uses of the same memory had no order between them. *Synchronises: no.*

        Args:
            seen: what ``watch()`` gave, its block being over.
            what: said first; by default what sort of race it is.
            look: said in place of the instruments' advice, which names lines: where one of them is the test's, it
                is of no use to a learner, and only the missing order is told.

        Raises:
            Mismatch: there was a race; both sides are drawn, the learner's by their lines.
        """
        __tracebackhide__ = True
        if not seen.races:
            return
        race = seen.races[0]
        kind = race.kind.replace("-", "_")
        if look is None:
            is_own = _is_own(race.first) and _is_own(race.second)
            look = dict(race.advice) if is_own else text("look_race")
        drawn = {language: _draw_races(seen.races, language) for language in ("en", "zh")}
        self.fail(what or text(f"race_{kind}"), look=look, picture=drawn)

    def waits(self, seen: Watch, *, most: int = 0, what: Words | None = None, look: Words | None = None) -> None:
        """Fail if the host waited for the device more than ``most`` times. *Synchronises: no.*

        Args:
            seen: what ``watch()`` gave, its block being over.
            most: how many waits are allowed.
            what: said first.
            look: said in place of the usual hint.

        Raises:
            Mismatch: it did; the lines are drawn with what each of them waits for.
        """
        __tracebackhide__ = True
        if len(seen.syncs) <= most:
            return
        told = text("too_many_waits", count=len(seen.syncs), most=most)
        drawn = {language: _draw_waits(seen, language) for language in ("en", "zh")}
        self.fail(what or told, f"≤ {most}", len(seen.syncs), look or text("look_waits"), drawn)


def _as_bits(torch: Any, tensor: Any) -> Any:  # noqa: ANN401  torch is not imported here
    """Return a tensor whose values compare as bits: NaN equals itself, and -0 is not 0."""
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def _is_own(touch: Touch) -> bool:
    """Return whether a line is the learner's."""
    spec = getattr(sys.modules.get(MODULE), "__spec__", None)
    return spec is not None and touch.site.file in (spec.origin, spec.loader_state)


def _draw_races(races: Sequence[Race], language: str) -> str:
    lines = []
    for race in races[:MOST_SHOWN]:
        for side in (race.first, race.second):
            lines.append(f"{side.op}  {side.stream}  {_tell_place(side)[language]}")
        if _is_own(race.first) and _is_own(race.second):
            lines.append(f"  {race.missing[language]}")  # else it would name a line of the test
    return "\n".join(lines)


def _draw_waits(seen: Watch, language: str) -> str:
    counts = Counter((sync.site, sync.call) for sync in seen.syncs)
    lines = []
    for (site, call), count in counts.most_common(MOST_SHOWN):
        place = f"{PurePath(site.file).name}:{site.line}"
        lines.append(text("wait_line", count=count, place=place, call=call)[language])
    return "\n".join(lines)


def _tell_place(touch: Touch) -> Text:
    if _is_own(touch):
        return text("your_line", line=touch.site.line)
    return text("the_caller" if touch.stream == HOST else "the_test")
