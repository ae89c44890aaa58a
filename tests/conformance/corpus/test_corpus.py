"""Ordinary user code gives the same on the device as on the host."""

from __future__ import annotations

import gc
import importlib
import importlib.util

import pytest

torch = pytest.importorskip("torch")

from judge.devices.sim.errors import NotSimulated  # noqa: E402  # needs torch
from tests.conformance.corpus.comparison import Comparison  # noqa: E402
from tests.conformance.corpus.conftest import Bench  # noqa: E402
from tests.conformance.corpus.real import run, run_all  # noqa: E402
from tests.conformance.corpus.snippet import Snippet  # noqa: E402

TOPICS = (
    "creation", "views", "indexing", "numbers", "matrices", "sampling", "layers", "attention", "generation",
    "gradients", "training", "states", "streams", "graphs", "memory", "tools", "refusals",
)  # fmt: skip
SNIPPETS: list[Snippet] = [
    snippet
    for topic in TOPICS
    for snippet in importlib.import_module(f"tests.conformance.corpus.{topic}").TOPIC.snippets
]
RUNNING = [snippet for snippet in SNIPPETS if not snippet.is_refused]
REFUSED = [snippet for snippet in SNIPPETS if snippet.is_refused]
HOST_TOPICS = [topic for topic in TOPICS if any(s.topic == topic and s.runs_on_host for s in SNIPPETS)]
LARGEST_REFUSED_SHARE = 0.05
DEVICE = torch.device("cuda", 0)
FORWARD_MODE = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
"""Torch's own, the first time that forward-mode gradients are asked for."""


def name(snippet: Snippet) -> str:
    """Return the id of a case."""
    return f"{snippet.topic}.{snippet.name}"


@pytest.mark.bookkeeping
def test_the_corpus_is_large_and_runs() -> None:
    """No name comes twice, and few snippets need a real GPU."""
    assert len({name(snippet) for snippet in SNIPPETS}) == len(SNIPPETS)
    assert len(SNIPPETS) >= 130
    assert len(REFUSED) <= LARGEST_REFUSED_SHARE * len(SNIPPETS)


@FORWARD_MODE
@pytest.mark.parametrize("snippet", RUNNING, ids=name)
def test_a_snippet_gives_what_the_host_gives(snippet: Snippet, bench: Bench) -> None:
    """Values, dtypes and shapes are equal, all tensors are on the device, and no race is told."""
    for package in snippet.needs:
        pytest.importorskip(package)
    if not bench.is_simulated:
        names = tuple((one.topic, one.name) for one in RUNNING)
        done = run_all(names)[snippet.topic, snippet.name]
        assert 0 == done.returncode, done.err[-2000:]
        return
    expected = bench.run_on_host(snippet)
    actual = bench.run_on_device(snippet)
    Comparison(DEVICE, is_exact=True, is_random=snippet.is_random).check(expected, actual)
    del actual
    gc.collect()  # what is freed late is seen too
    assert [] == bench.find_races()


@FORWARD_MODE
@pytest.mark.parametrize("topic", HOST_TOPICS)
def test_code_for_the_host_stays_there(topic: str, request: pytest.FixtureRequest) -> None:
    """With the device installed, the same code for the host gives the same, and launches nothing."""
    snippets = [snippet for snippet in RUNNING if snippet.topic == topic and snippet.runs_on_host]
    snippets = [snippet for snippet in snippets if all(importlib.util.find_spec(name) for name in snippet.needs)]
    expected = [run(snippet, "cpu") for snippet in snippets]
    simulation = request.getfixturevalue("simulation")
    comparison = Comparison(torch.device("cpu"), is_exact=True)
    for snippet, result in zip(snippets, expected, strict=True):
        comparison.check(result, run(snippet, "cpu"), snippet.name)
    assert 0 == simulation.machine.launches


@pytest.mark.parametrize("snippet", REFUSED, ids=name)
def test_what_cannot_run_says_so(snippet: Snippet, bench: Bench) -> None:
    """It names the operation, and why only a real GPU can do it."""
    if not bench.is_simulated:
        pytest.skip("the simulated device only: a real GPU does not refuse it")
    with pytest.raises(NotSimulated, match="needs a real GPU: ") as caught:
        bench.run_on_device(snippet)
    assert snippet.refusal in str(caught.value)
