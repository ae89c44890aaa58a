"""CUDA errors as PyTorch raises them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from judge.devices.sim.cuda_errors import CAPTURE_UNJOINED, describe

UNJOINED = """\
CUDA error: capturing stream has unjoined work
Search for `cudaErrorStreamCaptureUnjoined' in \
https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
"""


def test_the_text_is_pytorchs(monkeypatch):
    """Message, where to look it up, and hints."""
    monkeypatch.delenv("CUDA_LAUNCH_BLOCKING", raising=False)
    assert UNJOINED == describe(CAPTURE_UNJOINED)


def test_blocking_launches_need_no_hint(monkeypatch):
    """What launches blocking is not asynchronous."""
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    lines = UNJOINED.splitlines(keepends=True)
    assert "".join(lines[:2] + lines[4:]) == describe(CAPTURE_UNJOINED)


@pytest.mark.parametrize(
    ("imports", "expected"),
    [("", "CudaError RuntimeError 900"), ("import torch", "AcceleratorError RuntimeError 900")],
    ids=["without torch", "with torch"],
)
def test_the_class_is_torchs_where_torch_is_loaded(imports, expected):
    """And a plain one elsewhere; both know their code."""
    code = f"""{imports}
from judge.devices.sim.cuda_errors import CAPTURE_UNSUPPORTED, cuda_error
error = cuda_error(CAPTURE_UNSUPPORTED)
print(type(error).__name__, type(error).__base__.__name__, error.error_code)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert expected == done.stdout.strip()
