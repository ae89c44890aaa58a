"""The slow rules of problem 201: right by hand, and of one mind with the stub; and the table that shows them."""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from rich.cells import cell_len

torch = pytest.importorskip("torch")

FOLDER = Path(__file__).parents[2] / "problems" / "201_sync_free_sampler"
NAMES = ("support_rules", "support_table")


@pytest.fixture
def support(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """Return the problem's modules; other problems have some of the same names."""
    monkeypatch.syspath_prepend(FOLDER)
    for name in NAMES:
        sys.modules.pop(name, None)
    yield SimpleNamespace(**{name.removeprefix("support_"): importlib.import_module(name) for name in NAMES})
    for name in NAMES:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def stub() -> Iterator[ModuleType]:
    """Return the stub, loaded from its file."""
    spec = importlib.util.spec_from_file_location("stub_of_201", FOLDER / "stub.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_a_table_is_the_same_in_both_languages(support: SimpleNamespace) -> None:
    """Only its head and its foot have words, the columns line up, and the token in question is pointed at."""
    places = support.rules.rank_tokens([float(at) for at in range(20)], support.rules.Row(top_k=10))
    mask = support.rules.list_allowed(places)
    mask[places[10].token] = True
    english, chinese = (text.splitlines() for text in support.table.draw_table(places, mask, 10))
    assert english[1:-1] == chinese[1:-1]
    assert cell_len(english[0]) == cell_len(chinese[0])
    assert [line for line in english if "<--" in line] == [english[5]]
    assert max(map(cell_len, english)) <= 76


def test_the_noise_of_the_rules_is_that_of_the_stub(support: SimpleNamespace, stub: ModuleType) -> None:
    """Once written with Python's integers and once with tensors, for seeds and positions at the edges of 64 bits."""
    keys = [(0, 0), (1, 0), (-1, 3), ((1 << 63) - 1, 2**31 - 1), (-(1 << 63), 4096)]
    seed, position = (torch.tensor(part) for part in zip(*keys, strict=True))
    noise = stub.exponential_noise(seed, position, 5).double()
    wanted = [[support.rules.make_noise(*key, token) for token in range(5)] for key in keys]
    torch.testing.assert_close(noise, torch.tensor(wanted, dtype=torch.float64), rtol=1e-6, atol=1e-7)


def test_the_noise_is_never_zero_or_infinite(support: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ends of what 23 bits can say: a race that noise alone decided would be none."""
    for word, wanted in ((0, -math.log(2.0**-24)), (support.rules.MASK, -math.log(1 - 2.0**-24))):
        monkeypatch.setattr(support.rules, "_mix", lambda _word, word=word: word)
        assert math.isclose(support.rules.make_noise(1, 2, 3), wanted)


@pytest.mark.parametrize(
    ("row", "allowed"),
    [
        ({}, [0, 1, 2, 3]),
        ({"temperature": 0.0}, [1]),
        ({"top_k": 3}, [0, 1, 3]),
        ({"top_p": 0.5}, [1, 3]),
        ({"top_k": 2, "top_p": 0.5}, [1]),
        ({"min_p": 0.5}, [0, 1, 2, 3]),
        ({"min_p": 0.51}, [1, 3]),
    ],
    ids=["none", "greedy", "top_k with a tie", "top_p", "both", "min_p at its border", "min_p"],
)
def test_the_slow_rules_are_those_of_the_statement(support: SimpleNamespace, row: dict, allowed: list[int]) -> None:
    """Four tokens of 1/6, 1/3, 1/6, 1/3, by hand."""
    places = support.rules.rank_tokens([0.0, math.log(2), 0.0, math.log(2)], support.rules.Row(**row))
    assert [token for token, is_allowed in enumerate(support.rules.list_allowed(places)) if is_allowed] == allowed
