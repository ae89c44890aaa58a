"""What the tests of this problem share: a trial that runs model and runner from the same state, and compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from support_model import WIDTH, Model, find_positions, list_all, read
from torch import Tensor

Pair = tuple[str, str]

LOOK_DRAW: Pair = (
    "A replay takes seed and offset of every registered generator as they are then. What else has set or moved them?",
    "重放时，每个已登记的生成器的种子和偏移以那一刻为准。还有谁设置过、移动过它们？",
)
LOOK_MOVED: Pair = (
    "A replay moves each registered generator on by itself. Is it the caller's own, and did others move it too?",
    "重放会自己把登记过的生成器往前移。登记的是调用者自己的那个吗？还有谁也移动了它？",
)
LOOK_REGISTER: Pair = (
    "A graph knows the default generator. Every other one must be registered with it, before the capture.",
    "图只认得默认生成器。其他每一个都要在捕获之前登记到图上。",
)
LOOK_BUILT: Pair = (
    "Warm-up calls draw like any other call. What are a generator's seed and offset afterwards, what were they before?",
    "预热也会像其他调用一样取随机数。预热之后生成器的种子和偏移是什么，之前又是什么？",
)


class Trial:
    """Calls the model and then the runner from the same state of all generators, and compares.

    Args:
        solution: the judged module.
        expect: the judge's fixture.
        model: what the runner runs.
        example: what it is captured with.
        generators: what the model draws from, beside the default one.
        runner: one that exists already; built if left out.
    """

    def __init__(
        self,
        solution: ModuleType,
        expect: Any,
        model: Model,
        example: Tensor,
        generators: Sequence[torch.Generator],
        runner: Any = None,
    ) -> None:
        self.expect = expect
        self.model = model
        self.generators = generators
        self.outputs: list[Any] = []
        self.labels: list[str] = []
        self.runner = self._build(solution, example) if runner is None else runner

    def _build(self, solution: ModuleType, example: Tensor) -> Any:
        """Return a runner that was built unnoticed; where the capture refuses a generator, that is told."""
        __tracebackhide__ = True
        before = find_positions(self.generators)
        try:
            runner = solution.SeededRunner(self.model, example, self.generators)
        except RuntimeError as error:
            if "generator" not in str(error):
                raise
            what = (
                "the capture failed: the graph does not know a generator that the model draws from",
                "捕获失败：模型要用的一个生成器，图不认得",
            )
            self.expect.fail(what, None, str(error).splitlines()[0], LOOK_REGISTER)
        expect_positions(self.expect, self.generators, before)
        return runner

    def run_model(self, x: Tensor) -> tuple[Tensor, list[tuple[int, int]]]:
        """Return the model's own result, and where it leaves the generators; then put them back."""
        states = [one.get_state() for one in list_all(self.generators)]
        with torch.no_grad():
            y = self.model.run(x, *self.generators)
        positions = find_positions(self.generators)
        for one, state in zip(list_all(self.generators), states, strict=True):
            one.set_state(state)
        return y, positions

    def serve(self, x: Tensor, label: str) -> Tensor:
        """Return the runner's result, once it and the generators have been found as the model leaves them."""
        __tracebackhide__ = True
        wanted, positions = self.run_model(x)
        y = self.runner(x)
        self.expect.tensor(y, f"runner(x), {label}", dtype=wanted.dtype, shape=wanted.shape, device=x.device.type)
        self.check(y, read(wanted), label)
        found = find_positions(self.generators)
        for (english, chinese), one, other in zip(name_all(self.generators), found, positions, strict=True):
            what = (
                f"{label}: {english} was not left where the model leaves it",
                f"{label}：{chinese}停的位置与模型自己运行后不同",
            )
            self.expect.equal(_tell(one), _tell(other), what, LOOK_MOVED)
        return y

    def check(self, y: Tensor, expected: Any, label: str) -> None:
        """Fail unless y holds the expected numbers; if they are those of an earlier call, that is told."""
        __tracebackhide__ = True
        actual = read(y)
        if actual != expected:
            what = (f"{label}: other numbers than the model itself draws", f"{label}：与模型自己取的随机数不同")
            if actual and actual in self.outputs:
                before = self.labels[self.outputs.index(actual)]
                what = (
                    f"{label}: the numbers of an earlier call again: {before}",
                    f"{label}：又是之前那次的随机数：{before}",
                )
            self.expect.fail(what, *_find_row(expected, actual), LOOK_DRAW)
        self.outputs.append(actual)
        self.labels.append(label)

    def record(self, evidence: Any) -> None:
        """Hand all results and the generators' last positions over as evidence."""
        evidence.exact("outputs", self.outputs, labels=self.labels)
        evidence.exact("positions", [list(one) for one in find_positions(self.generators)])


def name_all(generators: Sequence[torch.Generator]) -> list[Pair]:
    """Return what the generators and the default one are called."""
    names = [(f"generator {number}", f"第 {number} 个生成器") for number in range(len(generators))]
    return [*names, ("the default generator", "默认生成器")]


def expect_positions(expect: Any, generators: Sequence[torch.Generator], before: list[tuple[int, int]]) -> None:
    """Fail where a generator, or the default one, is no more where it was."""
    __tracebackhide__ = True
    for (english, chinese), old, new in zip(name_all(generators), before, find_positions(generators), strict=True):
        seed = (f"the constructor has given {english} another seed", f"构造时改了{chinese}的种子")
        expect.equal(new[0], old[0], seed, LOOK_BUILT)
        offset = (f"the constructor has moved {english}; its offset", f"构造时移动了{chinese}；它的偏移")
        expect.equal(new[1], old[1], offset, LOOK_BUILT)


def _tell(position: tuple[int, int]) -> str:
    return f"seed {position[0]}, offset {position[1]}"


def _find_row(expected: Any, actual: Any) -> tuple[str, str]:
    """Return the first row that differs, on both sides."""
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
            if one != other:
                return f"row {number}: {one}", f"row {number}: {other}"
    return str(expected), str(actual)


@pytest.fixture(autouse=True)
def idle_device(device: str, rng: Random) -> Iterator[None]:
    """Begin each test with an idle device and a default generator that has drawn already."""
    torch.cuda.synchronize(device)
    torch.cuda.manual_seed(rng.getrandbits(32))
    torch.rand(4, device=device)
    yield
    torch.cuda.set_stream(torch.cuda.default_stream(device))


@pytest.fixture
def rows(rng: Random, device: str) -> Callable[..., Tensor]:
    """Return a maker of inputs, (rows, 8): ``rows(4)``, ``rows(4, torch.float16)``."""

    def make(count: int, dtype: torch.dtype = torch.float32) -> Tensor:
        values = [rng.randint(-3, 3) for _ in range(count * WIDTH)]
        return torch.tensor(values, dtype=dtype, device=device).reshape(count, WIDTH)

    return make


@pytest.fixture
def generate(rng: Random, device: str) -> Callable[[], torch.Generator]:
    """Return a maker of generators, each with a seed of its own, and not at its beginning."""

    def make() -> torch.Generator:
        generator = torch.Generator(device)
        generator.manual_seed(rng.getrandbits(32))
        torch.rand(4, device=device, generator=generator)
        return generator

    return make


@pytest.fixture
def attempt(solution: ModuleType, expect: Any) -> Callable[..., Trial]:
    """Return a maker of trials, each with a runner of its own: ``attempt(add_normal, example, [generator])``."""

    def make(
        run: Callable[..., Tensor] | Model, example: Tensor, generators: Sequence[torch.Generator], runner: Any = None
    ) -> Trial:
        return Trial(solution, expect, run if isinstance(run, Model) else Model(run), example, generators, runner)

    return make
