"""The pytest plugin: options, marks and fixtures of a problem's tests. PYTEST_DONT_REWRITE

It is loaded in every pytest session of the environment, so it is cheap to import and does nothing
until a test asks for one of its fixtures.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from judge.harness.binding import BINDING, Binding, draw_seed

if TYPE_CHECKING:
    from judge.harness.evidence import Evidence
    from judge.harness.expect import Expect
    from judge.harness.measurement import Measure

SEED = pytest.StashKey[int]()
DEVICE = pytest.StashKey[str]()
SOLUTIONS = pytest.StashKey[dict[Path, ModuleType]]()
WORKER_SEED = "tacit_seed"

MARKS = (
    "gpu: needs a real CUDA device; skipped elsewhere.",
    "requires(*requirements): skipped unless every requirement, as in 'torch>=2.13', is met.",
    "budget(**limits): upper limits of measurements, by name.",
    "weight(value): share of the test in the score of correctness; 1 without it.",
    "optional: the problem can be solved without this test.",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--submission``."""
    group = parser.getgroup("tacit", "Tacit, the judge")
    with contextlib.suppress(ValueError, argparse.ArgumentError):
        group.addoption(
            "--submission",
            metavar="FILE",
            default=None,
            help="solution that the problem's tests run against (default: practice/<problem>.py)",
        )


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser) -> Generator[None, Any, Any]:
    """Add ``--seed`` once every other plugin and conftest.py has had its turn, and give way to theirs."""
    result = yield
    with contextlib.suppress(ValueError, argparse.ArgumentError):
        parser.getgroup("tacit").addoption(
            "--seed", metavar="N", dest="tacit_seed", type=int, default=None, help="seed of the problem's tests"
        )
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks and draw the seed."""
    for line in MARKS:
        config.addinivalue_line("markers", line)
    given = getattr(config, "workerinput", {}).get(WORKER_SEED, config.getoption("tacit_seed", None))
    config.stash[SEED] = draw_seed() if given is None else given
    config.stash[SOLUTIONS] = {}


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401  a type of pytest-xdist, which may be absent
    """Give the workers of pytest-xdist the same seed."""
    node.workerinput[WORKER_SEED] = node.config.stash[SEED]


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    """Load hypothesis's profile before a problem's tests that use it are imported."""
    config = parent.config
    is_problem = BINDING in config.stash or (module_path.parent / "problem.toml").is_file()
    if is_problem and b"hypothesis" in (source := module_path.read_bytes()):
        from judge.harness.properties import adopt_profile

        adopt_profile(_seed(config), source)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what the machine can't run."""
    if item.get_closest_marker("gpu") is not None or item.get_closest_marker("requires") is not None:
        if not _is_problem_test(item):
            return
        from judge.harness.marks import refuse_unmet

        refuse_unmet(item, _device(item.config))


def _is_problem_test(item: pytest.Item) -> bool:
    return BINDING in item.config.stash or (item.path.parent / "problem.toml").is_file()


def _binding(config: pytest.Config) -> Binding | None:
    return config.stash.get(BINDING, None)


def _seed(config: pytest.Config) -> int:
    bound = _binding(config)
    return bound.seed if bound else config.stash[SEED]


def _device(config: pytest.Config) -> str:
    """Return the device of a judged run; else ``cuda`` where torch sees one."""
    bound = _binding(config)
    if bound:
        return bound.device
    if DEVICE not in config.stash:
        import torch

        config.stash[DEVICE] = "cuda" if torch.cuda.is_available() else "cpu"
    return config.stash[DEVICE]


@pytest.fixture(scope="module")
def solution(request: pytest.FixtureRequest) -> ModuleType:
    """The learner's module."""
    bound = _binding(request.config)
    if bound:
        return bound.solution
    from judge.harness.practice import load_practice

    folder = Path(request.path).parent
    loaded = request.config.stash[SOLUTIONS]
    if folder not in loaded:
        loaded[folder] = load_practice(
            folder, request.config.getoption("submission", None), is_worker=hasattr(request.config, "workerinput")
        )
    sys.modules["solution"] = loaded[folder]
    return loaded[folder]


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """Seed of the run: the same for the solution and the reference, fresh each time."""
    return _seed(request.config)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers, seeded by the run's seed and the test's name."""
    return random.Random(f"{_seed(request.config)}/{request.path.name}/{request.node.name}")


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """Device for tensors: ``cuda`` or ``cpu``."""
    found = _device(request.config)
    return "cpu" if found == "none" else found


@pytest.fixture(scope="session")
def expect() -> Expect:
    """Comparisons that explain themselves."""
    from judge.harness.expect import Expect

    return Expect()


@pytest.fixture
def evidence(request: pytest.FixtureRequest) -> Evidence:
    """Records what the test saw, for the comparison with the reference's run."""
    from judge.harness.channel import Nowhere
    from judge.harness.evidence import Evidence

    bound = _binding(request.config)
    if bound is None:
        return Evidence(Nowhere(), request.node.nodeid, Binding.evidence_bytes)
    return Evidence(bound.sink, request.node.nodeid, bound.evidence_bytes)


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Measure:
    """Records a figure for the scores."""
    from judge.harness.channel import Nowhere
    from judge.harness.measurement import Measure

    bound = _binding(request.config)
    return Measure(bound.sink if bound else Nowhere(), request.node.nodeid)
