"""A machine's memory is what the environment and the profile say."""

from __future__ import annotations

import pytest

from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.provision import provide_memory, read_settings
from tests.devices.sim.engine import make_machine, make_work

MIB = 1 << 20


@pytest.fixture
def machine():
    """Return a device with memory."""
    machine = make_machine()
    provide_memory(machine, environment={})
    yield machine
    machine.memory.close()
    machine.pinned.close()


def test_the_cuda_variable_wins_over_the_general_one():
    """Even when it says nothing."""
    general = {"PYTORCH_ALLOC_CONF": "max_split_size_mb:64"}
    assert 64 * MIB == read_settings(general).max_split_bytes
    assert 32 * MIB == read_settings({**general, "PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:32"}).max_split_bytes
    assert not read_settings({**general, "PYTORCH_CUDA_ALLOC_CONF": ""}).has_split_limit


def test_a_mistake_has_pytorch_s_text():
    """As at the start of any program with such a variable."""
    with pytest.raises(ValueError, match="Unrecognized key 'colour' in CUDA allocator config"):
        read_settings({"PYTORCH_CUDA_ALLOC_CONF": "colour:blue"})


def test_another_backend_needs_a_real_gpu():
    """The message says which variable asked for it."""
    with pytest.raises(NotSimulated, match=r"^PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync needs a real GPU"):
        read_settings({"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})


def test_caching_can_be_turned_off_by_the_environment():
    """``PYTORCH_NO_CUDA_MEMORY_CACHING``."""
    machine = make_machine()
    provide_memory(machine, environment={"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"})
    is_caching = machine.memory.is_caching
    machine.memory.close()
    machine.pinned.close()
    assert not is_caching


def test_the_driver_s_calls_take_host_time(machine):
    """A block from the pool takes none here: ops pay for theirs."""
    start_us = machine.clock.host_us
    machine.memory.allocate(1000)
    after_us = machine.clock.host_us
    machine.memory.allocate(1000)
    assert machine.profile.host.malloc_us == after_us - start_us
    assert after_us == machine.clock.host_us


def test_giving_a_segment_back_waits_for_the_device(machine):
    """``cudaFree`` does; sync debug mode says nothing."""
    address = machine.memory.allocate(1000)
    machine.launch(make_work(5000.0), [], [])
    machine.memory.free(address)
    machine.memory.empty_cache()
    (wait,) = machine.ledger.waits
    assert ("allocator_flush", "cudaFree", False) == (wait.kind, wait.call, wait.is_seen_by_debug_mode)
    assert wait.waited_us > 4000.0


def test_an_idle_device_is_not_waited_for(machine):
    """Nothing to wait for, nothing in the ledger."""
    machine.memory.free(machine.memory.allocate(1000))
    machine.memory.empty_cache()
    assert [] == machine.ledger.waits


def test_a_recorded_stream_holds_a_block_until_its_work_is_done(machine):
    """On the virtual clock."""
    stream = machine.streams.get()
    address = machine.memory.allocate(1000)
    machine.launch(make_work(5000.0), [], [], stream=stream)
    machine.memory.record_stream(address, stream.handle)
    machine.memory.free(address)
    assert address != machine.memory.allocate(1000)
    machine.clock.advance(6000.0)
    assert address == machine.memory.allocate(1000)


def test_history_has_virtual_times_and_the_user_s_frames(machine):
    """Frames of the simulation are left out."""
    machine.memory.allocator.history.start(max_entries=100)
    machine.memory.allocate(1000)
    machine.clock.advance(1000.0)
    machine.memory.allocate(1000)
    first, second = (e for e in machine.memory.allocator.history.entries if e["action"] == "alloc")
    assert 1000 <= second["time_us"] - first["time_us"] <= 1001
    frame = first["frames"][0]
    assert (__file__, "test_history_has_virtual_times_and_the_user_s_frames") == (frame["filename"], frame["name"])
