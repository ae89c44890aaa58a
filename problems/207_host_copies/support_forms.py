"""Forms that a tensor may come in: memory, strides, and the pair of dtypes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

F32, BF16 = torch.float32, torch.bfloat16

PAIRS = [
    (F32, F32),
    (F32, BF16),
    (BF16, F32),
    (torch.float64, torch.float16),
    (torch.int64, torch.uint8),
    (F32, torch.int64),
]

STRIDES: dict[str, Callable[[Tensor], Tensor]] = {
    "permuted": lambda x: x.permute(2, 0, 1),
    "every_other_column": lambda x: x[..., ::2],
    "one_column": lambda x: x[:, :, 3],
    "one_of_each": lambda x: x[:1, :, :1],
    "expanded": lambda x: x[:1].expand(5, -1, -1),
    "overlapping": lambda x: x.view(-1).unfold(0, 4, 2),
}


def name_pair(pair: tuple[torch.dtype, torch.dtype]) -> str:
    """Return the id of a pair of dtypes."""
    return "_to_".join(str(dtype).removeprefix("torch.") for dtype in pair)
