"""The result file of a run: what agreed, on which device."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

SCHEMA_VERSION = 1
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class ResultFile:
    """Counts, group by group, and writes the file at the end of the session.

    A group is a folder below ``tests/conformance``, a row is a test in it.

    Args:
        target: the file.
        kind: ``sim`` or ``cuda``.
    """

    def __init__(self, target: Path, kind: str) -> None:
        self._target = target
        self._kind = kind
        self._began = time.monotonic()
        self._rows: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a row went; what fails later, at the tidying up, counts as a disagreement too."""
        name = report.nodeid.partition("tests/conformance/")[2]
        if "/" not in name or "bookkeeping" in report.keywords:
            return
        if report.failed:
            if self._rows.get(name, ("", ""))[0] != "disagree":
                self._rows[name] = ("disagree", _first_line(report))
        elif report.skipped and hasattr(report, "wasxfail"):
            self._rows[name] = ("known", report.wasxfail.removeprefix("reason: "))
        elif report.skipped:
            self._rows[name] = ("skipped", _reason(report))
        elif report.when == "call":
            self._rows[name] = ("agree", "")

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        result = {
            "schema_version": SCHEMA_VERSION,
            "device": describe_device(self._kind),
            "torch": importlib.metadata.version("torch"),
            "python": platform.python_version(),
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "elapsed_s": round(time.monotonic() - self._began),
            "groups": self._count(),
        }
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self._target.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def _count(self) -> dict[str, dict[str, Any]]:
        groups: dict[str, dict[str, Any]] = {}
        for path, (ending, text) in sorted(self._rows.items()):
            group, _, name = path.partition("/")
            empty = {"rows": 0, "agree": 0, "disagree": {}, "known": {}, "skipped": {}}
            counts = groups.setdefault(group, empty)
            counts["rows"] += 1
            if ending == "agree":
                counts["agree"] += 1
            else:
                counts[ending][name] = text
        return groups


def describe_device(kind: str) -> dict[str, str]:
    """Return the kind of device, its name, and the versions under it."""
    if kind == "sim":
        from judge.devices.sim.profile import load_profile

        return {"kind": kind, "name": load_profile("h200").device.name + " (simulated)"}
    import torch

    return {
        "kind": kind,
        "name": torch.cuda.get_device_name(),
        "torch_build": str(torch.__version__),
        "cuda": str(torch.version.cuda),
        "driver": _read_driver(),
    }


def _read_driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except OSError:
        return "unknown"
    return (done.stdout.splitlines() or ["unknown"])[0].strip()


def _first_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    lines = [line for line in ANSI.sub("", text).splitlines() if line.strip()]
    return (lines or ["?"])[0][:300]


def _reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")
