"""Which ops make the host wait, and how often: as ``torch.cuda.set_sync_debug_mode`` counts on a GPU. (torch)"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

from judge.devices.sim.tensors.membership import is_device
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

Count = Callable[[Arguments, Keywords], int]


class Wait(NamedTuple):
    """How an op makes the host wait."""

    kind: str
    """For the ledger."""
    call: str
    """What a user writes to get it."""
    times: int | Count = 1
    """How many waits one call makes."""
    is_seen_by_debug_mode: bool = True

    def count_for(self, args: Arguments, kwargs: Keywords) -> int:
        """Return how many waits this call makes."""
        return self.times if isinstance(self.times, int) else self.times(args, kwargs)


def _argument(args: Arguments, kwargs: Keywords, index: int, name: str) -> Value:
    return args[index] if len(args) > index else kwargs.get(name)


def _count_equal(args: Arguments, _: Keywords) -> int:
    """Tensors of different shape, or the very same bytes, need no look at the device."""
    first, second = args[:2]
    if first.size() != second.size() or first.numel() == 0:
        return 0
    is_same = first.data_ptr() == second.data_ptr() and first.stride() == second.stride()
    return int(not is_same)


def _count_repeats(args: Arguments, kwargs: Keywords) -> int:
    """Without ``output_size``, the sum of the repeats and whether all are positive."""
    return 2 if _argument(args, kwargs, 1, "output_size") is None else 0


def _count_histogram(args: Arguments, kwargs: Keywords) -> int:
    """Smallest and largest element, when no range was given."""
    low, high = _argument(args, kwargs, 2, "min") or 0, _argument(args, kwargs, 3, "max") or 0
    return 2 if low == high else 0


def _count_ends(args: Arguments, _: Keywords) -> int:
    """Each end that is a tensor on the device is read."""
    return sum(isinstance(end, torch.Tensor) and is_device(end) for end in args[:2])


def _count_sorter(args: Arguments, kwargs: Keywords) -> int:
    """The smallest and the largest index of a sorter are checked."""
    return 2 if _argument(args, kwargs, 5, "sorter") is not None else 0


def _count_deviations(args: Arguments, _: Keywords) -> int:
    """A tensor of standard deviations is checked to be positive."""
    return int(len(args) > 1 and isinstance(args[1], torch.Tensor))


def _count_fill(args: Arguments, kwargs: Keywords) -> int:
    """A fill value that lies on the device is read."""
    value = _argument(args, kwargs, 2, "value")
    return int(isinstance(value, torch.Tensor) and is_device(value))


def _count_checks(_: Arguments, kwargs: Keywords) -> int:
    """The ``_ex`` forms look at the error flags only when asked to."""
    return int(bool(kwargs.get("check_errors", False)))


_LINALG = Wait("linalg_check", "torch.linalg")

WAITS: dict[str, Wait] = {
    "nonzero": Wait("nonzero", "torch.nonzero"),
    "masked_select": Wait("masked_select", "torch.masked_select"),
    "masked_scatter_backward": Wait("masked_select", "backward of Tensor.masked_scatter"),
    "_unique": Wait("unique", "torch.unique"),
    "_unique2": Wait("unique", "torch.unique"),
    "unique_consecutive": Wait("unique", "torch.unique_consecutive"),
    "unique_dim": Wait("unique", "torch.unique(dim=)", 1, is_seen_by_debug_mode=False),
    "unique_dim_consecutive": Wait("unique", "torch.unique_consecutive(dim=)", 1, is_seen_by_debug_mode=False),
    "equal": Wait("equal", "torch.equal", _count_equal),
    "allclose": Wait("allclose", "torch.allclose"),
    "bincount": Wait("bincount", "torch.bincount", 2),
    "histc": Wait("histc", "torch.histc", _count_histogram),
    "repeat_interleave": Wait("repeat_interleave", "torch.repeat_interleave", _count_repeats),
    "linspace": Wait("item", "torch.linspace", _count_ends),
    "logspace": Wait("item", "torch.logspace", _count_ends),
    "searchsorted": Wait("item", "torch.searchsorted(sorter=)", _count_sorter),
    "normal": Wait("item", "torch.normal", _count_deviations),
    "masked_fill": Wait("item", "Tensor.masked_fill", _count_fill),
    "masked_fill_": Wait("item", "Tensor.masked_fill_", _count_fill),
    "_linalg_check_errors": _LINALG,
    "_linalg_svd": _LINALG._replace(call="torch.linalg.svd", times=2),
    "_linalg_eigh": _LINALG._replace(call="torch.linalg.eigh"),
    "linalg_eig": _LINALG._replace(call="torch.linalg.eig"),
    "_linalg_eigvals": _LINALG._replace(call="torch.linalg.eigvals"),
    "linalg_eigvals": _LINALG._replace(call="torch.linalg.eigvals"),
    "linalg_lstsq": _LINALG._replace(call="torch.linalg.lstsq"),
    "linalg_matrix_exp": _LINALG._replace(call="torch.linalg.matrix_exp"),
    "linalg_inv_ex": _LINALG._replace(call="torch.linalg.inv_ex", times=_count_checks),
    "linalg_cholesky_ex": _LINALG._replace(call="torch.linalg.cholesky_ex", times=_count_checks),
    "_linalg_solve_ex": _LINALG._replace(call="torch.linalg.solve_ex", times=_count_checks),
    "linalg_lu_factor_ex": _LINALG._replace(call="torch.linalg.lu_factor_ex", times=_count_checks),
    "linalg_ldl_factor_ex": _LINALG._replace(call="torch.linalg.ldl_factor_ex", times=_count_checks),
}
"""By the op's name. What waits inside a copy, an index or an item is known where those are run.

Source: callers of ``item``, ``memcpy_and_sync`` and ``stream_synchronize`` in aten/src/ATen/native/cuda, torch 2.13;
counts where measured: sync debug mode of torch 2.11 on an NVIDIA H200.
"""
