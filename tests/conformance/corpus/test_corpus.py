"""Ordinary user code gives the same on the device as on the host."""

from __future__ import annotations

import gc
import importlib

import pytest

torch = pytest.importorskip("torch")

from judge.devices.sim.errors import NotSimulated  # noqa: E402  # needs torch
from tests.conformance.corpus.comparison import Comparison  # noqa: E402
from tests.conformance.corpus.conftest import Bench  # noqa: E402
from tests.conformance.corpus.snippet import Snippet  # noqa: E402

TOPICS = (
    "creation", "views", "indexing", "numbers", "matrices", "sampling", "layers", "attention", "generation", "gradients",
    "training", "states", "streams", "graphs", "memory", "refusals",
)  # fmt: skip
SNIPPETS: list[Snippet] = [
    snippet
    for topic in TOPICS
    for snippet in importlib.import_module(f"tests.conformance.corpus.{topic}").TOPIC.snippets
]
RUNNING = [snippet for snippet in SNIPPETS if not snippet.is_refused]
REFUSED = [snippet for snippet in SNIPPETS if snippet.is_refused]
LARGEST_REFUSED_SHARE = 0.05


def name(snippet: Snippet) -> str:
    """Return the id of a case."""
    return f"{snippet.topic}.{snippet.name}"


@pytest.mark.bookkeeping
def test_the_corpus_is_large_and_runs() -> None:
    """No name comes twice, and few snippets need a real GPU."""
    assert len({name(snippet) for snippet in SNIPPETS}) == len(SNIPPETS)
    assert len(SNIPPETS) >= 130
    assert len(REFUSED) <= LARGEST_REFUSED_SHARE * len(SNIPPETS)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")  # torch's own, by jvp
@pytest.mark.parametrize("snippet", RUNNING, ids=name)
def test_a_snippet_gives_what_the_host_gives(snippet: Snippet, bench: Bench) -> None:
    """Values, dtypes and shapes are equal, all tensors are on the device, and no race is told."""
    for package in snippet.needs:
        pytest.importorskip(package)
    expected = bench.run_on_host(snippet)
    actual = bench.run_on_device(snippet)
    Comparison(is_exact=bench.is_simulated, is_random=snippet.is_random).check(expected, actual)
    del actual
    gc.collect()  # what is freed late is seen too
    assert [] == bench.find_races()


@pytest.mark.parametrize("snippet", REFUSED, ids=name)
def test_what_cannot_run_says_so(snippet: Snippet, bench: Bench) -> None:
    """It names the operation, and why only a real GPU can do it."""
    if not bench.is_simulated:
        pytest.skip("the simulated device only: a real GPU does not refuse it")
    with pytest.raises(NotSimulated, match="needs a real GPU: ") as caught:
        bench.run_on_device(snippet)
    assert snippet.refusal in str(caught.value)
