"""What an op costs: a roofline model of the device, and the host's time to launch."""

from __future__ import annotations

from math import ceil
from typing import Literal, NamedTuple

from judge.devices.sim.families import Family, read_families
from judge.devices.sim.profile import Profile

Engine = Literal["sm", "h2d", "d2h"]
NumberClass = Literal["f64", "f32", "tf32", "f16", "i"]

_MEMORY_LIMIT = 65_536
"""Calls whose work is remembered."""


class Work(NamedTuple):
    """A piece of device work: what a stream's queue holds."""

    name: str
    duration_us: float
    engine: Engine = "sm"
    occupancy: float = 1.0
    """Share of the multiprocessors, above 0 and up to 1; other engines do one thing at a time."""
    launch_us: float = -1.0
    """Host time of the call; negative: what an elementwise op takes."""


class Matrices(NamedTuple):
    """A batch of matrix products: ``batch`` times (m, k) by (k, n)."""

    batch: int
    m: int
    n: int
    k: int


class Cost:
    """Estimates durations: the greatest of memory traffic, arithmetic and what keeps a few rows slow, over a floor.

    Ratios and order are to be trusted, not single figures: caches, tiling and clocks are not modelled.

    Args:
        profile: the device's constants.
    """

    def __init__(self, profile: Profile) -> None:
        self._engines = profile.engines
        self._link = profile.link
        self._copy_us = profile.host.copy_us
        self._multiprocessors = profile.device.multiprocessors
        self._wave = profile.engines.elements_per_multiprocessor * profile.device.multiprocessors
        self._families = read_families(profile)
        self._elementwise = self._families[""]
        self._known: dict[tuple[object, ...], Work] = {}

    def kernel(
        self,
        name: str,
        *,
        flops: float = 0.0,
        read_bytes: int = 0,
        written_bytes: int = 0,
        dtype_class: NumberClass = "f32",
        elements: int = 0,
        row: int = 0,
        matrices: Matrices | None = None,
    ) -> Work:
        """Return the work of one op's kernels.

        Args:
            name: the op, without namespace and overload.
            flops: floating-point operations; a multiply-add is two.
            read_bytes: memory that it reads.
            written_bytes: memory that it writes.
            dtype_class: class of the numbers that it computes with.
            elements: numbers that the larger of input and output holds.
            row: of these, how many a reduction, scan or sort works through at a time; 0 for all or unknown.
            matrices: the shapes of a matrix product.
        """
        key = (name, flops, read_bytes, written_bytes, dtype_class, elements, row, matrices)
        work = self._known.get(key)
        if work is None:
            if len(self._known) >= _MEMORY_LIMIT:
                self._known.clear()
            family = self._families.get(name, self._elementwise)
            moved = 2 * written_bytes if family.is_gather else read_bytes + written_bytes
            work = self._known[key] = Work(
                name,
                self._estimate(family, flops, moved, dtype_class, elements, row, matrices),
                "sm",
                self._fill(elements, row, matrices),
                family.launch(dtype_class),
            )
        return work

    def copy(self, direction: Literal["h2d", "d2h", "d2d"], size_bytes: int, *, is_pinned: bool = True) -> Work:
        """Return the work of one copy; within the device it is a kernel."""
        if direction == "d2d":
            return self.kernel("copy_", read_bytes=size_bytes, written_bytes=size_bytes, elements=size_bytes // 4)
        link = self._link
        memory = "pinned" if is_pinned else "pageable"
        rate: float = getattr(link, f"{memory}_{direction}_bytes_per_us")
        fixed_us = link.latency_us if is_pinned else link.pageable_latency_us
        name = f"copy {direction} {memory}"
        return Work(name, fixed_us + size_bytes / rate, direction, 0.0, self._copy_us)

    def launch_us(self, name: str) -> float:
        """Return the host time of an eager op that launches, on single-precision numbers."""
        return self._families.get(name, self._elementwise).launch("f32")

    def _estimate(
        self,
        family: Family,
        flops: float,
        moved_bytes: int,
        dtype_class: NumberClass,
        elements: int,
        row: int,
        matrices: Matrices | None,
    ) -> float:
        curve_us = family.read_curve(dtype_class, elements)
        if curve_us is not None:
            return curve_us
        arithmetic_us = self._multiply(flops, dtype_class, matrices)
        rate = family.element_rate(dtype_class)
        if rate:
            arithmetic_us = max(arithmetic_us, elements / rate)
        rows_us = family.read_rows(dtype_class, elements, row, self._multiprocessors)
        return family.floor(dtype_class, elements) + max(
            self._move(moved_bytes * family.passes), arithmetic_us, rows_us
        )

    def _move(self, moved_bytes: float) -> float:
        """Return the time of memory traffic; the first bytes are still in the cache."""
        engines = self._engines
        cached = min(moved_bytes, engines.cached_bytes)
        return cached / engines.l2_bytes_per_us + (moved_bytes - cached) / engines.memory_bytes_per_us

    def _multiply(self, flops: float, dtype_class: NumberClass, matrices: Matrices | None) -> float:
        """Return the time of arithmetic. Products in full precision run tile by tile, in waves over the SMs."""
        peak = self._engines.peak_flops_per_us[dtype_class]
        if matrices is None or dtype_class not in ("f32", "f64") or min(matrices.m, matrices.n) == 1:
            return flops / peak
        side = self._engines.tile_side
        waves = ceil(self._count_tiles(matrices) / self._multiprocessors)
        return waves * 2.0 * side * side * matrices.k / (peak / self._multiprocessors)

    def _count_tiles(self, matrices: Matrices) -> int:
        side = self._engines.tile_side
        return matrices.batch * ceil(matrices.m / side) * ceil(matrices.n / side)

    def _fill(self, elements: int, row: int, matrices: Matrices | None) -> float:
        """Return the share of the multiprocessors that a kernel takes."""
        if matrices is not None:
            blocks = float(self._count_tiles(matrices))
        elif row:
            blocks = max(1, elements // row)
        else:
            blocks = elements / self._wave * self._multiprocessors
        return min(1.0, max(blocks, 1.0) / self._multiprocessors)
