"""The solution's names and signatures against the stub's."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from judge.harness.interface import check_interface
from judge.harness.signature import read_promises
from tests.harness.child import run_child

STUB = '''
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    addr: int
    size: int


class Allocator:
    """Given."""

    def __init__(self, driver: "Driver", *, limit: int = 0) -> None:
        raise NotImplementedError

    def malloc(self, size: int, stream: int = 0) -> Block:
        raise NotImplementedError

    def blocks(self) -> Iterator[Block]:
        raise NotImplementedError

    @property
    def used(self) -> int:
        raise NotImplementedError

    @staticmethod
    def round_up(size: int) -> int:
        raise NotImplementedError

    @classmethod
    def empty(cls, driver) -> "Allocator":
        raise NotImplementedError

    def _private(self, anything):
        raise NotImplementedError


def replay(
    events: list[str],
    seed: int = 0,
) -> int:
    raise NotImplementedError


async def drain(queue) -> None:
    raise NotImplementedError
'''
GOOD = {
    "Block": "class Block:\n    def __init__(self, addr, size): pass\n",
    "__init__": "def __init__(self, driver, *, limit=0): pass",
    "malloc": "def malloc(self, size, stream=0): pass",
    "blocks": "def blocks(self): yield 1",
    "used": "used = property(lambda self: 1)",
    "round_up": "@staticmethod\n    def round_up(size): pass",
    "empty": "@classmethod\n    def empty(cls, driver): pass",
    "replay": "def replay(events, seed=0): pass",
    "drain": "async def drain(queue): pass",
}
METHODS = ("__init__", "malloc", "blocks", "used", "round_up", "empty")


def check(**changes: str) -> dict[str, Any] | None:
    """Return the diagnostic for a solution that differs from a good one by ``changes``."""
    parts = GOOD | changes
    body = "\n    ".join(parts[name] for name in METHODS if parts[name])
    source = f"{parts['Block']}\nclass Allocator:\n    {body}\n\n{parts['replay']}\n\n{parts['drain']}\n"
    names: dict[str, Any] = {}
    exec(compile(source, "solution.py", "exec"), names)
    return check_interface(names, STUB, "solution.py")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="as the stub"),
        pytest.param({"malloc": "def malloc(self, size, stream=0, *, verbose=False): pass"}, id="extra with default"),
        pytest.param({"malloc": "def malloc(self, *args, **kwargs): pass"}, id="args and kwargs"),
        pytest.param({"malloc": "def malloc(*args, **kwargs): pass"}, id="self among args"),
        pytest.param({"malloc": "import functools; malloc = functools.partial(print)"}, id="partial"),
        pytest.param({"malloc": "malloc = staticmethod(lambda size, stream=0: 1)"}, id="static method"),
        pytest.param({"__init__": "def __init__(self, driver, limit=0): pass"}, id="keyword also by position"),
        pytest.param({"blocks": "def blocks(self): return iter(())"}, id="iterator without yield"),
        pytest.param({"used": "used = 0"}, id="attribute for a property"),
        pytest.param({"replay": "import functools\n@functools.cache\ndef replay(events, seed=0): pass"}, id="cached"),
        pytest.param({"replay": "replay = max"}, id="builtin without a signature"),
        pytest.param(
            {"replay": "class C:\n    def __call__(self, events, seed=0): pass\nreplay = C()"}, id="callable object"
        ),
        pytest.param({"Block": "import collections\nBlock = collections.namedtuple('Block', 'addr size')"}, id="class"),
    ],
)
def test_what_the_tests_can_call_is_accepted(changes: dict[str, str]) -> None:
    """Only what would break a call that the stub allows is a slip."""
    assert None is check(**changes)


@pytest.mark.parametrize(
    ("changes", "said", "actual"),
    [
        pytest.param({"replay": ""}, "`replay` is missing.", "nothing of that name", id="missing"),
        pytest.param(
            {"replay": "def Replay(events, seed=0): pass"},
            "`replay` is missing; did you mean it by `Replay`?",
            "Replay",
            id="other case",
        ),
        pytest.param(
            {"malloc": "def mallloc(self, size, stream=0): pass"},
            "`Allocator.malloc` is missing; did you mean it by `mallloc`?",
            "mallloc",
            id="misspelt method",
        ),
        pytest.param(
            {"replay": "class replay: pass"},
            "`replay` should be a function; it is a class.",
            "class replay",
            id="class for function",
        ),
        pytest.param(
            {"Block": "def Block(addr, size): pass"},
            "`Block` should be a class; it is a function.",
            "def Block(addr, size)",
            id="function for class",
        ),
        pytest.param({"replay": "replay = 3"}, "`replay` should be a function; it is a int.", "replay = 3", id="value"),
        pytest.param(
            {"malloc": "async def malloc(self, size, stream=0): pass"},
            "`Allocator.malloc` is async; a plain function is expected.",
            "async def malloc(self, size, stream=0)",
            id="async",
        ),
        pytest.param(
            {"drain": "def drain(queue): pass"}, "`drain` should be async.", "def drain(queue)", id="not async"
        ),
        pytest.param(
            {"malloc": "def malloc(self, size, stream=0): yield 1"},
            "`Allocator.malloc` is a generator, because it contains `yield`; it should return its result.",
            "def malloc(self, size, stream=0)",
            id="generator",
        ),
        pytest.param(
            {"malloc": "def malloc(self, size): pass"},
            "`Allocator.malloc` lacks the parameter `stream`.",
            "def malloc(self, size)",
            id="too few",
        ),
        pytest.param(
            {"malloc": "def malloc(self, size, pool, stream=0): pass"},
            "`Allocator.malloc` calls its parameter `stream` by another name: `pool`.",
            "def malloc(self, size, pool, stream=0)",
            id="one in between",
        ),
        pytest.param(
            {"malloc": "def malloc(self, size, stream, pool): pass"},
            "`Allocator.malloc`: the parameter `stream` has lost its default.",
            "def malloc(self, size, stream, pool)",
            id="default lost",
        ),
        pytest.param(
            {"replay": "def replay(events, seed=0, *, pool): pass"},
            "`replay` has one parameter too many: `pool` has no default.",
            "def replay(events, seed=0, *, pool)",
            id="too many",
        ),
        pytest.param(
            {"malloc": "def malloc(self, stream=0, size=0): pass"},
            "`Allocator.malloc` has its parameters in another order.",
            "def malloc(self, stream=0, size=0)",
            id="order",
        ),
        pytest.param(
            {"malloc": "def malloc(): pass"}, "`Allocator.malloc` takes no `self`.", "def malloc()", id="no self"
        ),
        pytest.param({"__init__": ""}, "`Allocator.__init__` is missing.", "nothing of that name", id="init of object"),
        pytest.param(
            {"__init__": "def __init__(self, driver): pass"},
            "`Allocator.__init__` lacks the parameter `limit`.",
            "def __init__(self, driver)",
            id="keyword only",
        ),
        pytest.param(
            {"used": "def used(self): return 1"},
            "`Allocator.used` should be a property: `@property` is missing.",
            "def used(self)",
            id="method for property",
        ),
        pytest.param(
            {"round_up": "@staticmethod\n    def round_up(): pass"},
            "`Allocator.round_up` lacks the parameter `size`.",
            "def round_up()",
            id="static",
        ),
        pytest.param(
            {"empty": "@classmethod\n    def empty(cls): pass"},
            "`Allocator.empty` lacks the parameter `driver`.",
            "def empty(cls)",
            id="class method",
        ),
    ],
)
def test_a_slip_is_told_in_words(changes: dict[str, str], said: str, actual: str) -> None:
    """The first sentence names what is wrong, ``actual`` shows the learner's own line."""
    found = check(**changes)
    assert found is not None
    assert ("interface", said, actual) == (found["kind"], found["what"]["en"], found["actual"])


def test_the_signature_is_shown_as_the_stub_writes_it() -> None:
    """Annotations, spaces and quotes stand as in the stub; one over several lines is joined."""
    shown = {promise.path: promise.text for promise in read_promises(STUB)}
    assert {
        "Block": "class Block",
        "Allocator": "class Allocator",
        "Allocator.__init__": 'def __init__(self, driver: "Driver", *, limit: int = 0) -> None',
        "Allocator.malloc": "def malloc(self, size: int, stream: int = 0) -> Block",
        "Allocator.blocks": "def blocks(self) -> Iterator[Block]",
        "Allocator.used": "def used(self) -> int",
        "Allocator.round_up": "def round_up(size: int) -> int",
        "Allocator.empty": 'def empty(cls, driver) -> "Allocator"',
        "replay": "def replay(events: list[str], seed: int=0) -> int",
        "drain": "async def drain(queue) -> None",
    } == shown


def test_all_slips_stand_in_one_diagnostic() -> None:
    """The first slip is told, the others are listed below it."""
    found = check(malloc="def malloc(self): pass", replay="def replay(): pass")
    assert found is not None
    assert "`Allocator.malloc` lacks the parameter `size`. 1 more below." == found["what"]["en"]
    assert "def replay(events: list[str], seed: int=0) -> int\n    def replay()" in found["picture"]["en"]


def test_an_object_that_cannot_be_looked_at_is_left_to_the_tests() -> None:
    """A hostile object does not bring the judge down."""
    source = """
        class Hostile:
            def __getattribute__(self, name):
                raise RuntimeError(name)
            def __call__(self): pass

        replay = Hostile()
    """
    names: dict[str, Any] = {}
    exec(textwrap.dedent(source), names)
    assert None is check_interface(names, "def replay(events): ...", "solution.py")


def test_a_slip_is_wrong_and_no_test_runs(tmp_path: Path) -> None:
    """In a run, the learner hears of the signature before any test."""
    report = run_child(tmp_path, "\n\ndef double(): return 1\n")
    assert ["hello", "load_failed", "done"] == report.kinds
    assert "wrong" == report.failure["status"]
    found = report.failure["diagnostic"]
    assert ("def double(number: int) -> int", "def double()") == (found["expected"], found["actual"])
    assert 3 == found["frames"][0]["line"]
    report.validate()
