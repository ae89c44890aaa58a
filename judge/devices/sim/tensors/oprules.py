"""What is known of each op before it runs: its schema, how it launches, when it makes the host wait. (torch)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from judge.devices.sim.graphs.libraries import BLAS
from judge.devices.sim.tensors import demand, products
from judge.devices.sim.tensors.values import Arguments, Keywords, Value
from judge.devices.sim.tensors.waits import WAITS, Wait

aten = torch.ops.aten

Op = Any
"""An ``OpOverload``; torch gives it no type that is of use here."""
Handler = Callable[[Any, "Rule", Op, Arguments, Keywords], Any]
"""Runs one op in its own way: the execution, its rule, the op and its arguments."""

HANDLERS: dict[str, Handler] = {}
"""Handlers by the op's name without namespace and overload; filled by the modules that define them."""


class Slot(NamedTuple):
    """A parameter that takes tensors."""

    position: int
    name: str
    is_list: bool
    is_written: bool


MAKES_NO_KERNEL = frozenset({
    "empty", "empty_strided", "empty_permuted", "empty_like", "new_empty", "new_empty_strided", "set_", "resize_",
    "_reshape_alias", "_has_compatible_shallow_copy_type", "is_same_size", "_fused_sdp_choice",
    "_assert_tensor_metadata",
})  # fmt: skip
"""Ops that leave the device nothing to do."""

READS_NOTHING = frozenset({
    "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like", "new_zeros", "new_ones",
    "new_full", "empty_like", "new_empty", "new_empty_strided",
})  # fmt: skip
"""Ops that look at a tensor's shape only."""

FUSED = frozenset({"silu_backward", "mish_backward", "_fused_rms_norm"})
"""Composites that are one kernel on CUDA: all for which it registers one.

Source: the dispatcher's table of the CUDA wheels of torch 2.11 and 2.14.
"""

OWN_NAMESPACES = ("aten", "prim", "prims", "inductor", "profiler")
"""Of ops whose kernels are torch's own C++ code."""

FILL_VALUE = object()
"""In :data:`FILLS`: the value is an argument."""

FILLS: dict[str, object] = {
    **dict.fromkeys(("zeros", "zeros_like", "new_zeros", "empty", "empty_strided", "empty_like"), 0),
    **dict.fromkeys(("new_empty", "new_empty_strided", "empty_permuted"), 0),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), 1),
    **dict.fromkeys(("full", "full_like", "new_full"), FILL_VALUE),
}
"""Factories that need nothing from the host, with what they write into all elements."""

ATOMIC = frozenset({"index_add_", "scatter_add_", "scatter_reduce_", "index_reduce_"})
"""In-place ops that add to their target by atomic updates, which don't race with one another."""

PICKS = frozenset({"index", "gather", "index_select", "embedding", "take", "masked_select"})
"""Ops that read of their first tensor no more than they return."""

SCATTERS = frozenset({
    "index_put_", "_index_put_impl_", "scatter_", "scatter_add_", "scatter_reduce_", "index_copy_", "index_add_",
    "index_reduce_",
})  # fmt: skip
"""Ops that write of their target no more than they are given."""

USES_MATRIX_LIBRARY = frozenset({"mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "dot", "vdot", "_scaled_mm", "addbmm"})

ACCEPTS_HOST_TENSORS = frozenset({
    "copy_", "_to_copy", "index", "index_put_", "_index_put_impl_", "index_put", "set_", "_foreach_copy_",
    "_amp_foreach_non_finite_check_and_unscale_", "_pack_padded_sequence",
    "_pack_padded_sequence_backward",
})  # fmt: skip
"""Ops that take tensors of the host beside those of the device."""

_WITH_GENERATOR: dict[Op, Op] = {}
for _name in ("rand", "randn", "randperm", "rand_like", "randn_like"):
    _packet: Op = getattr(aten, _name)
    if "generator" in _packet.overloads():
        _WITH_GENERATOR[_packet.default] = _packet.generator
_WITH_GENERATOR[aten.randint.default] = aten.randint.generator
_WITH_GENERATOR[aten.randint.low] = aten.randint.low_generator
if hasattr(aten.randint_like, "generator"):
    _WITH_GENERATOR[aten.randint_like.default] = aten.randint_like.generator
if hasattr(aten.randint_like, "low_generator_dtype"):
    _WITH_GENERATOR[aten.randint_like.low_dtype] = aten.randint_like.low_generator_dtype


class Rule:
    """All that is known of one op.

    Args:
        op: the overload.
    """

    __slots__ = (
        "accepts_host", "assess", "compute", "draws", "draws_with", "fill", "handler", "has_device",
        "has_generator", "is_atomic", "is_composite", "is_foreign", "is_pointwise", "is_product",
        "kernel", "makes_kernel", "name", "op", "overload", "picks", "reads_nothing", "scatters", "slots", "uses_blas",
        "uses_libraries", "wait", "wrapper",
    )  # fmt: skip

    def __init__(self, op: Op) -> None:
        schema = op._schema
        self.op = op
        self.compute = op._op if type(op) is torch._ops.OpOverload else op
        """Does what the op does, without the call between."""
        namespace, _, self.name = schema.name.partition("::")
        self.overload = schema.overload_name
        self.kernel = self.name.replace("_for_cpu", "")
        """How reports and the cost model call it."""
        self.is_foreign = namespace not in OWN_NAMESPACES
        slots = [
            Slot(index, argument.name, "List" in str(argument.type), _is_written(argument))
            for index, argument in enumerate(schema.arguments)
            if "Tensor" in str(argument.type)
        ]
        self.slots = tuple(slots)
        """Parameters that take tensors, in order; keyword-only ones too, whose index no positional argument reaches."""
        names = {argument.name for argument in schema.arguments}
        self.has_device = "device" in names
        self.has_generator = "generator" in names
        is_implicit = torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd")
        self.is_composite = is_implicit and self.name not in FUSED
        self.handler = HANDLERS.get(self.name)
        self.wait: Wait | None = WAITS.get(self.name)
        self.assess = demand.find(op, self.name)
        """Tells what a call demands beside memory traffic."""
        self.draws = self.has_generator or op in _WITH_GENERATOR
        self.draws_with: Op | None = _WITH_GENERATOR.get(op)
        """The same op with a generator, where the plain one takes none."""
        self.makes_kernel = self.name not in MAKES_NO_KERNEL
        self.reads_nothing = self.name in READS_NOTHING
        self.fill = FILLS.get(self.name) if "out" not in {a.name for a in schema.arguments} else None
        self.is_atomic = self.name in ATOMIC
        self.picks = self.name in PICKS
        self.scatters = self.name in SCATTERS
        self.uses_libraries = self.name in USES_MATRIX_LIBRARY or "linalg_" in self.name
        self.is_product = self.name in products.NAMES
        self.uses_blas = self.name.removesuffix("_") in BLAS
        self.accepts_host = self.name in ACCEPTS_HOST_TENSORS
        self.is_pointwise = torch.Tag.pointwise in op.tags
        self.wrapper = _name_wrapper(self.name, schema.overload_name)
        """How the error about two devices calls the op."""


_NOT_STRUCTURED = frozenset({
    "index_select", "embedding", "native_layer_norm", "convolution", "nll_loss_forward", "masked_select",
    "native_batch_norm", "embedding_dense_backward", "take", "masked_scatter_",
})  # fmt: skip


def _name_wrapper(name: str, overload: str) -> str:
    """Return what follows ``wrapper_CUDA_`` in the name of the generated kernel wrapper."""
    if name in _NOT_STRUCTURED:
        return f"_{name}"
    return f"{overload}_{name}" if overload and overload != "out" else name


def _is_written(argument: Value) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


class Rules(dict[Op, Rule]):
    """Rules by op, made at first use."""

    def __missing__(self, op: Op) -> Rule:
        rule = self[op] = Rule(op)
        return rule
