"""The device half of torch.cuda and torch.accelerator, and leaving it all as it was."""

from __future__ import annotations

import os

import pytest

from judge.devices.sim.errors import NotSimulated


@pytest.fixture
def torch(simulation):
    """Return torch with the simulated device under it."""
    import torch

    return torch


def test_there_is_one_device(torch):
    """However it is asked for."""
    assert torch.cuda.is_available()
    assert (1, 0, 1) == (torch.cuda.device_count(), torch.cuda.current_device(), torch.accelerator.device_count())
    assert torch.device("cuda") == torch.accelerator.current_accelerator()


def test_cuda_initialises_itself_when_it_is_needed(torch):
    """As on a real device, and not before."""
    assert not torch.cuda.is_initialized()
    torch.cuda.current_stream()
    assert torch.cuda.is_initialized()


@pytest.mark.parametrize(
    "call",
    [
        lambda torch: torch.cuda.set_device(1),
        lambda torch: torch.cuda.synchronize(1),
        lambda torch: torch.cuda.Stream(device=1),
        lambda torch: torch.Stream(device="cuda:1"),
        lambda torch: torch.Event(device="cuda:1"),
        lambda torch: torch.cuda.current_stream(1),
        lambda torch: torch.accelerator.set_device_index(1),
    ],
    ids=["set_device", "synchronize", "cuda.Stream", "Stream", "Event", "current_stream", "accelerator"],
)
def test_a_second_device_needs_a_real_gpu(torch, call):
    """The error names the call and the device."""
    with pytest.raises(NotSimulated, match=r"^torch\.\S+ on cuda:1 needs a real GPU: one device is simulated, cuda:0$"):
        call(torch)


def test_device_contexts_of_the_only_device_change_nothing(torch):
    """Index, device, none and negative."""
    for which in (0, torch.device("cuda"), "cuda:0", -1, None):
        with torch.cuda.device(which):
            assert 0 == torch.cuda.current_device()


@pytest.mark.parametrize("name", ["utilization", "temperature", "power_draw", "clock_rate", "memory_usage"])
def test_sensors_need_a_real_gpu(torch, name):
    """There is nothing to read."""
    with pytest.raises(NotSimulated, match=f"torch.cuda.{name} needs a real GPU: a simulated device has no sensors"):
        getattr(torch.cuda, name)()


def test_sleep_keeps_the_stream_busy_and_not_the_host(torch, simulation):
    """Two billion cycles are about a second."""
    torch.cuda._sleep(2_000_000_000)
    assert simulation.machine.clock.host_us < 1e5
    torch.cuda.synchronize()
    assert 1.01e6 == pytest.approx(simulation.machine.clock.host_us, rel=0.01)


def test_elapsed_time_is_virtual(torch):
    """As measured on the H200: 100 million cycles took 50.6 ms."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    torch.cuda._sleep(100_000_000)
    end.record()
    end.synchronize()
    assert 50.6 == pytest.approx(start.elapsed_time(end), rel=0.01)


def test_a_forked_child_may_not_use_the_device(torch):
    """PyTorch says so; what was not initialised before the fork is no trouble."""
    torch.cuda.init()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            torch.cuda.current_stream()
            answer = "no error"
        except RuntimeError as error:
            answer = str(error)
        os.write(write, answer.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read().startswith("Cannot re-initialize CUDA in forked subprocess.")


def test_the_accelerator_can_switch_streams(torch):
    """Both interfaces see the same current stream."""
    stream = torch.Stream(device="cuda")
    torch.accelerator.set_stream(stream)
    assert stream.stream_id == torch.cuda.current_stream().stream_id == torch.accelerator.current_stream().stream_id


def test_torch_is_exactly_as_it_was_afterwards():
    """Every attribute of the modules that were touched is the same object again."""
    import torch
    import torch.backends.cuda
    import torch.backends.cudnn

    from judge.devices.sim.install import install

    modules = [torch, torch._C, torch.cuda, torch.accelerator, torch.backends.cudnn, torch.version, torch.cuda.nvtx]

    def look():
        return [dict(vars(module)) for module in modules], torch.cuda.Stream.__mro__, torch.cuda.Event.__mro__

    with install():
        pass  # the first installation imports submodules, which stay
    before = look()
    with install():
        torch.cuda.Stream().synchronize()
        torch.cuda.Event().record()
    after = look()
    assert before[1:] == after[1:]
    for old, new in zip(before[0], after[0], strict=True):
        assert set(old) == set(new)
        assert [] == [name for name in old if old[name] is not new[name]]


def test_ranges_and_profiler_switches_are_accepted(torch):
    """Code that marks itself for a profiler runs."""
    with torch.cuda.nvtx.range("step {}", 1), torch.cuda.profiler.profile():
        torch.cuda.nvtx.mark("here")
    torch.cuda.nvtx.range_end(torch.cuda.nvtx.range_start("across threads"))


def test_the_runtime_tells_free_memory_as_pytorch_does(torch):
    """Two ways to the same figures."""
    kept = torch.empty(1 << 20, device="cuda")
    assert torch.cuda.mem_get_info() == torch.cuda.cudart().cudaMemGetInfo(kept.get_device())
