"""One op on the simulated device: the CPU's numbers, the device's memory, order and time. (torch)"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.graphs.frozen import freeze_call
from judge.devices.sim.ledger import ERROR
from judge.devices.sim.storages import new_tensor
from judge.devices.sim.tensors import factories, faults
from judge.devices.sim.tensors.accesses import access_of
from judge.devices.sim.tensors.demand import NOTHING
from judge.devices.sim.tensors.generators import DeviceGenerator, draw, find_generator, find_known
from judge.devices.sim.tensors.membership import Ranges, is_device
from judge.devices.sim.tensors.operands import Operands, scan
from judge.devices.sim.tensors.oprules import FILL_VALUE, Op, Rule, Rules
from judge.devices.sim.tensors.placement import place, place_nested, rerun
from judge.devices.sim.tensors.uploads import Uploads
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

if TYPE_CHECKING:
    from judge.devices.sim.cost import NumberClass
    from judge.devices.sim.machine import Machine
    from judge.devices.sim.races.geometry import Access
    from judge.devices.sim.streams import Stream
    from judge.devices.sim.tensors.context import Context
    from judge.devices.sim.tensors.undecided import Undecided

Tensor = torch.Tensor

_CLASSES: dict[torch.dtype, NumberClass] = {
    torch.float64: "f64",
    torch.complex128: "f64",
    torch.float32: "f32",
    torch.complex64: "f32",
    torch.float16: "f16",
    torch.bfloat16: "f16",
}
_HOST = torch.device("cpu")
_META = torch.device("meta")
_fill = torch.ops.aten.fill_.Scalar
_numel = torch._C.TensorBase.numel
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
        self.uploads = Uploads(machine)
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
                return self._fill(rule, op, args, kwargs)
            if "device" in kwargs:
                kwargs = {**kwargs, "device": _HOST}
        elif not operands.is_any_device:
            return factories.run_on_host(self, rule, op, args, kwargs, operands)
        if operands.others:
            self._settle_others(rule, operands)
        return self._run_on_device(rule, op, args, kwargs, operands)

    def _run_on_device(self, rule: Rule, op: Op, args: Arguments, kwargs: Keywords, operands: Operands) -> Value:
        machine = self.machine
        if rule.has_generator or rule.draws_with is not None:
            op, kwargs = self._give_generator(rule, op, args, kwargs)
        if rule.uses_libraries:
            machine.libraries.prepare(rule.name, machine.current)
        reads = [] if rule.reads_nothing else _accesses(operands.read)
        if rule.wait is not None:
            self._wait_inside(rule, args, kwargs, reads)
        writes: list[Access] = []
        if operands.written:
            writes = _accesses(operands.written)
            if rule.is_atomic:
                writes = [access._replace(is_atomic=True) for access in writes]
            machine.preserve(writes)
        return self.finish(rule, op, args, kwargs, reads, writes)

    def finish(
        self,
        rule: Rule,
        op: Op,
        args: Arguments,
        kwargs: Keywords,
        reads: list[Access],
        writes: Sequence[Access] = (),
    ) -> Value:
        """Compute, place what is new, and launch.

        Args:
            rule: of the op.
            op: what computes, on bytes of the device as on the host's.
            args: its positional arguments.
            kwargs: its keyword arguments.
            reads: the bytes that it reads.
            writes: the bytes that it changes in place; they have been preserved.
        """
        writes = list(writes)
        is_new = bool(writes)
        try:
            result = op(*args, **kwargs)
        except (RuntimeError, IndexError) as error:
            result, writes = faults.answer(self, rule, op, args, kwargs, error)
            is_new = True
        if isinstance(result, Tensor):
            result, is_fresh = self._settle_result(rule, result, writes)
        elif type(result) in (list, tuple):
            parts = [self._settle_result(rule, p, writes) if isinstance(p, Tensor) else (p, True) for p in result]
            result, is_fresh = type(result)([part for part, _ in parts]), any(fresh for _, fresh in parts)
        else:
            is_fresh = rule.wait is None
        if (is_fresh or is_new) and rule.makes_kernel:
            self._launch(rule, op, args, kwargs, result, reads, writes)
        else:
            self.machine.clock.host_us += self.machine.profile.host.view_us
        return result

    # Waits

    def wait_for(self, stream: Stream, kind: str, call: str, *, is_seen_by_debug_mode: bool = True) -> None:
        """Let the host wait for a stream in the user's name.

        Args:
            stream: what is waited for.
            kind: sort of the wait, for the ledger.
            call: what the user wrote, unless the surface knows better.
            is_seen_by_debug_mode: whether sync debug mode speaks up first.

        Synchronises: yes.
        """
        self.machine.synchronize_stream(
            stream, kind=kind, call=self.context.call or call, is_seen_by_debug_mode=is_seen_by_debug_mode
        )

    def refuse_wait(self, kind: str, call: str, *, is_seen_by_debug_mode: bool = True) -> None:
        """Raise what a wait would raise now, before anything takes effect; otherwise do nothing.

        Raises:
            RuntimeError: sync debug mode is ``error``, or the stream is being captured.
        """
        machine = self.machine
        is_error = is_seen_by_debug_mode and machine.ledger.debug_mode == ERROR
        if is_error or machine.current.capture is not None:
            self.wait_for(machine.current, kind, call, is_seen_by_debug_mode=is_seen_by_debug_mode)

    def _wait_inside(self, rule: Rule, args: Arguments, kwargs: Keywords, reads: list[Access]) -> None:
        """Let the host wait for an op's first kernels, as often as CUDA's version does."""
        wait = rule.wait
        if wait is None or not (count := wait.count_for(args, kwargs)):
            return
        is_seen = wait.is_seen_by_debug_mode
        self.refuse_wait(wait.kind, wait.call, is_seen_by_debug_mode=is_seen)
        machine = self.machine
        machine.launch(machine.cost.kernel(rule.kernel, read_bytes=_span(reads)), reads, ())
        for _ in range(count):
            self.wait_for(machine.current, wait.kind, wait.call, is_seen_by_debug_mode=is_seen)

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
            torch.cuda._lazy_init()

    # Parts of an op on the device

    def _fill(self, rule: Rule, op: Op, args: Arguments, kwargs: Keywords) -> Tensor:
        """Make a tensor straight in device memory: one value in all elements, or what the last owner left there."""
        shape = op(*args, **{**kwargs, "device": _META})
        machine = self.machine
        tensor = new_tensor(machine, shape.size(), shape.stride(), shape.dtype)
        if not rule.makes_kernel:
            machine.clock.host_us += machine.profile.host.view_us
            return tensor
        access = self.preserve(tensor)
        value = rule.fill if rule.fill is not FILL_VALUE else kwargs.get("fill_value", args[-1])
        _fill(tensor, value)
        writes = [] if access is None else [access]
        self._launch(rule, _fill, (tensor, value), {}, tensor, [], writes)
        return tensor

    def _settle_others(self, rule: Rule, operands: Operands) -> None:
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
            known = find_known(generator)
            if known is None:
                raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
        self.machine.randomness.check_draw(self.machine.current, known)
        return partial(draw, op, known), kwargs

    def _settle_result(self, rule: Rule, tensor: Tensor, writes: list[Access]) -> tuple[Tensor, bool]:
        """Move what an op made afresh to the device; return it and whether it was."""
        if is_device(tensor):
            return tensor, False
        if tensor.layout is not torch.strided:
            raise NotSimulated(f"torch.{rule.name}", "sparse and jagged tensors of the device are not simulated")
        placed, access = (place_nested if tensor.is_nested else place)(self.machine, tensor)
        if access is not None:
            writes.append(access)
        return placed, True

    def _launch(
        self,
        rule: Rule,
        op: Op,
        args: Arguments,
        kwargs: Keywords,
        result: Value,
        reads: list[Access],
        writes: list[Access],
    ) -> None:
        machine = self.machine
        first = _find_tensor(args)
        made = result if isinstance(result, Tensor) else first
        demand = NOTHING if rule.assess is None else rule.assess(args, kwargs, result)
        work = machine.cost.kernel(
            rule.kernel,
            flops=demand.flops,
            read_bytes=_span(reads),
            written_bytes=_span(writes),
            dtype_class="i" if made is None else _CLASSES.get(made.dtype, "i"),
            elements=max(0 if first is None else _numel(first), 0 if made is None else _numel(made)),
            row=demand.row,
            matrices=demand.matrices,
        )
        stream = machine.current
        redo: Value = None
        if stream.capture is not None:
            redo = freeze_call(op, args, kwargs, result)
        elif machine.second_look is not None:
            redo = partial(rerun, op, args, kwargs, result)
        machine.launch(work, reads, writes, stream=stream, redo=redo)


def _accesses(tensors: list[Tensor]) -> list[Access]:
    return [access for tensor in tensors if (access := access_of(tensor)) is not None]


def _span(accesses: list[Access]) -> int:
    return sum([access.high - access.low for access in accesses])


def _find_tensor(args: Arguments) -> Tensor | None:
    for value in args:
        if isinstance(value, Tensor):
            return value
        if type(value) in (list, tuple) and value and isinstance(value[0], Tensor):
            return value[0]
    return None
