"""The programs of the sync table: one call each, on tensors that are there already."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch


class Bench:
    """The tensors and streams that the programs work on."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.numbers = torch.randn(1024, device="cuda")
        self.digits = torch.randint(0, 10, (1024,), device="cuda")
        self.mask = self.numbers > 0
        self.square = torch.randn(256, 256, device="cuda")
        self.definite = self.square @ self.square.T + 256 * torch.eye(256, device="cuda")
        self.pageable = torch.randn(1 << 20)
        self.pinned = torch.randn(1 << 20).pin_memory()
        self.buffer = torch.randn(1 << 20, device="cuda")
        self.pinned_out = torch.empty(1 << 20, pin_memory=True)
        self.small = torch.randn(16)
        self.weights = torch.rand(8, 64, device="cuda")
        self.event = torch.cuda.Event()
        self.side = torch.cuda.Stream()
        self.scalar = torch.tensor(3.0)
        self.places = [0, 2, 4]
        self.places_on_device = torch.tensor(self.places, device="cuda")
        self.parameter = torch.nn.Parameter(self.square.clone())
        self.parameter.grad = torch.randn_like(self.parameter)
        self.optimizer = torch.optim.Adam([self.parameter])


PROGRAMS: dict[str, Callable[[Bench], Any]] = {
    "int()": lambda bench: int(bench.digits[0]),
    "x + python scalar": lambda bench: bench.numbers + 1.0,
    "tensor_split(dev idx)": lambda bench: torch.tensor_split(bench.numbers, bench.places_on_device.cpu()),
    "to('cpu', non_blocking)": lambda bench: bench.buffer.to("cpu", non_blocking=True),
    "x[0] = 1.0": lambda bench: bench.numbers.clone().__setitem__(0, 1.0),
    "cpu": lambda bench: bench.numbers.cpu(),
    "x[mask] = tensor": lambda bench: bench.numbers.clone().__setitem__(bench.mask, bench.numbers[:1]),
    "isclose().all()": lambda bench: torch.isclose(bench.numbers, bench.numbers).all(),
    "matmul": lambda bench: bench.square @ bench.square,
    "bincount(minlength)": lambda bench: torch.bincount(bench.digits, minlength=16),
    "one_hot": lambda bench: torch.nn.functional.one_hot(bench.digits),
    "big new alloc (cudaMalloc)": lambda bench: torch.empty(600 << 20, device="cuda", dtype=torch.uint8),
    "equal": lambda bench: torch.equal(bench.numbers, bench.numbers),
    "empty_cache": lambda bench: torch.cuda.empty_cache(),
    "masked_select": lambda bench: torch.masked_select(bench.numbers, bench.mask),
    "gather": lambda bench: bench.weights.gather(1, bench.weights.argmax(-1, keepdim=True)),
    "D2H pinned blocking": lambda bench: bench.pinned_out.copy_(bench.buffer),
    "memory_snapshot": lambda bench: torch.cuda.memory_snapshot(),
    "one_hot(num_classes)": lambda bench: torch.nn.functional.one_hot(bench.digits, 10),
    "x[0] = dev 0-dim": lambda bench: bench.numbers.clone().__setitem__(0, bench.numbers[1]),
    "bincount": lambda bench: torch.bincount(bench.digits),
    "index_select": lambda bench: bench.numbers.index_select(0, bench.places_on_device),
    "multinomial 1": lambda bench: torch.multinomial(bench.weights, 1),
    "torch.tensor(list, device)": lambda bench: torch.tensor(bench.places, device="cuda"),
    "det": lambda bench: torch.linalg.det(bench.definite),
    "record_stream": lambda bench: bench.numbers.clone().record_stream(bench.side),
    "H2D .to(cuda) pageable": lambda bench: bench.pageable.to("cuda"),
    "mode": lambda bench: bench.digits.mode(),
    "stream.query": lambda bench: torch.cuda.current_stream().query(),
    "manual_seed": lambda bench: torch.cuda.manual_seed(1),
    "get_rng_state": lambda bench: torch.cuda.get_rng_state(),
    "pad_sequence": lambda bench: torch.nn.utils.rnn.pad_sequence([bench.numbers[:3], bench.numbers[:5]]),
    "softmax": lambda bench: torch.softmax(bench.weights, -1),
    "H2D pinned non_blocking": lambda bench: bench.buffer.copy_(bench.pinned, non_blocking=True),
    "randn": lambda bench: torch.randn(4, device="cuda"),
    "sdpa": lambda bench: torch.nn.functional.scaled_dot_product_attention(
        *[bench.square.view(1, 4, 64, 256).half()] * 3
    ),
    "deepcopy": lambda bench: copy.deepcopy(bench.numbers),
    "x[slice]": lambda bench: bench.numbers[2:5],
    "if tensor > 0": lambda bench: 1 if bench.numbers[0] > 0 else 2,
    "masked_fill": lambda bench: bench.numbers.masked_fill(bench.mask, 0.0),
    "masked_scatter": lambda bench: bench.numbers.masked_scatter(bench.mask, bench.numbers),
    "exponential gumbel argmax": lambda bench: (bench.weights / torch.empty_like(bench.weights).exponential_()).argmax(
        -1
    ),
    "wait_event": lambda bench: (bench.event.record(), bench.side.wait_event(bench.event)),
    "multinomial n no-replacement": lambda bench: torch.multinomial(bench.weights, 4),
    "mem_get_info": lambda bench: torch.cuda.mem_get_info(),
    "cholesky_ex": lambda bench: torch.linalg.cholesky_ex(bench.definite),
    "pickle": lambda bench: pickle.dumps(bench.numbers),
    "torch.empty pinned": lambda bench: torch.empty(1 << 20, pin_memory=True),
    "torch.zeros(dev size)": lambda bench: torch.zeros(int(bench.digits[0]) + 1, device="cuda"),
    "x.fill_(cpu 0-dim)": lambda bench: bench.numbers.clone().fill_(bench.scalar),
    "wait_stream": lambda bench: bench.side.wait_stream(torch.cuda.current_stream()),
    "x[mask] = scalar": lambda bench: bench.numbers.clone().__setitem__(bench.mask, 0.0),
    "index_put_ dev idx": lambda bench: bench.numbers.clone().index_put_((bench.places_on_device,), bench.numbers[:3]),
    "x[list]": lambda bench: bench.numbers[bench.places],
    "print/repr": lambda bench: repr(bench.numbers[:4]),
    "solve_ex": lambda bench: torch.linalg.solve_ex(bench.definite, bench.square),
    "torch.as_tensor(np)": lambda bench: torch.as_tensor(bench.small.numpy(), device="cuda"),
    "adam step": lambda bench: bench.optimizer.step(),
    "bool()": lambda bench: bool(bench.mask[0]),
    "range slice by dev": lambda bench: bench.numbers[: bench.digits[0]],
    "to('cpu')": lambda bench: bench.numbers.to("cpu"),
    "event.synchronize": lambda bench: (bench.event.record(), bench.event.synchronize()),
    "torch.cuda.synchronize": lambda bench: torch.cuda.synchronize(),
    "torch.where(c,a,b)": lambda bench: torch.where(bench.mask, bench.numbers, -bench.numbers),
    "multinomial replacement": lambda bench: torch.multinomial(bench.weights, 4, replacement=True),
    "x[mask]": lambda bench: bench.numbers[bench.mask],
    "x.fill_(dev 0-dim)": lambda bench: bench.numbers.clone().fill_(bench.numbers[0]),
    "event.query": lambda bench: (bench.event.record(), bench.event.query()),
    "argwhere": lambda bench: torch.argwhere(bench.mask),
    "nn.CrossEntropy": lambda bench: torch.nn.functional.cross_entropy(bench.weights, bench.weights.argmax(-1)),
    "H2D .to(cuda, nb) pageable": lambda bench: bench.pageable.to("cuda", non_blocking=True),
    "torch.where(c)": lambda bench: torch.where(bench.mask),
    "H2D .to(cuda, nb) pinned": lambda bench: bench.pinned.to("cuda", non_blocking=True),
    "inverse": lambda bench: torch.linalg.inv(bench.definite),
    "torch.full": lambda bench: torch.full((4,), 1.0, device="cuda"),
    "nonzero_static": lambda bench: torch.nonzero_static(bench.mask, size=1024),
    "unique_consecutive": lambda bench: torch.unique_consecutive(bench.digits),
    "normal": lambda bench: torch.normal(bench.numbers, 1.0),
    "torch.tensor(scalar, device)": lambda bench: torch.tensor(1.0, device="cuda"),
    "pin_memory()": lambda bench: bench.small.pin_memory(),
    "combinations": lambda bench: torch.combinations(bench.numbers[:10]),
    "arange": lambda bench: torch.arange(100, device="cuda"),
    "nonzero": lambda bench: bench.mask.nonzero(),
    "tolist": lambda bench: bench.digits.tolist(),
    "H2D pageable blocking": lambda bench: bench.buffer.copy_(bench.pageable),
    "x[cpu idx]": lambda bench: bench.numbers[torch.tensor(bench.places)],
    "nested tensor": lambda bench: torch.nested.nested_tensor([bench.square[:3], bench.square[:5]]),
    "x[0] = cpu 0-dim": lambda bench: bench.numbers.clone().__setitem__(0, bench.scalar),
    "cumsum": lambda bench: bench.numbers.cumsum(0),
    "H2D pageable non_blocking": lambda bench: bench.buffer.copy_(bench.pageable, non_blocking=True),
    "isnan().any()": lambda bench: torch.isnan(bench.numbers).any(),
    "len/shape": lambda bench: bench.numbers.shape[0],
    "H2D small pageable non_blocking": lambda bench: bench.buffer[:16].copy_(bench.small, non_blocking=True),
    "H2D pinned blocking": lambda bench: bench.buffer.copy_(bench.pinned),
    "item": lambda bench: bench.numbers[0].item(),
    "allclose": lambda bench: torch.allclose(bench.numbers, bench.numbers),
    "searchsorted": lambda bench: torch.searchsorted(bench.numbers.sort().values, bench.numbers),
    "cdist": lambda bench: torch.cdist(bench.square, bench.square),
    "assert_close": lambda bench: torch.testing.assert_close(bench.numbers, bench.numbers.clone()),
    "_assert_async": lambda bench: torch._assert_async(torch.isfinite(bench.numbers).all()),
    "svd": lambda bench: torch.linalg.svd(bench.definite),
    "event.record": lambda bench: bench.event.record(),
    "qr": lambda bench: torch.linalg.qr(bench.definite),
}
"""By the name of its row."""
