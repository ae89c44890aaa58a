"""Small programs about captures and replays, each run as a script of its own; what they print is compared.

The golden file holds each with what it printed on the H200; run there as
``python -m tests.conformance.edges.captures``, this prints a new one.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SETTING = """
import threading, warnings
import torch
warnings.simplefilter("ignore")
x = torch.ones(4, device="cuda")
s, t = torch.cuda.Stream(), torch.cuda.Stream()
g, h = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
old = torch.cuda.Event(); old.record(); torch.cuda.synchronize()
def chain(error):
    seen = []
    while error is not None:
        seen.append(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}")
        error = error.__context__
    return " <- ".join(seen)
def tell(f, *a, **k):
    try:
        print("ok", f(*a, **k))
    except Exception as error:
        print(chain(error))
def in_thread(f, *a, **k):
    thread = threading.Thread(target=tell, args=(f, *a), kwargs=k); thread.start(); thread.join()
def begin(graph=g, stream=s, mode="global", **k):
    torch.cuda.set_stream(stream); graph.capture_begin(capture_error_mode=mode, **k)
def end(graph=g, stream=s):
    torch.cuda.set_stream(stream); tell(graph.capture_end)
def recorded(stream=None):
    e = torch.cuda.Event(); e.record(stream); return e
"""

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "captures.json").read_text(encoding="utf-8")
)
CASES: dict[str, dict[str, str]] = GOLDEN["cases"]


def run_real(code: str) -> str:
    """Return what a program prints in a process of its own; how the process ends is not looked at."""
    command = [sys.executable, "-c", SETTING + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300).stdout


def run_simulated(code: str) -> str:
    """Return what a program prints on a simulated device of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
        from judge.devices.sim.install import install
    out = io.StringIO()
    program = compile(SETTING + code, "<string>", "exec")
    with warnings.catch_warnings(), contextlib.redirect_stdout(out), install():
        exec(program, {"__name__": "__main__"})
    return out.getvalue()


if __name__ == "__main__":
    import torch

    codes = {name: case["code"] for name, case in CASES.items()}
    with ThreadPoolExecutor(14) as pool:
        outs = pool.map(run_real, codes.values())
        cases = {name: {"code": code, "out": out} for (name, code), out in zip(codes.items(), outs, strict=True)}
    json.dump({"torch": torch.__version__, "gpu": torch.cuda.get_device_name(), "cases": cases}, sys.stdout, indent=1)
