"""Running out of memory: what is tried first, and the text."""

from __future__ import annotations

import pytest

from judge.devices.sim.allocator import OutOfMemory
from judge.devices.sim.allocator.oom import Shortage, format_size
from tests.conformance.allocator.bench import MIB, Bench

GIB = 1024 * MIB
FIGURES = [
    (0, "0 bytes"),
    (1024, "1024 bytes"),
    (1025, "1.00 KiB"),
    (MIB, "1024.00 KiB"),
    (20 * MIB, "20.00 MiB"),
    (GIB, "1024.00 MiB"),
    (GIB + 1, "1.00 GiB"),
    (150_109_880_320, "139.80 GiB"),
]
MEASURED = (
    "CUDA out of memory. Tried to allocate 1.17 GiB. GPU 0 has a total capacity of 139.80 GiB of which 137.38 GiB is "
    "free. Including non-PyTorch memory, this process has 1.09 GiB memory in use. 1.40 GiB allowed; Of the allocated "
    "memory 600.00 MiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated. If reserved but "
    "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation. "
    " See documentation for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html"
    "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
)


@pytest.mark.parametrize(("size", "expected"), FIGURES, ids=[text for _, text in FIGURES])
def test_figures_have_two_decimals_and_change_unit_above_1024(size: int, expected: str) -> None:
    """As PyTorch writes them."""
    assert expected == format_size(size)


def test_the_text_is_the_one_that_a_real_gpu_gave() -> None:
    """Word for word, but for the lines about other processes, which a simulated device has not."""
    shortage = Shortage(
        device=0,
        wanted=1200 * MIB,
        total=150_109_880_320,
        free=int(137.38 * GIB),
        used=int(1.09 * GIB),
        allowed=int(150_109_880_320 * 0.01),
        allocated=600 * MIB,
        reserved=600 * MIB,
        free_in_private_pools=0,
    )
    assert MEASURED == shortage.explain()


def test_unused_segments_go_back_before_a_request_fails() -> None:
    """The cache is flushed once, and the request succeeds at the second attempt."""
    bench = Bench(total=100 * MIB)
    bench.free(bench.malloc(60 * MIB))
    bench.malloc(70 * MIB)
    assert [1, 0] == [bench.stat("num_alloc_retries"), bench.stat("num_ooms")]
    assert 70 * MIB == bench.reserved()


def test_the_text_names_the_segment_not_the_request() -> None:
    """A request of 3 MiB fails for want of 20 MiB."""
    bench = Bench(total=10 * MIB)
    with pytest.raises(OutOfMemory, match=r"Tried to allocate 20\.00 MiB\. GPU 0 has a total capacity of 10\.00 MiB"):
        bench.malloc(3 * MIB)
    assert 1 == bench.stat("num_ooms")


def test_a_failed_request_changes_nothing_but_the_counters() -> None:
    """Blocks in use stay as they were."""
    bench = Bench(total=20 * MIB)
    bench.malloc(3 * MIB)
    before = bench.blocks()
    with pytest.raises(OutOfMemory):
        bench.malloc(30 * MIB)
    assert before == bench.blocks()


def test_free_blocks_of_private_pools_count_as_allocated_in_the_text() -> None:
    """PyTorch's quirk: they are named, and added to the allocated figure."""
    bench = Bench(total=64 * MIB)
    bench.allocator.routing.begin((1, 0), lambda stream: stream == 7)
    bench.free(bench.malloc(4 * MIB, stream=7))
    bench.malloc(2 * MIB)
    expected = (
        r"Of the allocated memory 22\.00 MiB is allocated by PyTorch, with 20\.00 MiB allocated in private pools"
        r" \(e\.g\., CUDA Graphs\), and 18\.00 MiB is reserved by PyTorch but unallocated\."
    )
    with pytest.raises(OutOfMemory, match=expected):
        bench.malloc(200 * MIB)


def test_a_memory_fraction_is_a_limit_below_the_capacity() -> None:
    """The driver is not even asked, and the text says what is allowed."""
    bench = Bench(total=100 * MIB)
    bench.allocator.set_memory_fraction(0.25)
    bench.malloc(20 * MIB)
    with pytest.raises(OutOfMemory, match=r"25\.00 MiB allowed; "):
        bench.malloc(20 * MIB)


@pytest.mark.parametrize("fraction", [-0.1, 1.5])
def test_a_memory_fraction_lies_within_0_and_1(fraction: float) -> None:
    """Others are refused."""
    with pytest.raises(ValueError, match="Invalid fraction value"):
        Bench().allocator.set_memory_fraction(fraction)


def test_absurd_sizes_are_refused_before_anything_is_tried() -> None:
    """From 2^60 bytes on, without a flush."""
    bench = Bench()
    with pytest.raises(OutOfMemory, match="more than 1EB memory"):
        bench.malloc(1 << 60)
    assert 0 == bench.stat("num_ooms")


def test_observers_hear_of_it_before_the_error() -> None:
    """They are told device, bytes wanted, bytes allowed and bytes free."""
    bench = Bench(total=10 * MIB)
    heard = []
    bench.allocator.observers.append(lambda *figures: heard.append(figures))
    with pytest.raises(OutOfMemory):
        bench.malloc(12 * MIB)
    assert [(0, 12 * MIB, 10 * MIB, 10 * MIB)] == heard
