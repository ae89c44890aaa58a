"""Whether the simulation knows this version of torch: it leans on names that torch promises nobody. (torch)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge.devices.sim.install import Simulation

KNOWN = ("2.11", "2.12", "2.13", "2.14")
"""Versions under which the tests of the simulation run."""

NEEDED = (
    "_C._DisableTorchDispatch", "_C._ForceDispatchKeyGuard", "_C._autograd._get_sequence_nr",
    "_C._construct_storage_from_data_pointer", "_C._current_autograd_node", "_C._current_graph_task_id",
    "_C._dispatch_has_kernel_for_dispatch_key", "_C._dispatch_tls_local_exclude_set",
    "_C._dispatch_tls_local_include_set", "_C._get_cudnn_sdp_enabled", "_C._get_deterministic_algorithms_warn_only",
    "_C._get_flash_sdp_enabled", "_C._get_math_sdp_enabled", "_C._get_mem_efficient_sdp_enabled",
    "_C._get_sdp_priority_order", "_C._group_tensors_by_device_and_dtype", "_C._pop_torch_dispatch_stack",
    "_C._push_on_torch_dispatch_stack", "_tensor_str._str", "_tensor_str._str_intern",
    "amp.autocast_mode.autocast.__enter__", "autograd._engine_run_backward", "autograd.graph._engine_run_backward",
    "ops.aten._fused_rms_norm", "overrides._get_current_function_mode_stack", "serialization._package_registry",
    "utils.flop_counter.flop_registry",
)  # fmt: skip
"""Names below ``torch`` without which nothing works; surfaces look after the rest themselves."""


class UnknownTorch(RuntimeError):
    """This version of torch is not as the simulation expects it.

    Args:
        fault: what is missing or wrong.
    """

    def __init__(self, fault: str) -> None:
        super().__init__(
            f"torch {torch.__version__} is not a version that the simulated device works with: {fault}. "
            f"It is tested with {', '.join(KNOWN)}."
        )


def check_names() -> None:
    """Check that torch has what the simulation replaces or calls.

    Raises:
        UnknownTorch: names are missing.
    """
    missing = [name for name in NEEDED if not _exists(name)]
    if missing:
        raise UnknownTorch(f"it lacks {', '.join('torch.' + name for name in missing)}")


def is_known() -> bool:
    """Return whether this version is one of those that are tested."""
    return ".".join(torch.__version__.split(".")[:2]) in KNOWN


def check_behaviour(simulation: Simulation) -> None:
    """Check on a device that has just been installed, and is thrown away afterwards, that ops end where they should.

    Raises:
        UnknownTorch: one of them did not.
    """
    for name, check in _CHECKS.items():
        try:
            is_right = check(simulation)
        except Exception as error:
            raise UnknownTorch(f"the check {name!r} failed: {error}") from error
        if not is_right:
            raise UnknownTorch(f"the check {name!r} failed")


def _exists(name: str) -> bool:
    value: Any = torch
    for part in name.split("."):
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def _compute(_: Simulation) -> bool:
    tensor = torch.ones(3, device="cuda") + 1
    return tensor.is_cuda and tensor.sum().item() == 6.0


def _share(_: Simulation) -> bool:
    base = torch.zeros(4, device="cuda")
    base[1:3].add_(1)
    return base.tolist() == [0.0, 1.0, 1.0, 0.0]


def _free(simulation: Simulation) -> bool:
    before = simulation.machine.memory.allocator.memory_allocated()
    tensor = torch.empty(1000, device="cuda")
    held = simulation.machine.memory.allocator.memory_allocated()
    del tensor
    return bool(held > before == simulation.machine.memory.allocator.memory_allocated())


def _differentiate(_: Simulation) -> bool:
    leaf = torch.ones(2, device="cuda", requires_grad=True)
    loss: Any = (leaf * leaf).sum()
    loss.backward()
    return leaf.grad is not None and leaf.grad.is_cuda and leaf.grad.tolist() == [2.0, 2.0]


def _infer(_: Simulation) -> bool:
    with torch.inference_mode():
        made = torch.nn.functional.linear(torch.ones(1, 2, device="cuda"), torch.ones(3, 2, device="cuda"))
    return made.is_cuda and made.tolist() == [[2.0, 2.0, 2.0]]


def _fuse(simulation: Simulation) -> bool:
    """Attention and a norm in half precision, with gradients: one launch each way, beside the one that makes ones."""
    functional: Any = torch.nn.functional
    before = simulation.machine.launches
    query = torch.ones(1, 1, 2, 8, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    mixed: Any = functional.scaled_dot_product_attention(
        functional.rms_norm(query, (8,)), query.detach(), query.detach()
    )
    mixed.backward(query.detach())
    return bool(simulation.machine.launches == before + 5) and mixed.tolist() == query.tolist()


def _decide(_: Simulation) -> bool:
    return torch.cov(torch.eye(3, device="cuda")).is_cuda and not torch.cov(torch.eye(3)).is_cuda


def _wait(simulation: Simulation) -> bool:
    before = len(simulation.machine.ledger.waits)
    torch.ones(2, device="cuda").cpu()
    return len(simulation.machine.ledger.waits) == before + 1


_CHECKS: dict[str, Callable[[Simulation], bool]] = {
    "ops compute": _compute,
    "views share": _share,
    "memory is freed": _free,
    "gradients arrive": _differentiate,
    "inference mode": _infer,
    "composites are fused": _fuse,
    "composites know their side": _decide,
    "waits are seen": _wait,
}
