"""What PyTorch says to the same question."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import torch
from torch import Tensor

Shape = tuple[int, ...]
Place = tuple[Shape, Shape, int]

STORAGE = 64
"""Elements of a storage: enough for every layout of the tests."""

VERDICTS = {
    "more than one element of the written-to": "internal overlap",
    "some elements of the input tensor and the written-to": "partial overlap",
    "doesn't match the broadcast shape": "other shape",
}
IN_PLACE: dict[int, Callable[..., Tensor]] = {1: Tensor.add_, 2: Tensor.addcmul_}
INTO: dict[int, Callable[..., Tensor]] = {1: torch.neg, 2: torch.add, 3: torch.addcmul}


def tell_shape(shapes: Sequence[Shape]) -> Shape | str:
    """Return the shape of an elementwise result of tensors of these shapes, or what PyTorch says against it."""
    function = {1: torch.neg, 2: torch.add, 3: torch.addcmul}[len(shapes)]
    try:
        return tuple(function(*(torch.zeros(shape) for shape in shapes)).shape)
    except RuntimeError as error:
        return str(error)


def tell_inplace(places: Sequence[tuple[Place, int]]) -> str:
    """Return what becomes of writing in place to the first of several layouts; or PyTorch's words."""
    target, *others = _lay_out(places)
    return _read_verdict(lambda: IN_PLACE[len(others)](target, *others))


def tell_out(places: Sequence[tuple[Place, int]]) -> str:
    """Return what becomes of ``out=`` with the first of several layouts; or PyTorch's words."""
    out, *operands = _lay_out(places)
    before = out.shape
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="An output with one or more elements was resized")
        verdict = _read_verdict(lambda: INTO[len(operands)](*operands, out=out))
    return "resized" if verdict == "ok" and out.shape != before else verdict


def _lay_out(places: Sequence[tuple[Place, int]]) -> list[Tensor]:
    """Return tensors of these layouts; those with the same number share a storage."""
    storages = {number: torch.zeros(STORAGE) for _, number in places}
    return [storages[number].as_strided(*place) for place, number in places]


def _read_verdict(call: Callable[[], Any]) -> str:
    try:
        call()
    except RuntimeError as error:
        return next((verdict for words, verdict in VERDICTS.items() if words in str(error)), str(error))
    return "ok"


def draw_shapes(rng: Random, count: int, most: int = 4, wrong: float = 0.04) -> list[Shape]:
    """Return shapes that mostly fit together."""
    full = [rng.choice((0, 1, 2, 3, 3, 5)) for _ in range(rng.randrange(most + 1))]
    shapes = []
    for _ in range(count):
        kept = full[rng.randrange(len(full) + 1) if rng.random() < 0.5 else 0 :]
        shapes.append(tuple(_draw_size(rng, size, wrong) for size in kept))
    return shapes


def _draw_size(rng: Random, size: int, wrong: float) -> int:
    if rng.random() < wrong:
        return rng.choice((2, 4))
    return 1 if rng.random() < 0.3 else size


SHAPES: tuple[Shape, ...] = ((2, 3), (3, 3), (4, 1), (1, 4), (2, 2), (6,), (3,), (1,), (0, 3), ())


def draw_place(rng: Random) -> Place:
    """Return a layout near the start of a storage: dense, transposed, a slice, every other column, or expanded."""
    shape = rng.choice(SHAPES)
    count = torch.Size(shape).numel()
    rest = torch.empty(STORAGE)[rng.randrange(4) :]
    dense = rest[:count].view(shape)
    views = [dense, dense, rest[0].expand(shape)]
    if shape:
        views += [dense.transpose(0, -1), dense[: shape[0] // 2 + 1], dense[shape[0] // 2 :]]
        views += [rest[: 2 * count].view(*shape[:-1], 2 * shape[-1])[..., ::2]]
    found = rng.choice(views)
    return tuple(found.shape), tuple(found.stride()), found.storage_offset()
