"""What judging costs beside plain pytest: whole processes, in pairs, on the same submission.

    python benchmarks/cold_verdict.py [--pairs 9] [--problem 101] [--limit 1.25]

A is ``python practice/judge.py PROBLEM COPY``, B is ``python -m pytest FOLDER --submission COPY``; COPY is
a copy of the reference. They run A B A B …, each from nothing, so that a change of the machine's speed
meets both. The first pair warms the file cache and is not counted.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Pair:
    """Wall times of one judgement and of the plain pytest run after it."""

    judge_s: float
    pytest_s: float

    @property
    def ratio(self) -> float:
        """How many times as long as pytest the judge took."""
        return self.judge_s / self.pytest_s


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the figures, and return 1 when the median ratio is over the limit."""
    options = _parse(arguments)
    with tempfile.TemporaryDirectory(prefix="tacit-benchmark-") as folder:
        pairs = measure(options.problem, options.pairs, Path(folder))
    median = statistics.median(pair.ratio for pair in pairs)
    print(describe(pairs, options.problem))
    if options.limit is not None and median > options.limit:
        print(f"over the limit of {options.limit:.2f}", file=sys.stderr)
        return 1
    return 0


def measure(problem: str, count: int, scratch: Path) -> list[Pair]:
    """Return ``count`` pairs, measured after one that is not counted."""
    tests = _find_folder(ROOT / "problems", problem)
    submission = scratch / "submission.py"
    shutil.copyfile(_find_folder(ROOT / "reference", problem) / "solution.py", submission)
    own = {"TACIT_DATA_DIR": str(scratch / "data"), "TACIT_CACHE_DIR": str(scratch / "cache")}
    environment = {**os.environ, **own}
    judge = [sys.executable, "practice/judge.py", problem, str(submission)]
    plain = [sys.executable, "-m", "pytest", str(tests.relative_to(ROOT)), "--submission", str(submission)]
    plain += ["-q", "-p", "no:cacheprovider"]
    pairs = [Pair(time_process(judge, environment), time_process(plain, environment)) for _ in range(count + 1)]
    return pairs[1:]


def time_process(command: Sequence[str], environment: dict[str, str]) -> float:
    """Return the wall time of a whole process, in seconds.

    Raises:
        SystemExit: the process did not end with 0, so its time means nothing.
    """
    started_s = time.perf_counter()
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    elapsed_s = time.perf_counter() - started_s
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return elapsed_s


def describe(pairs: Sequence[Pair], problem: str) -> str:
    """Return the figures as text: medians, the spread of the ratio, and the machine."""
    ratios = sorted(pair.ratio for pair in pairs)
    judge_s = statistics.median(pair.judge_s for pair in pairs)
    pytest_s = statistics.median(pair.pytest_s for pair in pairs)
    return "\n".join(
        (
            f"problem {problem}, {len(pairs)} pairs, {os.cpu_count()} cores, Python {platform.python_version()}",
            f"judge   median {judge_s:.2f} s",
            f"pytest  median {pytest_s:.2f} s",
            f"ratio   median {statistics.median(ratios):.3f}  (lowest {ratios[0]:.3f}, highest {ratios[-1]:.3f})",
        )
    )


def _find_folder(parent: Path, number: str) -> Path:
    found = [path for path in parent.iterdir() if path.name.partition("_")[0] == number]
    if len(found) != 1:
        raise SystemExit(f"{parent} has {len(found)} folders for problem {number}")
    return found[0]


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare the judge's wall time with plain pytest's.")
    parser.add_argument("--pairs", type=int, default=9, help="pairs to count (default 9)")
    parser.add_argument("--problem", default="101", help="number of the problem (default 101)")
    parser.add_argument("--limit", type=float, help="end with 1 when the median ratio is over this")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
