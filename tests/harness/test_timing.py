"""The fixture ``time_us``."""

from __future__ import annotations

import time

import pytest

from judge.harness.timing import measure_us
from tests.devices.sim.conftest import simulation

__all__ = ["simulation"]

torch = pytest.importorskip("torch")


@pytest.mark.usefixtures("simulation")
def test_the_device_is_measured_and_not_what_was_queued_before() -> None:
    """A kernel of known length, alone, twice, and on a stream that the current one waits for."""
    side = torch.cuda.Stream()

    def aside() -> None:
        with torch.cuda.stream(side):
            torch.cuda._sleep(2_000_000)
        torch.cuda.current_stream().wait_stream(side)

    one_us = measure_us(lambda: torch.cuda._sleep(2_000_000), "cuda")
    torch.cuda._sleep(20_000_000)
    two_us = measure_us(lambda: [torch.cuda._sleep(2_000_000) for _ in range(2)], "cuda")
    assert one_us > 500
    assert two_us == pytest.approx(2 * one_us, rel=0.05)
    assert measure_us(aside, "cuda") == pytest.approx(one_us, rel=0.05)


def test_without_a_device_the_hosts_clock_counts() -> None:
    """In microseconds, too."""
    assert measure_us(lambda: time.sleep(0.01), "cpu") >= 10_000
