"""CUDA libraries that set themselves up at their first use, which a capture forbids."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.devices.sim.streams import Stream

BLAS = frozenset({
    "mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "dot", "vdot", "addr_blas", "addbmm", "_addmm_activation",
    "_scaled_mm", "_grouped_mm", "_int_mm",
})  # fmt: skip
"""Ops that cuBLAS does."""
_BLAS_TEXT = "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"
_SOLVERS = ("linalg_", "_linalg_")
_SOLVER_TEXT = (
    "cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnCreate(handle)`. If you keep seeing this "
    "error, you may use `torch.backends.cuda.preferred_linalg_library()` to try linear algebra operators with other "
    "supported backends. See "
    "https://pytorch.org/docs/stable/backends.html#torch.backends.cuda.preferred_linalg_library"
)


class Libraries:
    """Which libraries are ready.

    Source: ``getCurrentCUDABlasHandle`` in aten/src/ATen/cuda/CublasHandlePool.cpp, and its likes, torch 2.11.
    """

    def __init__(self) -> None:
        self.is_blas_ready = False
        self.is_solver_ready = False

    def prepare(self, operation: str, stream: Stream) -> None:
        """Set up what an operation needs; called before it runs.

        Args:
            operation: its name without namespace and overload: ``mm``.
            stream: the one that it runs on.

        Raises:
            RuntimeError: cuBLAS or cuSOLVER would have to set itself up inside a capture. The capture is invalid from
                now on, unless its mode is ``relaxed``, which allows it.
        """
        if operation in BLAS:
            if not self.is_blas_ready:
                _check(stream, _BLAS_TEXT)
                self.is_blas_ready = True
        elif not self.is_solver_ready and operation.startswith(_SOLVERS):
            _check(stream, _SOLVER_TEXT)
            self.is_solver_ready = True


def _check(stream: Stream, text: str) -> None:
    capture = stream.capture
    if capture is not None and capture.mode != "relaxed":
        capture.is_active = False
        raise RuntimeError(text)
