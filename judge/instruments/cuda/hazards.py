"""Races on a real GPU: PyTorch's CUDA sanitizer, which collects here, and a lifetime check of our own. (torch)

The sanitizer sees missing waits between streams. It forgets a tensor when it is freed, so that memory reused
without ``record_stream`` is invisible to it; that is what the lifetime check is for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from traceback import StackSummary
from typing import Any

import torch
from torch.cuda import _sanitizer

from judge.devices.sim.sites import Site, find_site
from judge.instruments.cuda.frames import find_site_in
from judge.instruments.observation import Race, Touch
from judge.locale import pair

MAX_RACES = 200
PLAIN = (torch.Tensor, torch.nn.Parameter)


@dataclass(slots=True)
class Life:
    """One allocation and who uses it."""

    stream: int
    """Handle of the stream that was current at its allocation."""
    uses: dict[int, tuple[int, str, Site]] = field(default_factory=dict)
    """By the handle of a stream: the number of its last use, the operator and the line."""
    recorded: set[int] = field(default_factory=set)
    """Streams that ``record_stream`` was told of."""


class Hazards:
    """Collects races from ``start`` to ``stop``."""

    def __init__(self) -> None:
        self.races: list[Race] = []
        self._seen: set[tuple[Any, ...]] = set()
        self._lives: dict[int, Life] = {}
        self._is_on = False
        self._sanitizer = _sanitizer.cuda_sanitizer
        self._handler = self._sanitizer.dispatch.event_handler
        self._replace()

    def start(self) -> None:
        """Begin; what ran before is taken to be ordered."""
        torch.cuda.synchronize()
        self._handler.syncs.sync_all_streams()
        self.races = []
        self._seen = set()
        self._is_on = True
        self._sanitizer.enable()  # type: ignore[no-untyped-call]

    def stop(self) -> None:
        """End; the sanitizer's hooks stay, and find nothing to do."""
        self._sanitizer.disable()  # type: ignore[no-untyped-call]
        self._is_on = False
        self._lives.clear()

    def note_use(self, tensor: torch.Tensor, stream: int, op: str, site: Site) -> None:
        """Note that work on a stream uses a tensor's memory; what only stands for a tensor has none."""
        if type(tensor) not in PLAIN:
            return
        address = tensor.untyped_storage().data_ptr()
        life = self._lives.get(address)
        if life is not None:
            life.uses[stream] = (self._handler.seq_num, op, site)

    def note_record(self, tensor: torch.Tensor, stream: int) -> None:
        """Note that ``record_stream`` was told of a stream."""
        life = self._lives.get(tensor.untyped_storage().data_ptr())
        if life is not None:
            life.recorded.add(stream)

    def _replace(self) -> None:
        """Take the place of the sanitizer's own answers: it would raise in the middle of the script."""
        handler, tensors = self._handler, self._handler.tensors_accessed
        launch, create, delete = handler._handle_kernel_launch, tensors.create_tensor, tensors.delete_tensor

        def collect(*args: Any) -> list[Any]:  # noqa: ANN401  # passed on as they are
            for error in launch(*args):
                self._note_error(error)
            return []

        def begin(address: int, stack: StackSummary | None) -> None:
            create(address, stack)
            # Without a stack it is a pointer that the sanitizer meets for the first time, and no allocation.
            # Memory of a graph's pool is never given to eager work, so no use can outlive its ownership.
            if self._is_on and stack is not None and not torch.cuda.is_current_stream_capturing():
                self._lives[address] = Life(torch.cuda.current_stream().cuda_stream)

        def end(address: int) -> None:
            if self._is_on:
                self._check_end(address)
            delete(address)

        handler._handle_kernel_launch = collect  # type: ignore[method-assign, assignment]  # PyTorch offers no hook
        tensors.create_tensor = begin  # type: ignore[method-assign, assignment]
        tensors.delete_tensor = end  # type: ignore[method-assign, assignment]

    def _check_end(self, address: int) -> None:
        """Report uses by other streams that nothing orders before the block's next owner."""
        life = self._lives.pop(address, None)
        if life is None:
            return
        for stream, (number, op, site) in life.uses.items():
            if stream == life.stream or stream in life.recorded:
                continue
            if not self._handler.syncs.is_ordered_after(life.stream, number, stream):
                user, owner = name_stream(stream), name_stream(life.stream)
                values = {"user": user, "owner": owner}
                self._add(
                    Race(
                        "unordered-block",
                        Touch(op, site, user),
                        Touch("free", find_site(), owner),
                        pair("inspection.missing_record", **values),
                        pair("inspection.advice_record", stream=user),
                    )
                )

    def _note_error(self, error: object) -> None:
        if not isinstance(error, _sanitizer.UnsynchronizedAccessError):
            return
        first, second = error.previous_access, error.current_access
        kind = "write-after-" if second.type is _sanitizer.AccessType.WRITE else "read-after-"
        kind += "write" if first.type is _sanitizer.AccessType.WRITE else "read"
        before, after = name_stream(first.stream), name_stream(second.stream)
        site = find_site_in(second.stack_trace)
        self._add(
            Race(
                kind,
                Touch(_name_op(first.operator), find_site_in(first.stack_trace), before),
                Touch(_name_op(second.operator), site, after),
                pair("inspection.missing_wait", before=before, after=after),
                pair("inspection.advice_wait", before=before, after=after, line=site.line),
            )
        )

    def _add(self, race: Race) -> None:
        key = (race.kind, race.first.site, race.second.site)
        if key not in self._seen and len(self.races) < MAX_RACES:
            self._seen.add(key)
            self.races.append(race)


def name_stream(handle: int) -> str:
    """Return how reports call a stream, by its handle."""
    return "default" if handle == 0 else f"stream {handle:#x}"


def _name_op(schema: object) -> str:
    return str(getattr(schema, "name", schema)).partition("::")[2] or str(schema)
