"""What the simulated device adds to an op: the same code on the CPU and on ``cuda`` simulated, side by side.

Run ``python benchmarks/sim_overhead.py``; ``--json FILE`` writes the figures down.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

CALLS = {
    "add, 8 x 8": 1,
    "view": 1,
    "add in place, 8 x 8": 1,
    "mm, 64 x 64": 1,
    "mm, 512 x 512, bfloat16": 1,
    "zeros and free, 4 KiB": 1,
    "layer norm, linear, GELU, linear, add": 5,
    "add, 8 x 8, three streams in turn": 1,
    "decode step, 32 layers": 1,
}
"""Ops by which a case's time is divided."""
DECODE = "decode step, 32 layers"
SIM_ONLY = ("launch and shadow, one stream", "launch and shadow, three streams")
TARGET_US = 30.0
TARGET_DECODE_S = 0.5
ROUND_S = 0.04
"""About how long one round of a case takes."""


def main() -> None:
    """Measure and print."""
    options = read_options()
    if options.child:
        serve(options.child)
        return
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores", end=", ")
    print(f"load {os.getloadavg()[0]:.1f}; {options.rounds} rounds, one thread, processor time")
    cpu, sim = Child("cpu"), Child("sim")
    print(f"torch {cpu.ask('version')}\n\n{'':<40}{'CPU':>9}{'simulated':>11}{'added':>9}   least .. most (us per op)")
    figures = {name: compare(name, cpu, sim, options.rounds) for name in CALLS}
    for name in SIM_ONLY:
        figures[name] = measure_alone(name, sim, options.rounds)
    if options.json:
        description = {"python": platform.python_version(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
        options.json.write_text(json.dumps({**description, "us": figures}, indent=1) + "\n", encoding="utf-8")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="rounds of each case (default: 15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures into a file")
    parser.add_argument("--child", choices=("cpu", "sim"), help=argparse.SUPPRESS)
    return parser.parse_args()


class Child:
    """A process that measures on one device when it is asked to.

    Args:
        kind: ``cpu`` or ``sim``.
    """

    def __init__(self, kind: str) -> None:
        command = [sys.executable, __file__, "--child", kind]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *question: object) -> Any:  # noqa: ANN401  as JSON has it
        """Return the answer to a question."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        print(json.dumps(question), file=stdin, flush=True)
        line = stdout.readline()
        if not line:
            raise SystemExit("a measuring process has ended early")
        return json.loads(line)


def compare(name: str, cpu: Child, sim: Child, rounds: int) -> dict[str, float]:
    """Measure a case on both devices in turn, print its line and return its figures in microseconds per op."""
    cpu_count, sim_count = cpu.ask("prepare", name), sim.ask("prepare", name)
    pairs = [(cpu.ask("time", name, cpu_count), sim.ask("time", name, sim_count)) for _ in range(rounds)]
    calls = CALLS[name]
    added = sorted((sim_us - cpu_us) / calls for cpu_us, sim_us in pairs)
    figures = {
        "cpu": median(us for us, _ in pairs) / calls,
        "simulated": median(us for _, us in pairs) / calls,
        "added": median(added),
        "added_least": added[0],
        "added_most": added[-1],
    }
    is_over = figures["simulated"] > TARGET_DECODE_S * 1e6 if name == DECODE else figures["added"] > TARGET_US
    print(
        f"{name:<40}{figures['cpu']:>9.1f}{figures['simulated']:>11.1f}{figures['added']:>9.1f}"
        f"   {added[0]:.1f} .. {added[-1]:.1f}{'  over the target' if is_over else ''}",
        flush=True,
    )
    return figures


def measure_alone(name: str, sim: Child, rounds: int) -> dict[str, float]:
    """Measure a case that has no twin on the CPU, print its line and return its figures."""
    count = sim.ask("prepare", name)
    taken = sorted(sim.ask("time", name, count) for _ in range(rounds))
    print(f"{name:<40}{'':>9}{median(taken):>11.1f}{'':>9}   {taken[0]:.1f} .. {taken[-1]:.1f}", flush=True)
    return {"simulated": median(taken), "simulated_least": taken[0], "simulated_most": taken[-1]}


# The measuring process


def serve(kind: str) -> None:
    """Answer questions until there are no more."""
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    simulation = None
    if kind == "sim":
        from judge.devices.sim.install import install

        simulation = install()
    cases = Cases("cuda" if kind == "sim" else "cpu", simulation)
    gc.disable()
    for line in sys.stdin:
        word, *rest = json.loads(line)
        answer: object = torch.__version__
        if word == "prepare":
            answer = count_calls(cases.find(rest[0]))
        elif word == "time":
            answer = time_calls(cases.find(rest[0]), rest[1])
            gc.collect()
        print(json.dumps(answer), flush=True)


def count_calls(run: Callable[[], object]) -> int:
    """Warm a case up, and return how many calls make a round."""
    for _ in range(3):
        run()
    return max(1, int(ROUND_S / (time_calls(run, 3) * 1e-6)))


def time_calls(run: Callable[[], object], count: int) -> float:
    """Return the processor time of one call in microseconds: what else runs on the machine does not count."""
    began = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - began) / count * 1e6


class Cases:
    """What is measured, on one device.

    Args:
        device: of the tensors.
        simulation: the installation, ``None`` on the CPU.
    """

    def __init__(self, device: str, simulation: Any) -> None:  # noqa: ANN401  typed where torch is
        self._device = device
        self._simulation = simulation
        self._made: dict[str, Callable[[], object]] = {}

    def find(self, name: str) -> Callable[[], object]:
        """Return a case, with its tensors there."""
        if name not in self._made:
            makers = {
                "layer norm, linear, GELU, linear, add": self._make_block,
                "add, 8 x 8, three streams in turn": self._make_streams,
                DECODE: self._make_decoder,
                SIM_ONLY[0]: lambda: self._make_launch(1),
                SIM_ONLY[1]: lambda: self._make_launch(3),
            }
            self._made[name] = makers[name]() if name in makers else self._make_single(name)
        return self._made[name]

    def _make_single(self, name: str) -> Callable[[], object]:
        import torch

        x, y = (torch.ones(8, 8, device=self._device) for _ in range(2))
        a, b = (torch.ones(64, 64, device=self._device) for _ in range(2))
        c, d = (torch.ones(512, 512, device=self._device, dtype=torch.bfloat16) for _ in range(2))
        singles: dict[str, Callable[[], object]] = {
            "add, 8 x 8": lambda: x + y,
            "view": lambda: x.view(64),
            "add in place, 8 x 8": lambda: x.add_(y),
            "mm, 64 x 64": lambda: a @ b,
            "mm, 512 x 512, bfloat16": lambda: c @ d,
            "zeros and free, 4 KiB": lambda: torch.zeros(1024, device=self._device),
        }
        return singles[name]

    def _make_block(self) -> Callable[[], object]:
        import torch
        from torch import nn

        block = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)).to(self._device)
        x = torch.ones(4, 64, device=self._device)
        return lambda: block(x) + x

    def _make_streams(self) -> Callable[[], object]:
        import torch

        x, y = (torch.ones(8, 8, device=self._device) for _ in range(2))
        if self._simulation is None:
            return lambda: x + y
        streams = [torch.cuda.Stream() for _ in range(3)]
        torch.cuda.synchronize()
        at = 0

        def add() -> object:
            nonlocal at
            at += 1
            torch.cuda.set_stream(streams[at % 3])
            result = x + y
            torch.cuda.set_stream(torch.cuda.default_stream())
            return result

        return add

    def _make_decoder(self) -> Callable[[], object]:
        return make_decoder(self._device)

    def _make_launch(self, stream_count: int) -> Callable[[], object]:
        from judge.devices.sim.cost import Work
        from judge.devices.sim.machine import Machine
        from judge.devices.sim.profile import load_profile
        from judge.devices.sim.races.geometry import Access

        machine = Machine(load_profile("h200"))
        streams = [machine.streams.get(0) for _ in range(stream_count)]
        blocks = [Access(base, base + 512, None, 4) for base in range(1 << 20, (1 << 20) + 64 * 512, 512)]
        work = Work("add", 1.5, "sm", 0.1)
        at = 0

        def launch() -> None:
            nonlocal at
            at += 1
            reads = (blocks[0], blocks[1])
            machine.launch(work, reads, (blocks[2 + at % stream_count],), stream=streams[at % stream_count])
            if at % 500 == 0:
                machine.synchronize_device()

        return launch


def make_decoder(device: str, *, layers: int = 32, width: int = 64, heads: int = 4) -> Callable[[], object]:
    """Return one decode step of a toy transformer: a token through every layer, with a cache of keys and values."""
    import torch
    from torch import nn

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.project, self.merge = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.keys = nn.Buffer(torch.zeros(1, heads, 128, width // heads))
            self.values = nn.Buffer(torch.zeros(1, heads, 128, width // heads))

        def forward(self, x: torch.Tensor, at: int) -> torch.Tensor:
            query, key, value = self.project(self.first(x)).view(1, 1, 3, heads, -1).permute(2, 0, 3, 1, 4)
            self.keys[:, :, at : at + 1] = key
            self.values[:, :, at : at + 1] = value
            seen = self.keys[:, :, : at + 1], self.values[:, :, : at + 1]
            mixed = nn.functional.scaled_dot_product_attention(query, *seen)
            x = x + self.merge(mixed.transpose(1, 2).reshape(1, 1, width))
            widened: torch.Tensor = self.narrow(nn.functional.gelu(self.widen(self.second(x))))
            return x + widened

    embed, head = nn.Embedding(256, width).to(device), nn.Linear(width, 256).to(device)
    stack = nn.ModuleList(Layer() for _ in range(layers)).to(device)
    token = torch.zeros(1, 1, dtype=torch.long, device=device)

    def step() -> object:
        x = embed(token)
        for layer in stack:
            x = layer(x, 64)
        return head(x).argmax(-1).item()

    return step


if __name__ == "__main__":
    main()
