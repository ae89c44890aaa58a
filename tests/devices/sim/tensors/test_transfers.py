"""Copies between host and device: who waits, and when their bytes are read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

COUNT = 1 << 20
BUSY_CYCLES = 60_000_000


@pytest.fixture
def is_blocked(simulation: Any) -> Callable[[Callable[[], Any]], bool]:
    """Return what tells whether a call makes the host wait for a stream that is busy."""
    clock = simulation.machine.clock

    def ask(call: Callable[[], Any]) -> bool:
        torch.cuda.synchronize()
        torch.cuda._sleep(BUSY_CYCLES)
        start_us = clock.host_us
        call()
        return clock.host_us - start_us > 10_000

    return ask


def test_which_copies_to_the_device_block(is_blocked: Any) -> None:
    """Only asynchronous ones, from pinned memory or small, do not."""
    device = torch.zeros(COUNT, device="cuda")
    pageable, pinned = torch.ones(COUNT), torch.ones(COUNT).pin_memory()
    blocked = {
        "pageable": is_blocked(lambda: device.copy_(pageable)),
        "pageable async": is_blocked(lambda: device.copy_(pageable, non_blocking=True)),
        "small pageable async": is_blocked(lambda: device[:16].copy_(pageable[:16], non_blocking=True)),
        "pinned": is_blocked(lambda: device.copy_(pinned)),
        "pinned async": is_blocked(lambda: device.copy_(pinned, non_blocking=True)),
    }
    assert {
        "pageable": True,
        "pageable async": True,
        "small pageable async": False,
        "pinned": True,
        "pinned async": False,
    } == blocked


def test_which_copies_to_the_host_block(is_blocked: Any) -> None:
    """Only an asynchronous one into pinned memory does not; ``to("cpu", non_blocking=True)`` is one."""
    device = torch.zeros(COUNT, device="cuda")
    pageable, pinned = torch.ones(COUNT), torch.ones(COUNT).pin_memory()
    blocked = {
        "to": is_blocked(lambda: device.to("cpu")),
        "to async": is_blocked(lambda: device.to("cpu", non_blocking=True)),
        "pageable async": is_blocked(lambda: pageable.copy_(device, non_blocking=True)),
        "pinned": is_blocked(lambda: pinned.copy_(device)),
        "pinned async": is_blocked(lambda: pinned.copy_(device, non_blocking=True)),
    }
    assert {"to": True, "to async": False, "pageable async": True, "pinned": True, "pinned async": False} == blocked


def test_an_asynchronous_copy_to_the_host_shows_its_bytes_after_a_wait(simulation: Any) -> None:
    """Read too early, the buffer holds what it held before."""
    source = torch.ones(4, device="cuda")
    target = torch.zeros(4).pin_memory()
    target.copy_(source, non_blocking=True)
    early = target.tolist()
    torch.cuda.synchronize()
    assert ([0.0] * 4, [1.0] * 4) == (early, target.tolist())
    assert ["host-read-early"] == [race.kind for race in simulation.machine.shadow.races]


@pytest.mark.parametrize(
    "look",
    [
        lambda t: t[:2], lambda t: t.view(2, 2), lambda t: t.view(torch.int32), lambda t: t.detach(), lambda t: t[1],
        lambda t: t.expand(3, 4), lambda t: t.split(2), lambda t: t.unbind(), lambda t: t.as_strided((2,), (2,)),
        lambda t: t.reshape(2, 2), lambda t: t.unsqueeze(0).squeeze(0), lambda t: t.view(2, 2).t().flatten(0).size(),
    ],
    ids=[
        "slice", "view", "view as another dtype", "detach", "select", "expand", "split", "unbind", "as_strided",
        "reshape", "squeeze", "a copy",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["eager", "inference"])
def test_a_view_of_a_pinned_buffer_reads_nothing(simulation: Any, look: Any, mode: str, request: Any) -> None:
    """Who hands out a slice of a buffer does not look into it; a flatten that has to copy does."""
    source = torch.ones(4, device="cuda")
    target = torch.zeros(4).pin_memory()
    with torch.inference_mode(mode == "inference"):
        target.copy_(source, non_blocking=True)
        look(target)
    races = [race.kind for race in simulation.machine.shadow.races]
    assert (["host-read-early"] if "a copy" in request.node.name else []) == races


def test_to_the_host_without_waiting_is_pinned(simulation: Any) -> None:
    """So the copy can be asynchronous."""
    assert torch.ones(4, device="cuda").to("cpu", non_blocking=True).is_pinned()


def test_a_pinned_source_is_read_when_the_copy_runs(simulation: Any) -> None:
    """Overwritten meanwhile, it sends the new bytes, and the race is reported."""
    source = torch.ones(4).pin_memory()
    target = source.to("cuda", non_blocking=True)
    source.fill_(9)
    torch.cuda.synchronize()
    assert [9.0] * 4 == target.tolist()
    assert ["host-write-early"] == [race.kind for race in simulation.machine.shadow.races]


def test_a_copy_in_sends_what_an_ordered_copy_out_has_brought(simulation: Any) -> None:
    """Out and in again, ordered on the device alone: the host may not see the bytes yet, the second copy does."""
    x = torch.full((4,), 5.0, device="cuda")
    staging = torch.zeros(4).pin_memory()
    out, back = torch.cuda.Stream(), torch.cuda.Stream()
    out.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(out):
        torch.cuda._sleep(BUSY_CYCLES)
        staging.copy_(x, non_blocking=True)
    back.wait_event(out.record_event())
    with torch.cuda.stream(back):
        again = staging.to("cuda", non_blocking=True)
    hidden = torch.zeros(4).set_(staging).clone()
    torch.cuda.current_stream().wait_stream(back)
    assert [[0.0] * 4, [5.0] * 4, [5.0] * 4] == [hidden.tolist(), again.tolist(), staging.tolist()]


def test_a_graph_may_copy_out_and_in_again(simulation: Any) -> None:
    """The second node sends what the first has brought."""
    x, y = torch.full((4,), 5.0, device="cuda"), torch.zeros(4, device="cuda")
    staging = torch.zeros(4).pin_memory()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        staging.copy_(x, non_blocking=True)
        y.copy_(staging, non_blocking=True)
    graph.replay()
    torch.cuda.synchronize()
    assert [[5.0] * 4] * 2 == [y.tolist(), staging.tolist()]


def test_python_data_may_be_pinned_at_once(simulation: Any) -> None:
    """``torch.tensor`` takes ``pin_memory``, as the factories do."""
    assert torch.tensor([1, 2], pin_memory=True).is_pinned()
    assert not torch.tensor([1, 2]).is_pinned()


def test_a_pageable_source_is_read_at_the_call(simulation: Any) -> None:
    """It may be overwritten at once."""
    source = torch.ones(4)
    target = source.to("cuda", non_blocking=True)
    source.fill_(9)
    assert ([1.0] * 4, []) == (target.tolist(), simulation.machine.shadow.races)


def test_a_pinned_source_may_be_overwritten_after_an_event(simulation: Any) -> None:
    """Once the host has waited for the copy, its bytes are the host's again."""
    source = torch.ones(4).pin_memory()
    target = source.to("cuda", non_blocking=True)
    event = torch.cuda.Event()
    event.record()
    event.synchronize()
    source.fill_(9)
    torch.cuda.synchronize()
    assert ([1.0] * 4, []) == (target.tolist(), simulation.machine.shadow.races)


@pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])
@pytest.mark.parametrize(
    "shape",
    [lambda x: x, lambda x: x.t(), lambda x: x[:, ::2], lambda x: x[:1]],
    ids=["contiguous", "transposed", "strided", "broadcast"],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32], ids=str)
def test_conversions_and_strides_do_not_change_values(
    simulation: Any, dtype: torch.dtype, shape: Callable[[Any], Any], is_async: bool
) -> None:
    """Both ways, as ``copy_`` between host tensors would do."""
    source = shape(torch.arange(16.0).view(4, 4))
    expected = torch.zeros(4, source.shape[1], dtype=dtype).copy_(source)
    there = torch.zeros(4, source.shape[1], dtype=dtype, device="cuda").copy_(source, non_blocking=is_async)
    back = torch.zeros(4, source.shape[1], dtype=dtype).copy_(source.cuda(), non_blocking=is_async)
    torch.cuda.synchronize()
    assert expected.tolist() == there.tolist() == back.tolist()


def test_pageable_copies_are_refused_in_a_capture(simulation: Any) -> None:
    """PyTorch's text; the capture itself stays valid."""
    target, source = torch.ones(4, device="cuda"), torch.ones(4)
    graph = torch.cuda.CUDAGraph()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the graph is empty
        graph.capture_begin()
        with pytest.raises(RuntimeError, match=r"Cannot copy between CPU and CUDA tensors during CUDA graph capture"):
            target.copy_(source)
        graph.capture_end()


def test_debug_mode_raises_before_anything_is_copied(simulation: Any) -> None:
    """Under ``error``, the target holds what it held."""
    target = torch.zeros(4, device="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notice
        torch.cuda.set_sync_debug_mode("error")
    with pytest.raises(RuntimeError, match=r"^called a synchronizing CUDA operation$"):
        target.copy_(torch.ones(4))
    torch.cuda.set_sync_debug_mode("default")
    assert [0.0] * 4 == target.tolist()


def test_gradients_cross_over(simulation: Any) -> None:
    """A leaf of the host gets its gradient on the host, a leaf of the device on the device."""
    host, device = torch.ones(2, requires_grad=True), torch.ones(2, device="cuda", requires_grad=True)
    (host.cuda() * device.to(torch.float64)).sum().backward()
    assert (torch.device("cpu"), torch.device("cuda:0")) == (host.grad.device, device.grad.device)
    assert (torch.float32, torch.float32) == (host.grad.dtype, device.grad.dtype)


@pytest.mark.parametrize(
    ("call", "written"),
    [
        (lambda x: x.item(), "Tensor.item"),
        (lambda x: float(x), "float(Tensor)"),
        (lambda x: bool(x > 0), "bool(Tensor)"),
        (lambda x: x.cpu(), "Tensor.cpu"),
        (lambda x: x.to("cpu"), "Tensor.to"),
        (lambda x: x.tolist(), "Tensor.tolist"),
        (lambda x: repr(x), "repr(Tensor)"),
        (lambda x: torch.tensor(1.0, device="cuda"), "torch.tensor"),
        (lambda x: x.nonzero(), "torch.nonzero"),
    ],
    ids=["item", "float", "bool", "cpu", "to", "tolist", "repr", "tensor", "nonzero"],
)
def test_the_ledger_has_the_users_words(simulation: Any, call: Callable[[Any], Any], written: str) -> None:
    """Each wait is entered with what the user wrote, and the line."""
    tensor = torch.ones((), device="cuda")
    start = len(simulation.machine.ledger.waits)
    call(tensor)
    wait = simulation.machine.ledger.waits[start]
    assert (written, __file__) == (wait.call, wait.site.file)
