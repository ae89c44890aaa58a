"""``torch.cuda.memory``: PyTorch's own code over the simulated allocators."""

from __future__ import annotations

import gc
import threading
import warnings

import pytest

from judge.devices.sim.errors import NotSimulated

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch says that it lacks NumPy
    torch = pytest.importorskip("torch")

from judge.devices.sim.surface.memory_calls import HAS_POOLS  # needs torch

MIB = 1 << 20


@pytest.fixture(autouse=True)
def cuda(simulation):
    """Return ``torch.cuda``, initialised: before that, it has no figures."""
    torch.cuda.init()
    return torch.cuda


def make(size_bytes):
    """Return a tensor of so many bytes on the device."""
    return torch.empty(size_bytes, dtype=torch.uint8, device="cuda")


def test_figures_follow_tensors():
    """Allocated, reserved, and the peaks of both."""
    small, large = make(1000), make(5 * MIB)
    del large
    assert (1024, 5 * MIB + 1024) == (torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())
    torch.cuda.empty_cache()
    assert (2 * MIB, 22 * MIB) == (torch.cuda.memory_reserved(), torch.cuda.max_memory_reserved())
    torch.cuda.reset_peak_memory_stats()
    assert (1024, 2 * MIB) == (torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
    del small


def test_before_initialisation_there_are_no_figures(monkeypatch):
    """As in PyTorch: an empty dictionary, and 0."""
    monkeypatch.setattr(torch.cuda, "_initialized", False)
    assert ({}, {}, 0) == (torch.cuda.memory_stats(), torch.cuda.host_memory_stats(), torch.cuda.memory_allocated())


@pytest.mark.parametrize("device", [None, 0, "cuda", "cuda:0", torch.device("cuda", 0)], ids=str)
def test_a_device_may_be_named_in_every_way(device):
    """One device, many names."""
    kept = make(1000)
    assert 1024 == torch.cuda.memory_allocated(device)
    assert torch.cuda.mem_get_info(device) == torch.cuda.mem_get_info()
    del kept


def test_a_second_gpu_needs_a_real_one():
    """The message names it."""
    with pytest.raises(NotSimulated, match="cuda:1"):
        torch.cuda.memory_allocated(1)


def test_statistics_have_pytorch_s_names():
    """Flat and nested, with the pools by their ids."""
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        kept = make(1000)
    flat, nested = torch.cuda.memory_stats(), torch.cuda.memory_stats_as_nested_dict()
    if HAS_POOLS:
        first, second = pool.id
        assert 2 * MIB == nested["reserved_bytes_by_private_pools"][pool.id]["all"]["current"]
        assert 2 * MIB == flat[f"reserved_bytes_by_private_pools.{first}_{second}.small_pool.current"]
    assert 1024 == nested["allocated_bytes"]["small_pool"]["current"]
    assert (1, 1000, -1) == (flat["allocation.all.current"], flat["requested_bytes.all.peak"], flat["max_split_size"])
    del kept


def test_accumulated_figures_start_anew():
    """Sums and counters; the present stays."""
    kept = make(1000)
    torch.cuda.reset_accumulated_memory_stats()
    stats = torch.cuda.memory_stats()
    assert (0, 0, 1024) == (
        stats["allocation.all.allocated"],
        stats["num_device_alloc"],
        stats["allocated_bytes.all.current"],
    )
    del kept


def test_the_summary_prints():
    """PyTorch's table."""
    kept = make(5 * MIB)
    text = torch.cuda.memory_summary()
    assert "PyTorch CUDA memory summary, device ID 0" in text
    assert "| Allocated memory      |   5120 KiB |" in text
    assert len(torch.cuda.memory_summary(abbreviated=True)) < len(text)
    del kept


def test_free_memory_counts_the_context_too():
    """The CUDA context holds some before PyTorch asks for any."""
    before, total = torch.cuda.mem_get_info()
    kept = make(5 * MIB)
    assert 20 * MIB == before - torch.cuda.mem_get_info()[0]
    assert torch.cuda.get_device_properties(0).total_memory == total
    assert 400 * MIB < total - before < 700 * MIB
    del kept


def test_a_fraction_limits_what_may_be_reserved():
    """And the error says what is allowed."""
    torch.cuda.set_per_process_memory_fraction(0.01)
    assert 0.01 == torch.cuda.get_per_process_memory_fraction()
    with pytest.raises(torch.OutOfMemoryError, match=r"1\.40 GiB allowed"):
        make(2 << 30)
    with pytest.raises(ValueError, match=r"Invalid fraction value: 2\.0"):
        torch.cuda.set_per_process_memory_fraction(2.0)


def test_an_observer_is_told_before_memory_runs_out():
    """Device, bytes wanted, bytes of the device, bytes free."""
    told = []
    torch._C._cuda_attach_out_of_memory_observer(lambda *figures: told.append(figures))
    with pytest.raises(torch.OutOfMemoryError):
        make(200 << 30)
    free, total = torch.cuda.mem_get_info()
    assert [(0, 200 << 30, total, free)] == told


def test_out_of_memory_counts_and_the_device_goes_on():
    """One retry after a flush, one error; what fits is given out."""
    with pytest.raises(torch.OutOfMemoryError):
        make(200 << 30)
    stats = torch.cuda.memory_stats()
    assert (1, 1) == (stats["num_ooms"], stats["num_alloc_retries"])
    assert make(1000).is_cuda


def test_raw_blocks_are_the_caller_s():
    """On the current stream or on one that is named."""
    stream = torch.cuda.Stream()
    plain = torch.cuda.caching_allocator_alloc(1000)
    other = torch.cuda.caching_allocator_alloc(1000, stream=stream)
    streams = {segment["stream"] for segment in torch.cuda.memory_snapshot()}
    assert {0, stream.cuda_stream} == streams
    torch.cuda.caching_allocator_delete(plain)
    torch.cuda.caching_allocator_delete(other)
    assert 0 == torch.cuda.memory_allocated()
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        torch.cuda.caching_allocator_delete(plain)


def test_without_caching_nothing_is_kept():
    """``caching_allocator_enable(False)``, and the context manager of newer versions."""
    torch.cuda.caching_allocator_enable(False)
    before = torch.cuda.mem_get_info()[0]
    kept = make(5 * MIB)
    assert 5 * MIB == before - torch.cuda.mem_get_info()[0]
    del kept
    assert before == torch.cuda.mem_get_info()[0]
    torch.cuda.caching_allocator_enable(True)
    kept = make(5 * MIB)
    assert 20 * MIB == torch.cuda.memory_reserved()
    del kept


def test_a_collected_cycle_is_freed_when_somebody_looks():
    """``gc.collect()``, then the figure."""
    cycle = [make(1000)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert 0 == torch.cuda.memory_allocated()


def test_a_pool_keeps_its_memory_to_itself():
    """Until its last holder is gone; then it goes back to the driver."""
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        inside = make(1000)
        assert 2 == pool.use_count()
    outside = make(1000)
    assert [2 * MIB] == [segment["total_size"] for segment in pool.snapshot()]
    assert 4 * MIB == torch.cuda.memory_reserved()
    address = inside.data_ptr()
    del inside
    assert address != make(1000).data_ptr()
    with torch.cuda.use_mem_pool(pool):
        assert address == make(1000).data_ptr()
    assert 1 == pool.use_count()
    del pool
    assert 2 * MIB == torch.cuda.memory_reserved()
    del outside


def test_a_pool_is_used_by_its_own_thread_only():
    """Others go to the default pool."""
    pool = torch.cuda.MemPool()
    kept = []
    with torch.cuda.use_mem_pool(pool):
        thread = threading.Thread(target=lambda: kept.append(make(1000)))
        thread.start()
        thread.join()
    assert [] == pool.snapshot()
    assert 2 * MIB == torch.cuda.memory_reserved()
    kept.clear()


def test_a_pool_may_serve_requests_that_run_out_of_memory():
    """``use_on_oom=True``."""
    pool = torch.cuda.MemPool(use_on_oom=True)
    with torch.cuda.use_mem_pool(pool):
        kept = make(30 * MIB)
    address = kept.data_ptr()
    del kept
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction(40 * MIB / total)
    assert address == make(30 * MIB).data_ptr()


def test_pinned_memory_has_statistics():
    """Blocks of powers of two, kept until the cache is emptied."""
    kept = torch.empty(600, dtype=torch.uint8, pin_memory=True)
    stats = torch.cuda.host_memory_stats()
    assert (1, 1024) == (stats["active_requests.current"], stats["allocated_bytes.current"])
    del kept
    torch.cuda.reset_peak_host_memory_stats()
    torch.cuda.reset_accumulated_host_memory_stats()
    torch._C._host_emptyCache()
    stats = torch.cuda.host_memory_stats()
    assert (0, 0, 1) == (stats["active_requests.peak"], stats["allocated_bytes.current"], stats["num_host_free"])


def test_the_general_interface_shows_the_same():
    """``torch.accelerator``."""
    kept = make(1000)
    accelerator = torch.accelerator
    assert (1024, 2 * MIB) == (accelerator.memory_allocated(), accelerator.memory_reserved())
    accelerator.reset_peak_memory_stats()
    accelerator.reset_accumulated_memory_stats()
    assert 1024 == accelerator.max_memory_allocated()
    del kept
    accelerator.empty_cache()
    assert 0 == accelerator.memory_reserved()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: torch.cuda.list_gpu_processes(), "list_gpu_processes"),
        (lambda: torch.cuda.memory.CUDAPluggableAllocator("a.so", "a", "b"), "CUDAPluggableAllocator"),
        (lambda: torch.cuda.memory._get_current_allocator(), "_get_current_allocator"),
        (lambda: torch.cuda.memory._host_allocator(), "_host_allocator"),
        (lambda: torch.cuda.MemPool(object()), "MemPool"),
        (lambda: torch._C._cuda_getCheckpointState(0, (0, 1)), "_cuda_getCheckpointState"),
    ],
    ids=["processes", "pluggable allocator", "current allocator", "host allocator", "pool", "checkpoint"],
)
def test_what_needs_a_real_gpu_says_so_by_name(call, name):
    """And says why."""
    with pytest.raises(NotSimulated, match=rf"{name}.* needs a real GPU: \w+"):
        call()


def test_a_refused_pool_leaves_nothing_behind():
    """Its end is silent."""
    with pytest.raises(NotSimulated):
        torch.cuda.MemPool(object())
    gc.collect()
    assert 0 == torch.cuda.memory_reserved()
