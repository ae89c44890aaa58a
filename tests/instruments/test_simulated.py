"""The instruments on the simulated device, through ``Watch``."""

from __future__ import annotations

from typing import Any

import pytest

from judge.instruments.instruments import Watch
from tests.devices.sim.conftest import simulation

__all__ = ["simulation"]

torch = pytest.importorskip("torch")


@pytest.fixture
def instruments(simulation: Any) -> Any:
    """Return the instruments of a fresh simulated device."""
    from judge.instruments.simulated import SimulatedInstruments

    return SimulatedInstruments(simulation)


def test_a_watch_sees_its_block_and_nothing_else(instruments: Any) -> None:
    """Waits, launches and memory from before and after are not its own; a second watch starts afresh."""
    a = torch.ones(1024, 1024, device="cuda")
    a.sum().item()
    torch.cuda.reset_peak_memory_stats()
    with Watch(instruments) as first:
        a.sum().item()
    with Watch(instruments) as second:
        a.add_(1)
    a.sum().item()
    assert (["Tensor.item"], []) == tuple([sync.call for sync in seen.syncs] for seen in (first, second))
    assert (2, 1) == (first.launches, second.launches)
    assert (1, 1) == tuple(seen.peak_bytes // a.nbytes for seen in (first, second))
    assert first.makespan_us > 0
    assert second.makespan_us > 0


def test_the_growth_of_memory_starts_at_what_was_there(instruments: Any) -> None:
    """What was alive before counts nothing, and what was freed before is not taken off."""
    held = torch.ones(1 << 20, device="cuda")
    freed = torch.ones(1 << 20, device="cuda")
    del freed
    with Watch(instruments) as seen:
        one = held + 1
        two = one + 1
        del one, two
    assert 2 * held.nbytes == seen.peak_growth_bytes
    assert 3 * held.nbytes == seen.peak_bytes
    with Watch(instruments) as seen:
        del held
    assert 0 == seen.peak_growth_bytes


def test_a_wait_knows_what_to_write_instead(instruments: Any) -> None:
    """In both languages, where there is something."""
    with Watch(instruments) as seen:
        torch.ones(4, device="cuda").nonzero()
    (sync,) = seen.syncs
    assert sync.instead is not None
    assert {"en", "zh"} == set(sync.instead)


def test_an_open_watch_knows_nothing_yet(instruments: Any) -> None:
    """Who asks too early is told so."""
    with pytest.raises(RuntimeError, match="known once"):
        _ = Watch(instruments).syncs


def test_overlap_and_races_are_seen(instruments: Any) -> None:
    """Two streams at work at once overlap; without a wait between them they race."""
    side = torch.cuda.Stream()
    with Watch(instruments) as seen:
        torch.cuda._sleep(2_000_000)
        with torch.cuda.stream(side):
            torch.cuda._sleep(2_000_000)
    assert (True, 0) == (seen.overlap > 0.5, len(seen.races))
    torch.cuda.synchronize()
    with Watch(instruments) as seen:
        x = torch.ones(1 << 20, device="cuda")
        with torch.cuda.stream(side):
            _ = x + 1
    assert (False, ["read-after-write"]) == (seen.overlap > 0.5, [race.kind for race in seen.races])
