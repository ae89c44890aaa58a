"""The one interface of all instruments, whatever the device."""

from __future__ import annotations

from types import TracebackType
from typing import Literal, Protocol

from judge.instruments.observation import Observation, Race, Sync, Timeline


class Instruments(Protocol):
    """Watches the device from ``start`` to ``stop``; it can be started again."""

    device: Literal["cuda", "sim"]
    """Real or simulated CUDA."""
    is_watching: bool
    """Whether it has been started and not stopped."""

    def start(self) -> None:
        """Begin to watch. *Synchronises: on real CUDA, yes.*"""

    def observe(self) -> Observation:
        """Return what has been seen since the start; figures that need the end may be missing.

        *Synchronises: no.*
        """

    def stop(self) -> Observation:
        """Stop watching, and return what was seen. *Synchronises: on real CUDA, yes.*"""

    def dump_snapshot(self) -> bytes:
        """Return the memory snapshot of this moment, pickled as by ``torch.cuda.memory._dump_snapshot``."""


class Watch:
    """What happens in a ``with`` block: ``with Watch(instruments) as seen: …; seen.syncs``.

    The figures are there once the block has ended, by an exception too.
    """

    def __init__(self, instruments: Instruments) -> None:
        self._instruments = instruments
        self._seen: Observation | None = None

    def __enter__(self) -> Watch:
        """Begin to watch.

        Raises:
            RuntimeError: somebody watches already. A GPU's profiler records one thing at a time, so the simulated
                device refuses it, too: a test that runs here is to run there.
        """
        if self._instruments.is_watching:
            raise RuntimeError(
                "watch() was entered inside another watch(): one block is watched at a time. End the outer one first, "
                "or look at both parts in one block"
            )
        self._instruments.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._seen = self._instruments.stop()

    @property
    def observation(self) -> Observation:
        """Everything that was seen.

        Raises:
            RuntimeError: the block has not ended.
        """
        if self._seen is None:
            raise RuntimeError("what was seen is known once the with block has ended")
        return self._seen

    @property
    def syncs(self) -> tuple[Sync, ...]:
        """Every wait of the host, in order."""
        return self.observation.syncs

    @property
    def races(self) -> tuple[Race, ...]:
        """Uses of the same bytes without an order between them."""
        return self.observation.races

    @property
    def timeline(self) -> Timeline:
        """Times of host, device and streams, in microseconds."""
        return self.observation.timeline

    @property
    def makespan_us(self) -> float:
        """Time from the start to the end of the last work, in microseconds."""
        return self.observation.makespan_us

    @property
    def overlap(self) -> float:
        """Share of the device's busy time in which two streams or more were at work, 0 to 1."""
        return self.observation.overlap

    @property
    def launches(self) -> int:
        """Launches by the host; a graph's replay is one."""
        return self.observation.launches

    @property
    def peak_bytes(self) -> int:
        """Highest ``torch.cuda.memory_allocated()`` in the block."""
        return self.observation.peak_allocated_bytes

    @property
    def peak_growth_bytes(self) -> int:
        """By how much ``torch.cuda.memory_allocated()`` rose in the block above what it was before it."""
        return self.observation.peak_growth_bytes

    def draw(self, *, by_piece: bool = False) -> dict[str, str]:
        """Return what ran when as a small drawing, for the ``picture`` of a failure.

        Args:
            by_piece: one row an engine, with the numbers of chunks or batches, in place of one a stream.
        """
        from judge.instruments.drawing import draw_timeline

        return draw_timeline(self.observation, by_piece=by_piece)

    @property
    def places(self) -> list[dict[str, str | int]]:
        """Lines of the syncs, as ``measure("syncs", …, places=seen.places)`` takes them."""
        return [{"file": sync.site.file, "line": sync.site.line, "function": sync.site.function} for sync in self.syncs]
