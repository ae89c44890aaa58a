"""Which lines hold how much device memory, now and when it was most."""

from __future__ import annotations

from judge.devices.sim.sites import Site


class PeakMeter:
    """The most memory that was held from one moment on, and by which lines.

    It is kept up to date by the :class:`Footprint` that it belongs to, and nobody's ``reset_peak_memory_stats``
    touches it.

    Args:
        allocated_bytes: in blocks that are handed out now.
        reserved_bytes: in all segments now.
    """

    def __init__(self, allocated_bytes: int = 0, reserved_bytes: int = 0) -> None:
        self.peak_allocated_bytes = allocated_bytes
        self.peak_reserved_bytes = reserved_bytes
        self.is_at_peak = True
        """Whether nothing has been given back since the peak."""
        self.by_site: dict[Site, int] = {}
        """Bytes by line at the peak, once something was given back."""


class Footprint:
    """Keeps account of the lines whose blocks live, and of the peaks of meters.

    What was held at a peak is only written down when memory falls again, so that growth costs nothing.
    """

    def __init__(self) -> None:
        self.by_site: dict[Site, int] = {}
        """Bytes of the live blocks that each line asked for."""
        self._owners: dict[int, tuple[Site, int]] = {}
        self._former: dict[int, Site] = {}
        self._meters: list[PeakMeter] = []
        self._at_peak: list[PeakMeter] = []
        self._allocated_bytes = 0

    def start(self, reserved_bytes: int) -> PeakMeter:
        """Return a new meter, which begins with what is held now.

        Args:
            reserved_bytes: in all segments now.
        """
        meter = PeakMeter(self._allocated_bytes, reserved_bytes)
        self._meters.append(meter)
        self._at_peak.append(meter)
        return meter

    def stop(self, meter: PeakMeter) -> None:
        """Let a meter go on no more."""
        self._write_down()
        self._meters.remove(meter)

    def read(self, meter: PeakMeter) -> list[tuple[Site, int]]:
        """Return the lines that held memory at a meter's peak and their bytes, the most first."""
        held = self.by_site if meter.is_at_peak else meter.by_site
        return sorted(held.items(), key=lambda item: (-item[1], item[0]))

    def grow(self, address: int, size: int, site: Site) -> None:
        """Enter a block that was handed out.

        Args:
            address: of the block.
            size: its bytes, as ``memory_allocated`` counts them.
            site: the line that asked for it.
        """
        self._owners[address] = (site, size)
        by_site = self.by_site
        by_site[site] = by_site.get(site, 0) + size
        allocated = self._allocated_bytes = self._allocated_bytes + size
        for meter in self._meters:
            if allocated > meter.peak_allocated_bytes:
                meter.peak_allocated_bytes = allocated
                if not meter.is_at_peak:
                    meter.is_at_peak = True
                    self._at_peak.append(meter)

    def note_reserved(self, reserved_bytes: int) -> None:
        """Enter how much is in all segments, after it has grown."""
        for meter in self._meters:
            meter.peak_reserved_bytes = max(meter.peak_reserved_bytes, reserved_bytes)

    def shrink(self, address: int) -> None:
        """Strike a block that was given back."""
        if self._at_peak:
            self._write_down()
        site, size = self._owners.pop(address)
        self._former[address] = site
        self._allocated_bytes -= size
        left = self.by_site[site] - size
        if left:
            self.by_site[site] = left
        else:
            del self.by_site[site]

    def find_owner(self, address: int) -> Site | None:
        """Return the line that asked for the block at an address, if that lives."""
        owner = self._owners.get(address)
        return None if owner is None else owner[0]

    def find_former(self, address: int) -> Site | None:
        """Return the line that had asked for the last block that was given back at an address."""
        return self._former.get(address)

    def _write_down(self) -> None:
        for meter in self._at_peak:
            meter.by_site = dict(self.by_site)
            meter.is_at_peak = False
        self._at_peak.clear()
