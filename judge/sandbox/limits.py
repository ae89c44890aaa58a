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


def plan_limits(wall_s: float) -> dict[str, int]:
    """Return resource limits by name; CPU time backs the wall clock at a multiple of it.

    Address space is not limited: CUDA reserves about twice the device's memory.
    """
    cores = os.cpu_count() or 1
    return {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": FILE_SIZE_BYTES,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_CPU": int(wall_s * cores) + 10,
    }


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
