"""Errors of the CUDA runtime: codes, texts, and the exception that PyTorch raises for them."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

_DOCS = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"


class _Meaning(NamedTuple):
    name: str
    text: str


INVALID_VALUE = 1
INVALID_DEVICE = 101
INVALID_RESOURCE_HANDLE = 400
ILLEGAL_STATE = 401
NOT_READY = 600
DEVICE_ASSERT = 710
NOT_PERMITTED = 800
NOT_SUPPORTED = 801
CAPTURE_UNSUPPORTED = 900
CAPTURE_INVALIDATED = 901
CAPTURE_MERGE = 902
CAPTURE_UNMATCHED = 903
CAPTURE_UNJOINED = 904
CAPTURE_ISOLATION = 905
CAPTURE_IMPLICIT = 906
CAPTURED_EVENT = 907
CAPTURE_WRONG_THREAD = 908

_MEANINGS = {
    INVALID_VALUE: _Meaning("cudaErrorInvalidValue", "invalid argument"),
    INVALID_DEVICE: _Meaning("cudaErrorInvalidDevice", "invalid device ordinal"),
    INVALID_RESOURCE_HANDLE: _Meaning("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    ILLEGAL_STATE: _Meaning("cudaErrorIllegalState", "the operation cannot be performed in the present state"),
    NOT_READY: _Meaning("cudaErrorNotReady", "device not ready"),
    DEVICE_ASSERT: _Meaning("cudaErrorAssert", "device-side assert triggered"),
    NOT_PERMITTED: _Meaning("cudaErrorNotPermitted", "operation not permitted"),
    NOT_SUPPORTED: _Meaning("cudaErrorNotSupported", "operation not supported"),
    CAPTURE_UNSUPPORTED: _Meaning(
        "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"
    ),
    CAPTURE_INVALIDATED: _Meaning(
        "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"
    ),
    CAPTURE_MERGE: _Meaning(
        "cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"
    ),
    CAPTURE_UNMATCHED: _Meaning(
        "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"
    ),
    CAPTURE_UNJOINED: _Meaning("cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"),
    CAPTURE_ISOLATION: _Meaning(
        "cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"
    ),
    CAPTURE_IMPLICIT: _Meaning(
        "cudaErrorStreamCaptureImplicit",
        "operation would make the legacy stream depend on a capturing blocking stream",
    ),
    CAPTURED_EVENT: _Meaning(
        "cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"
    ),
    CAPTURE_WRONG_THREAD: _Meaning(
        "cudaErrorStreamCaptureWrongThread",
        "attempt to terminate a thread-local capture sequence from another thread",
    ),
}


class CudaError(RuntimeError):
    """A CUDA error where torch is not loaded, so that its own class can't be had."""

    error_code: int
    """The ``cudaError_t``."""


def describe(code: int) -> str:
    """Return the text of PyTorch's exception for a CUDA error: the message, where to look it up, and hints.

    Args:
        code: a ``cudaError_t`` that the simulated device knows.

    Source: ``c10_cuda_check_implementation`` in c10/cuda/CUDAException.cpp, torch 2.11.
    """
    name, text = _MEANINGS[code]
    lines = [f"CUDA error: {text}", f"Search for `{name}' in {_DOCS} for more information."]
    if os.environ.get("CUDA_LAUNCH_BLOCKING") != "1":
        lines += [
            "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
            "might be incorrect.",
            "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        ]
    lines.append("Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.")
    return "\n".join(lines) + "\n"


def cuda_error(code: int) -> RuntimeError:
    """Return the exception that PyTorch raises for a CUDA error.

    Args:
        code: a ``cudaError_t`` that the simulated device knows, 900 for example.

    Returns:
        A ``torch.AcceleratorError`` with ``error_code``; without torch a :class:`CudaError`.
    """
    torch = sys.modules.get("torch")
    kind: type[RuntimeError] = getattr(torch, "AcceleratorError", CudaError)
    error = kind(describe(code))
    error.error_code = code  # type: ignore[attr-defined]  # torch's class takes it as an attribute of the instance
    return error
