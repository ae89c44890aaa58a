"""``torch.autocast("cuda")``: CUDA's choice of dtypes, made for tensors that look like the host's. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.amp.autocast_mode import autocast

from judge.devices.sim.tensors.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation
    from judge.devices.sim.patches import Patches

KEY = "AutocastCPU"
"""The dispatch key that our tensors bring along; its own lists differ from CUDA's."""

TO_FLOAT32 = (
    "acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt", "sinh",
    "tan", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "softplus", "layer_norm", "native_layer_norm",
    "group_norm", "cosine_similarity", "poisson_nll_loss", "nll_loss", "nll_loss2d", "kl_div", "l1_loss", "cdist",
    "smooth_l1_loss", "huber_loss", "margin_ranking_loss", "triplet_margin_loss", "multi_margin_loss", "dist", "renorm",
    "binary_cross_entropy_with_logits", "logsumexp", "norm.Scalar", "norm.ScalarOpt_dim", "rms_norm",
)  # fmt: skip
"""Ops that compute in float32 whatever they are given."""

TO_FLOAT32_RESULT = (
    "softmax.int", "log_softmax.int", "cumsum", "cumprod", "linalg_vector_norm", "linalg_matrix_norm", "sum",
    "sum.dim_IntList", "prod", "prod.dim_int",
)  # fmt: skip
"""Ops whose ``dtype`` is float32 unless the user gives one."""

TO_LOWER = ("prelu", "addmv", "addr", "mv")
"""Ops that compute in the dtype of the region, beside those of the host's own list."""

# Source of the lists: aten/src/ATen/autocast_mode.h, torch 2.13.

_registry: Value = torch.library
_REDUCED = (torch.float16, torch.bfloat16)
_ELIGIBLE = (*_REDUCED, torch.float32)


def install(simulation: Simulation, patches: Patches) -> None:  # noqa: ARG001  # as every surface
    """Let regions for CUDA act on our tensors."""
    libraries: list[Value] = []

    def make_enter(stock: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def enter(self: Value) -> Value:
            if self.device == "cuda":
                if not libraries:
                    libraries.append(_register_lists())
                self._host_state = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
                torch.set_autocast_enabled("cpu", self._enabled)
                torch.set_autocast_dtype("cpu", self.fast_dtype)
            return stock(self)

        return enter

    def make_exit(stock: Callable[..., Any]) -> Callable[..., Any]:
        def leave(self: Value, *exception: Value) -> Value:
            result = stock(self, *exception)
            if self.device == "cuda":
                is_enabled, dtype = self._host_state
                torch.set_autocast_enabled("cpu", is_enabled)
                torch.set_autocast_dtype("cpu", dtype)
            return result

        return leave

    patches.wrap(autocast, "__enter__", make_enter)
    patches.wrap(autocast, "__exit__", make_exit)
    patches.add_undo(lambda: _destroy(libraries))


def _destroy(libraries: list[Value]) -> None:
    for library in libraries:
        library._destroy()


def _register_lists() -> Value:
    """Teach the host's autocast key the ops that only CUDA's has."""
    library: Value = _registry.Library("aten", "IMPL")
    for names, make in (
        (TO_FLOAT32, _make_float32),
        (TO_FLOAT32_RESULT, _make_float32_result),
        (TO_LOWER, _make_lower),
    ):
        for name in names:
            op = _find_op(name)
            if op is not None and not torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), KEY):
                library.impl(name, make(op), KEY)
    return library


def _find_op(name: str) -> Value:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)


def outside() -> Value:
    """Return a context in which a region for CUDA does not act."""
    return torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, KEY)))


def cast(value: Value, dtype: torch.dtype) -> Value:
    """Return a value with its tensors in another floating type, lists and tuples looked into."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.dtype in _ELIGIBLE and value.dtype is not dtype else value
    if type(value) in (list, tuple):
        return type(value)(cast(part, dtype) for part in value)
    return value


def _make_float32(op: Value) -> Callable[..., Any]:
    def run(*args: Value, **kwargs: Value) -> Value:
        is_cuda = torch.is_autocast_enabled("cuda")
        with outside():
            if is_cuda:
                args = tuple(cast(value, torch.float32) for value in args)
                kwargs = {name: cast(value, torch.float32) for name, value in kwargs.items()}
            return op(*args, **kwargs)

    return run


def _make_float32_result(op: Value) -> Callable[..., Any]:
    names = [argument.name for argument in op._schema.arguments]
    place = names.index("dtype")

    def run(*args: Value, **kwargs: Value) -> Value:
        is_cuda = torch.is_autocast_enabled("cuda")
        with outside():
            has_dtype = kwargs.get("dtype") is not None or (len(args) > place and args[place] is not None)
            if is_cuda and not has_dtype and args[0].dtype in _REDUCED:
                kwargs = {**kwargs, "dtype": torch.float32}
                args = args[:place]
            return op(*args, **kwargs)

    return run


def _make_lower(op: Value) -> Callable[..., Any]:
    def run(*args: Value, **kwargs: Value) -> Value:
        is_cuda = torch.is_autocast_enabled("cuda")
        with outside():
            if is_cuda:
                dtype = torch.get_autocast_dtype("cuda")
                args = tuple(cast(value, dtype) for value in args)
            return op(*args, **kwargs)

    return run
