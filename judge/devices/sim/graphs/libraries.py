"""CUDA libraries that set themselves up at their first use, which a capture forbids."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.devices.sim.streams import Stream

_BLAS = frozenset({
    "mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "dot", "vdot", "addr_blas", "addbmm", "_addmm_activation",
    "_scaled_mm", "_grouped_mm", "_int_mm",
})  # fmt: skip
_TEXT = "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"


class Libraries:
    """Which libraries are ready.

    Source: ``getCurrentCUDABlasHandle`` in aten/src/ATen/cuda/CublasHandlePool.cpp, torch 2.13.
    """

    def __init__(self) -> None:
        self.is_blas_ready = False

    def prepare(self, operation: str, stream: Stream) -> None:
        """Set up what an operation needs; called before it runs.

        Args:
            operation: its name without namespace and overload: ``mm``.
            stream: the one that it runs on.

        Raises:
            RuntimeError: cuBLAS would have to set itself up inside a capture. The capture is invalid from now on.
        """
        if self.is_blas_ready or operation not in _BLAS:
            return
        capture = stream.capture
        if capture is not None and capture.mode != "relaxed":
            capture.is_active = False
            raise RuntimeError(_TEXT)
        self.is_blas_ready = True
