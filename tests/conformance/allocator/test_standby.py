"""The last free is put off, and nobody can tell."""

from __future__ import annotations

import random

import pytest

from tests.conformance.allocator.bench import MIB, Bench

SIZES = (1, 512, 513, 1024, 1500, 4096, 100_000, MIB, MIB + 1, 3 * MIB, 12 * MIB)
CONFIGURATIONS = (
    "",
    "roundup_power2_divisions:4",
    "max_split_size_mb:20",
    "expandable_segments:True",
    "garbage_collection_threshold:0.5",
)


def run(bench: Bench, seed: int, *, is_watched: bool) -> list[object]:
    """Run a random program; return what it saw: addresses, and now and then everything there is to see."""
    choose = random.Random(seed)
    seen: list[object] = []
    live: list[int] = []
    sizes = choose.sample(SIZES, choose.randint(1, len(SIZES)))
    for step in range(choose.randint(5, 120)):
        if is_watched:
            bench.allocator.memory_allocated()
        act = choose.random()
        if live and act < 0.5:
            bench.allocator.free(live.pop(choose.choice((-1, 0, choose.randrange(len(live))))))
        elif act < 0.94 or not live:
            live.append(bench.allocator.malloc(choose.choice(sizes), choose.choice((0, 0, 0, 64))))
            seen.append(live[-1])
        elif act < 0.96:
            bench.allocator.record_stream(choose.choice(live), 64)
        else:
            seen.append(disturb(bench, choose, step))
    return [*seen, look(bench), bench.history.entries]


def disturb(bench: Bench, choose: random.Random, step: int) -> object:
    """Do something that must find the last free done."""
    allocator = bench.allocator
    acts = (
        lambda: look(bench),
        allocator.empty_cache,
        allocator.reset_peak_memory_stats,
        allocator.reset_accumulated_memory_stats,
        lambda: allocator.set_memory_fraction(choose.choice((0.5, 1.0))),
        lambda: bench.history.start(max_entries=1000),
        bench.history.stop,
        lambda: bench.events.blocked.add(64),
        bench.events.release,
    )
    return step, choose.choice(acts)()


def look(bench: Bench) -> object:
    """Return all figures and blocks."""
    return bench.allocator.memory_stats(), bench.allocator.memory_snapshot()


@pytest.mark.bookkeeping
@pytest.mark.parametrize(
    "conf", CONFIGURATIONS, ids=["default", "divisions", "split_limit", "expandable", "collection"]
)
def test_putting_the_last_free_off_changes_nothing(conf: str) -> None:
    """Random programs see the same, whether or not somebody looks at the figures after every step."""
    for seed in range(60):
        watched = run(Bench(conf), seed, is_watched=True)
        assert watched == run(Bench(conf), seed, is_watched=False), f"seed {seed}"
