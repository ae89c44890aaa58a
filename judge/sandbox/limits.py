"""Limits that the kernel holds for a child, and the environment it starts in."""

from __future__ import annotations

import os
from pathlib import Path

FILE_SIZE_BYTES = 256 << 20
OPEN_FILES = 1024

PASSED_ON = (
    "CUDA_VISIBLE_DEVICES",
    "CUDA_HOME",
    "LD_LIBRARY_PATH",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
)


def plan_limits() -> dict[str, int]:
    """Return resource limits by name.

    Address space is not limited: CUDA reserves about twice the device's memory. Nor is CPU time: under such a
    limit Linux counts it in ticks of 4 ms, and ``time.process_time()`` is of no more use to a test. The wall
    clock ends what takes too long.
    """
    return {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": FILE_SIZE_BYTES, "RLIMIT_NOFILE": OPEN_FILES}


def plan_environment(home: Path) -> dict[str, str]:
    """Return the whole environment of a child: nothing of the caller's but what CUDA needs."""
    scratch = str(home)
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": scratch,
        "TMPDIR": scratch,
        # Two runs share the machine: one thread each keeps their figures comparable.
        "OMP_NUM_THREADS": "1",
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
    }
