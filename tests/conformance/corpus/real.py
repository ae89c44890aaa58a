"""Snippets on a real GPU, each in a process of its own: what one leaves behind there would meet the next."""

from __future__ import annotations

import importlib
from functools import cache

from tests.conformance.corpus.snippet import Snippet
from tests.conformance.processes import Done, run_programs

SEED = 20


def check(topic: str, name: str) -> None:
    """Run a snippet on the host and on the GPU of this process, and compare."""
    import torch

    from tests.conformance.corpus.comparison import Comparison

    torch.backends.cudnn.allow_tf32 = False  # convolutions as exactly as the host's
    snippets: list[Snippet] = importlib.import_module(f"tests.conformance.corpus.{topic}").TOPIC.snippets
    snippet = next(one for one in snippets if one.name == name)
    expected = run(snippet, "cpu") if snippet.expected is None else snippet.expected()
    actual = run(snippet, "cuda")
    device = torch.device("cuda", 0)
    Comparison(device, is_exact=False, is_random=snippet.is_random).check(expected, actual)


def run(snippet: Snippet, device: str) -> object:
    """Run a snippet; random numbers begin at the same place each time."""
    import torch

    torch.manual_seed(SEED)
    return snippet.run(device)


@cache
def run_all(names: tuple[tuple[str, str], ...]) -> dict[tuple[str, str], Done]:
    """Check snippets, given by topic and name, side by side; return how each ended."""
    programs = [f"from tests.conformance.corpus.real import check; check{name!r}" for name in names]
    return dict(zip(names, run_programs(programs), strict=True))
