"""The statistics, and that they follow from the snapshot at any time."""

from __future__ import annotations

import itertools
import random
import re
from types import ModuleType

import pytest

from judge.devices.sim.allocator import OutOfMemory
from tests.conformance.allocator.bench import MIB, Bench

QUOTED = re.compile(r'``"([a-z][a-z_.{},]*)"``')


def expand(pattern: str) -> list[str]:
    """Return the names that ``a.{b,c}`` stands for."""
    parts = [part.strip("{}").split(",") for part in re.findall(r"\{[^}]*\}|[^.{}]+", pattern)]
    return [".".join(choice) for choice in itertools.product(*parts)]


def test_the_keys_are_those_that_pytorch_documents(torch: ModuleType) -> None:
    """The docstring of ``torch.cuda.memory_stats`` lists them; it says ``allocated`` for ``allocation``."""
    text = re.sub(r"\s+", " ", torch.cuda.memory_stats.__doc__)
    documented = {name for pattern in QUOTED.findall(text) for name in expand(pattern)}
    documented = {re.sub(r"^allocated\.", "allocation.", name) for name in documented}
    assert documented - {"reserved_bytes_by_private_pools"} == set(Bench().allocator.memory_stats())


def test_private_pools_have_figures_of_their_own() -> None:
    """They are named by both numbers of the id."""
    bench = Bench()
    bench.allocator.routing.begin((0, 3), lambda _: True)
    bench.malloc(512)
    assert 2 * MIB == bench.stat("reserved_bytes_by_private_pools.0_3.small_pool.current")
    assert 2 * MIB == bench.stat("reserved_bytes.all.current")


def test_a_pool_that_is_gone_has_no_current_bytes_and_keeps_its_peak() -> None:
    """Until the statistics are reset."""
    bench = Bench()
    routing = bench.allocator.routing
    routing.begin((0, 3), lambda _: True)
    bench.free(bench.malloc(512))
    routing.end((0, 3))
    routing.release((0, 3))
    bench.allocator.empty_cache()
    name = "reserved_bytes_by_private_pools.0_3.all"
    assert [0, 2 * MIB] == [bench.stat(f"{name}.current"), bench.stat(f"{name}.peak")]


def test_peaks_and_sums_are_reset_apart() -> None:
    """A reset of peaks keeps sums, and the other way round."""
    bench = Bench()
    bench.malloc(512)
    bench.free(bench.malloc(MIB))
    bench.allocator.reset_peak_memory_stats()
    name = "allocated_bytes.all"
    assert [512, MIB + 512] == [bench.stat(f"{name}.peak"), bench.stat(f"{name}.allocated")]
    bench.allocator.reset_accumulated_memory_stats()
    assert [512, 0, 0] == [bench.stat(f"{name}.{part}") for part in ("current", "allocated", "freed")]
    assert 0 == bench.stat("num_device_alloc")


def test_oversize_blocks_are_counted() -> None:
    """Blocks and segments of ``max_split_size`` and more."""
    bench = Bench("max_split_size_mb:32")
    bench.malloc(30 * MIB)
    bench.free(bench.malloc(32 * MIB))
    assert 32 * MIB == bench.stat("max_split_size")
    assert [0, 1, 1] == [
        bench.stat("oversize_allocations.current"),
        bench.stat("oversize_allocations.peak"),
        bench.stat("oversize_segments.current"),
    ]


@pytest.mark.parametrize("conf", ["", "max_split_size_mb:20", "roundup_power2_divisions:4", "expandable_segments:True"])
def test_figures_follow_from_the_snapshot(conf: str) -> None:
    """After each of 400 random calls, the current figures are sums over the blocks, and blocks tile segments."""
    bench = Bench(conf, total=300 * MIB)
    rng = random.Random(conf)
    live: list[int] = []
    for _ in range(400):
        if live and rng.random() < 0.5:
            bench.free(live.pop(rng.randrange(len(live))))
        else:
            try:
                live.append(bench.malloc(int(2 ** rng.uniform(5, 24)), rng.randrange(3)))
            except OutOfMemory:
                continue
            if rng.random() < 0.3:
                bench.record_stream(live[-1], 5)
        bench.events.blocked = {5} if rng.random() < 0.5 else set()
        if not bench.events.blocked:
            bench.events.release()
        _check(bench)
    while live:
        bench.free(live.pop())
    bench.allocator.empty_cache()
    assert [] == bench.blocks()
    assert {0} == {value for name, value in bench.allocator.memory_stats().items() if name.endswith("current")}
    assert 300 * MIB == bench.driver.free_bytes


def _check(bench: Bench) -> None:
    segments = bench.allocator.memory_snapshot()
    for segment in segments:
        ends = [segment["address"], *(block["address"] + block["size"] for block in segment["blocks"])]
        assert ends[:-1] == [block["address"] for block in segment["blocks"]]
        assert ends[-1] == segment["address"] + segment["total_size"]
    for kind in ("small", "large"):
        mine = [segment for segment in segments if segment["segment_type"] == kind]
        blocks = [block for segment in mine for block in segment["blocks"]]
        used = [block for block in blocks if block["state"] == "active_allocated"]
        active = [block for block in blocks if block["state"] != "inactive"]
        ordinary = [segment["blocks"] for segment in mine if not segment["is_expandable"]]
        split = [b for group in ordinary if len(group) > 1 for b in group if b["state"] == "inactive"]
        expected = {
            "allocation": len(used),
            "allocated_bytes": sum(block["size"] for block in used),
            "active": len(active),
            "active_bytes": sum(block["size"] for block in active),
            "requested_bytes": sum(block["requested_size"] for block in active),
            "reserved_bytes": sum(segment["total_size"] for segment in mine),
            "segment": len(ordinary),
            "inactive_split": len(split),
            "inactive_split_bytes": sum(block["size"] for block in split),
        }
        assert expected == {name: bench.stat(f"{name}.{kind}_pool.current") for name in expected}
