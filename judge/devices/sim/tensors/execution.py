"""One op on the simulated device: the CPU's numbers, the device's memory, order and time. (torch)"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.sites import find_site
from judge.devices.sim.tensors import factories, faults, products
from judge.devices.sim.tensors.accesses import access_of, find_accesses
from judge.devices.sim.tensors.generators import DeviceGenerator, draw, find_generator, find_known
from judge.devices.sim.tensors.hostwaits import HostWaits
from judge.devices.sim.tensors.launching import launch
from judge.devices.sim.tensors.membership import Ranges, find_address, is_device
from judge.devices.sim.tensors.operands import Operands, scan
from judge.devices.sim.tensors.oprules import Op, Rule, Rules
from judge.devices.sim.tensors.placement import place, place_nested
from judge.devices.sim.tensors.uploads import Uploads
from judge.devices.sim.tensors.values import Arguments, Keywords, Value
from judge.devices.sim.tensors.workspaces import Workspaces

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.sites import Site
    from judge.devices.sim.streams import Stream
    from judge.devices.sim.tensors.context import Context
    from judge.devices.sim.tensors.undecided import Undecided

Tensor = torch.Tensor

_HOST = torch.device("cpu")
_STRIDED = torch.strided
_OWN_FRAMES = 3
"""From ``finish`` on, at least so many frames are ours: who calls it is called by the mode."""
_untyped_storage = torch._C.TensorBase.untyped_storage


class Execution:
    """Runs ops for one installation.

    Args:
        machine: the device.
        context: what the surface knows of the call.
        undecided: memory for tensors that may turn out to be the host's.
    """

    def __init__(self, machine: Machine, context: Context, undecided: Undecided) -> None:
        self.machine = machine
        self.context = context
        self.undecided = undecided
        self.waits = HostWaits(machine, context)
        self.uploads = Uploads(machine)
        self.workspaces = Workspaces(machine)
        self.rules = Rules()
        self.default_generator: DeviceGenerator
        """Draws for ops without a generator; set by the surface."""

    def run(self, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Value:
        """Run an op that follows the general rule.

        The CPU's kernel computes. What it made afresh moves into a block of the current stream; what it changed or
        looked at is there already. An op that wrote nothing is a view and costs no kernel.
        """
        operands = scan(rule, args, kwargs)
        if rule.has_device:
            made = factories.run(self, rule, op, args, kwargs, operands)
            if made is not NotImplemented:
                return made
            if rule.fill is not None:
                return factories.fill(self, rule, op, args, kwargs)
            if "device" in kwargs:
                kwargs = {**kwargs, "device": _HOST}
        elif not operands.is_any_device:
            return factories.run_on_host(self, rule, op, args, kwargs, operands)
        if operands.others:
            self.settle_others(rule, operands)
        machine = self.machine
        if rule.draws:
            op, kwargs = self._give_generator(rule, op, args, kwargs)
        if rule.uses_libraries:
            machine.libraries.prepare(rule.name, machine.current)
        if rule.wait is not None:
            self.waits.wait_inside(rule, args, kwargs, find_accesses(operands.read))
        writes: list[Access] = []
        if operands.written:
            writes = find_accesses(operands.written)
            if rule.is_atomic:
                writes = [access._replace(is_atomic=True) for access in writes]
            machine.preserve(writes)
        return self.finish(rule, op, args, kwargs, () if rule.reads_nothing else operands.read, writes)

    def finish(
        self, rule: Rule, op: Op, args: Arguments, kwargs: Keywords, read: Sequence[Tensor], writes: list[Access]
    ) -> Value:
        """Compute, place what is new, and launch.

        Args:
            rule: of the op.
            op: what computes, on bytes of the device as on the host's.
            args: its positional arguments.
            kwargs: its keyword arguments.
            read: the tensors of the device that it reads.
            writes: the bytes that it changes in place; they have been preserved.
        """
        machine = self.machine
        stream = machine.current
        is_work = bool(writes)
        site = find_site(_OWN_FRAMES) if is_work else None
        if rule.is_product and products.should_widen(rule, args):
            op = partial(products.compute, rule, op)
        try:
            result = (rule.compute if op is rule.op else op)(*args, **kwargs)
        except (RuntimeError, IndexError) as error:
            result, more = faults.answer(self, rule, op, args, kwargs, error)
            writes = [*writes, *more]
            is_work = True
        if isinstance(result, Tensor):
            if not is_device(result):
                site = site or find_site(_OWN_FRAMES)
                if result.layout is _STRIDED and not result.is_nested:  # _place without its call
                    result, access = place(machine, result, site, stream)
                    if access is not None:
                        writes.append(access)
                else:
                    result = self._place(rule, result, writes, site, stream)
                is_work = True
        elif type(result) in (list, tuple):
            parts = []
            for part in result:
                if isinstance(part, Tensor) and not is_device(part):
                    site = site or find_site(_OWN_FRAMES)
                    part = self._place(rule, part, writes, site, stream)
                    is_work = True
                parts.append(part)
            result = type(result)(parts)
        else:
            is_work = is_work or rule.wait is None
        if is_work and rule.makes_kernel:
            if rule.uses_blas:
                self._provide_workspace(result, stream, site)
            launch(machine, rule, op, args, kwargs, result, find_accesses(read), writes, site, stream)
        else:
            machine.clock.host_us += machine.profile.host.view_us
        return result

    # Ops inside handlers

    def preserve(self, tensor: Tensor) -> Access | None:
        """Announce that a tensor of the device is about to change, and return its bytes."""
        access = access_of(tensor)
        if access is not None:
            self.machine.preserve((access,))
        return access

    def call(self, op: Op, *args: Value, **kwargs: Value) -> Value:
        """Run an op on the device from inside a handler."""
        return self.run(self.rules[op], op, args, kwargs)

    def decide_together(self, first: Tensor, second: Tensor) -> bool | None:
        """Return whether the first of two tensors is on the device and the second on the host.

        Returns:
            ``False`` for the opposite, ``None`` when both are on one side; an undecided one is on the other's.
        """
        is_first, is_second = is_device(first), is_device(second)
        if is_first == is_second:
            return None
        stray = second if is_first else first
        if Ranges.undecided_low <= _untyped_storage(stray).data_ptr() < Ranges.undecided_high:
            self.undecided.decide(stray)
            return None
        return is_first

    def decide_result(self, result: Value) -> Value:
        """Take what an op made without a word about the device for the device's."""
        for tensor in result if type(result) in (list, tuple) else (result,):
            if isinstance(tensor, Tensor) and tensor.layout is torch.strided:
                address = _untyped_storage(tensor).data_ptr()
                if Ranges.undecided_low <= address < Ranges.undecided_high:
                    self.undecided.decide(tensor)
        return result

    def claim(self, rule: Rule, result: Value, args: Arguments, kwargs: Keywords) -> Value:
        """Take what a composite made without a word about the device for the device's, if its arguments are there."""
        if type(result) not in (list, tuple) and not isinstance(result, Tensor):
            return result
        for tensor in (result,) if isinstance(result, Tensor) else result:
            if isinstance(tensor, Tensor) and Ranges.undecided_low <= find_address(tensor) < Ranges.undecided_high:
                return self.decide_result(result) if scan(rule, args, kwargs).is_any_device else result
        return result

    def find_block(self, tensor: Tensor) -> int:
        """Return the address of the allocator's block that a tensor of the device lies in; 0 for no bytes."""
        address = _untyped_storage(tensor).data_ptr()
        if Ranges.device_low <= address < Ranges.device_high:
            return 0 if address >= self.machine.memory.arena.null_address else address
        return self.undecided.find_block(tensor)

    def note_host_access(self, tensor: Tensor, name: str, *, is_write: bool) -> None:
        """Take note that the host reads or writes a pinned tensor; copies not yet run send what it wrote."""
        access = access_of(tensor)
        if access is not None:
            self.machine.host_access(access, name, is_write=is_write)
            if is_write:
                self.uploads.repeat(access)

    def initialise(self) -> None:
        """Initialise ``torch.cuda``, as the first use of the device does: seeds that were set before take effect."""
        if not torch.cuda._initialized:
            cuda: Value = torch.cuda
            cuda._lazy_init()

    # Parts of an op on the device

    def settle_others(self, rule: Rule, operands: Operands) -> None:
        """Decide about undecided tensors, and refuse tensors of the host where CUDA does.

        Raises:
            RuntimeError: a tensor is on the host; PyTorch's text.
        """
        for tensor, is_written, name in operands.others:
            address = _untyped_storage(tensor).data_ptr() if tensor.layout is torch.strided else 0
            if Ranges.undecided_low <= address < Ranges.undecided_high:
                self.undecided.decide(tensor)
                (operands.written if is_written else operands.read).append(tensor)
            elif not rule.accepts_host and (is_written or tensor.dim() > 0):
                faults.raise_mismatch(rule, name)
            elif Ranges.pinned_low <= address < Ranges.pinned_high:
                self.note_host_access(tensor, rule.name, is_write=is_written)

    def _give_generator(self, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> tuple[Op, Keywords]:
        """Let random numbers come from the device's generator unless the user gave one."""
        generator = find_generator(args, kwargs)
        if generator is None:
            known = self.default_generator
            kwargs = {**kwargs, "generator": known}
            op = rule.draws_with or op
        else:
            found = find_known(generator)
            if found is None:
                raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
            known = found
        self.machine.randomness.check_draw(self.machine.current, known)
        return partial(draw, op, known), kwargs

    def _provide_workspace(self, result: Value, stream: Stream, site: Site | None) -> None:
        """Give cuBLAS its memory; a product without elements never gets there."""
        if not isinstance(result, Tensor) or result.numel():
            is_backward = self.context.is_device_backward and torch._C._current_graph_task_id() != -1
            self.workspaces.provide(stream, site, is_backward=is_backward)

    def _place(self, rule: Rule, tensor: Tensor, writes: list[Access], site: Site, stream: Stream) -> Tensor:
        """Move a tensor that an op made afresh to the device, and add its bytes to those written."""
        if tensor.layout is not torch.strided:
            raise NotSimulated(f"torch.{rule.name}", "sparse and jagged tensors of the device are not simulated")
        if tensor.is_nested:
            placed, access = place_nested(self.machine, tensor)
        else:
            placed, access = place(self.machine, tensor, site, stream)
        if access is not None:
            writes.append(access)
        return placed
