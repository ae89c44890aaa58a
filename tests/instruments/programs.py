"""Programs as the lines of their launches, for tests of what is told from them."""

from __future__ import annotations

from collections.abc import Sequence

from judge.devices.sim.sites import Site
from judge.instruments.launches import Launch
from judge.instruments.observation import DeviceSpan, Sync

FILE = "script.py"
PERIOD_US = 10.0
"""Host time of one launch."""


def place(line: int) -> Site:
    """Return a line of the script."""
    return Site(FILE, line, "main")


def launch(*lines: int, at: int = 0) -> list[Launch]:
    """Return launches of these lines, one every ten microseconds, of kernels of four."""
    return [_launch(place(line), PERIOD_US * (at + number)) for number, line in enumerate(lines)]


def replay(line: int, at_us: float, nodes: int) -> Launch:
    """Return a graph's replay."""
    spans = [DeviceSpan("node", "default", "sm", at_us + n, at_us + n + 0.5, at_us, place(line)) for n in range(nodes)]
    return Launch(place(line), at_us, tuple(spans))


def wait(line: int, at_us: float, waited_us: float = 1.0) -> Sync:
    """Return a wait in a line, a little after a moment."""
    return Sync("item", "Tensor.item", place(line), "default", at_us + 0.1, waited_us)


def wait_at(launches: Sequence[Launch], line: int) -> list[Sync]:
    """Return a wait after each launch of a line."""
    return [wait(line, launch.at_us) for launch in launches if launch.site.line == line]


def _launch(site: Site, at_us: float) -> Launch:
    return Launch(site, at_us, (DeviceSpan("kernel", "default", "sm", at_us + 2, at_us + 6, at_us, site),))
