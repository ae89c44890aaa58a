"""Waits of the host inside ops, in the user's words. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge.devices.sim.ledger import ERROR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge.devices.sim.machine import Machine
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.streams import Stream
    from judge.devices.sim.tensors.context import Context
    from judge.devices.sim.tensors.oprules import Rule
    from judge.devices.sim.tensors.values import Arguments, Keywords


class HostWaits:
    """Lets the host wait, or refuses to.

    Args:
        machine: the device.
        context: what the surface knows of the call.
    """

    def __init__(self, machine: Machine, context: Context) -> None:
        self._machine = machine
        self._context = context

    def wait(self, stream: Stream, kind: str, call: str, *, is_seen_by_debug_mode: bool = True) -> None:
        """Let the host wait for a stream in the user's name.

        Args:
            stream: what is waited for.
            kind: sort of the wait, for the ledger.
            call: what the user wrote, unless the surface knows better.
            is_seen_by_debug_mode: whether sync debug mode speaks up first.

        Synchronises: yes.
        """
        self._machine.synchronize_stream(
            stream, kind=kind, call=self._context.call or call, is_seen_by_debug_mode=is_seen_by_debug_mode
        )

    def refuse(self, kind: str, call: str, *, is_seen_by_debug_mode: bool = True) -> None:
        """Raise what a wait would raise now, before anything takes effect; otherwise do nothing.

        Raises:
            RuntimeError: sync debug mode is ``error``, or the stream is being captured.
        """
        machine = self._machine
        stream = machine.current
        if (is_seen_by_debug_mode and machine.ledger.debug_mode == ERROR) or stream.capture is not None:
            self.wait(stream, kind, call, is_seen_by_debug_mode=is_seen_by_debug_mode)

    def wait_inside(self, rule: Rule, args: Arguments, kwargs: Keywords, reads: Sequence[Access]) -> None:
        """Let the host wait for an op's first kernels, as often as CUDA's version does."""
        wait = rule.wait
        if wait is None or not (count := wait.count_for(args, kwargs)):
            return
        is_seen = wait.is_seen_by_debug_mode
        self.refuse(wait.kind, wait.call, is_seen_by_debug_mode=is_seen)
        machine = self._machine
        read_bytes = sum([access.high - access.low for access in reads])
        machine.launch(machine.cost.kernel(rule.kernel, read_bytes=read_bytes), reads, ())
        for _ in range(count):
            self.wait(machine.current, wait.kind, wait.call, is_seen_by_debug_mode=is_seen)
