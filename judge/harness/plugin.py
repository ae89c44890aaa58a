"""The pytest plugin: options, marks and fixtures of a problem's tests. PYTEST_DONT_REWRITE

It is loaded in every pytest session of the environment, so it is cheap to import and does nothing
until a test asks for one of its fixtures.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from judge.harness.binding import BINDING, Binding, draw_seed

if TYPE_CHECKING:
    from judge.harness.evidence import Evidence
    from judge.harness.expect_device import DeviceExpect
    from judge.harness.measurement import Measure
    from judge.harness.pinned import PinnedUse
    from judge.instruments.instruments import Watch

SEED = pytest.StashKey[int]()
DEVICE = pytest.StashKey[str]()
WANTS_DEVICE = pytest.StashKey[bool]()
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
    """See whether a problem wants a device, and load hypothesis's profile before tests that use it are imported."""
    config = parent.config
    if BINDING not in config.stash and _wants_device(module_path.parent / "problem.toml"):
        config.stash[WANTS_DEVICE] = True
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


def _wants_device(manifest: Path) -> bool:
    """Return whether a problem's tests run device code, as its manifest says."""
    if not manifest.is_file():
        return False
    import tomllib

    try:
        return bool(tomllib.loads(manifest.read_text(encoding="utf-8")).get("device", "any") != "none")
    except (ValueError, OSError):
        return False


def _binding(config: pytest.Config) -> Binding | None:
    return config.stash.get(BINDING, None)


def _seed(config: pytest.Config) -> int:
    bound = _binding(config)
    return bound.seed if bound else config.stash[SEED]


def _device(config: pytest.Config) -> str:
    """Return the device of a judged run; else ``cuda`` where torch sees one, and ``sim`` for problems that want one."""
    bound = _binding(config)
    if bound:
        return bound.device
    if DEVICE not in config.stash:
        import torch

        from judge.harness.device import is_prepared

        has_cuda = torch.cuda.is_available() and not is_prepared("sim")
        config.stash[DEVICE] = found = "cuda" if has_cuda else "sim" if config.stash.get(WANTS_DEVICE, False) else "cpu"
        if found == "sim":
            from judge.harness.device import prepare_device

            prepare_device(found)
    return config.stash[DEVICE]


@pytest.fixture(scope="module")
def solution(request: pytest.FixtureRequest) -> ModuleType:
    """The learner's module."""
    bound = _binding(request.config)
    if bound:
        return bound.solution
    from judge.harness.practice import load_practice

    if request.config.stash.get(WANTS_DEVICE, False):
        _device(request.config)  # the device comes first, as in a judged run
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
    """Device for tensors: ``cuda``, real or simulated, or ``cpu``."""
    return "cuda" if _device(request.config) in ("cuda", "sim") else "cpu"


@pytest.fixture(scope="session")
def watch(request: pytest.FixtureRequest) -> Callable[[], Watch]:
    """Instruments for a ``with`` block: what its code makes the device do."""
    kind = _device(request.config)
    if kind not in ("cuda", "sim"):
        from judge.harness.diagnosis import NotJudged
        from judge.harness.diagnostic import text

        raise NotJudged(text("needs_device"))
    from judge.harness.device import open_watch

    return lambda: open_watch(kind)


@pytest.fixture(scope="session")
def time_us(device: str) -> Callable[[Callable[[], object]], float]:
    """Measure a call: microseconds of the device, from the beginning to the end of what it queues."""
    from judge.harness.timing import measure_us

    return lambda call: measure_us(call, device)


@pytest.fixture(scope="session")
def pinned_use(watch: Callable[[], Watch]) -> Callable[[Callable[[], object]], PinnedUse]:
    """Measure a call: bytes of pinned memory at its peak, and left after it."""
    from judge.harness.pinned import measure_pinned

    del watch  # asked for because it needs a device, too
    return measure_pinned


@pytest.fixture(scope="session")
def expect() -> DeviceExpect:
    """Comparisons that explain themselves."""
    from judge.harness.expect_device import DeviceExpect

    return DeviceExpect()


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
