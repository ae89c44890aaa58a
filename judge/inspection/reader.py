"""Turn the bytes of an inspected script's process into an observation, trusting none of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import ValidationError

from judge.inspection.records import ReportRecord, SpansRecord, SyncsRecord, read_record
from judge.instruments.observation import DeviceSpan, Observation, Sync
from judge.models.inspection import ScriptError
from judge.models.wire import BrokenFrame, decode_frame

LIMIT_BYTES = 1 << 30
"""Of all records of one script, a memory snapshot included."""


@dataclass
class ReportReader:
    """Collects what one process sends; a fault ends the reading and is kept in words."""

    fault: str | None = None
    """Why the records can't be trusted to their end."""
    own_fault: str | None = None
    """What the judge's own code in that process failed at."""
    snapshot: bytes | None = None
    """Pickle of the memory snapshot; never unpickled here."""
    report: ReportRecord | None = None
    syncs: list[Sync] = field(default_factory=list)
    spans: list[DeviceSpan] = field(default_factory=list)
    _buffer: bytearray = field(default_factory=bytearray)
    _received_bytes: int = 0

    def feed(self, data: bytes) -> None:
        """Take bytes."""
        if self.fault is not None:
            return
        self._received_bytes += len(data)
        self._buffer += data
        start = 0
        try:
            if self._received_bytes > LIMIT_BYTES:
                raise ValueError(f"the records are over the limit of {LIMIT_BYTES} bytes")
            while (frame := decode_frame(self._buffer, start)) is not None:
                record, blob, start = frame
                self._accept(record.pop("kind"), record, blob)
        except (BrokenFrame, ValidationError, KeyError, ValueError) as fault:
            self.fault = f"{type(fault).__name__}: {str(fault)[:300]}"
        del self._buffer[:start]

    def _accept(self, kind: str, fields: dict[str, object], blob: bytes) -> None:
        if kind == "snapshot":
            self.snapshot = blob
        elif kind == "fault":
            self.own_fault = str(fields["what"])
        else:
            match read_record(kind, fields):
                case SyncsRecord(items=syncs):
                    self.syncs += syncs
                case SpansRecord(items=spans):
                    self.spans += spans
                case ReportRecord() as report:
                    self.report = report

    @property
    def error(self) -> ScriptError | None:
        """How the script says that it ended, if not well."""
        return self.report.error if self.report is not None else None

    @property
    def is_whole(self) -> bool:
        """Whether the script's process reported to its end."""
        return self.report is not None and self.report.is_whole

    def build(self, device: str) -> Observation:
        """Return all that was seen; nothing but the device where nothing was sent."""
        report = self.report or ReportRecord(
            device="cuda" if device == "cuda" else "sim", device_name="", is_whole=False
        )
        return Observation(
            device=report.device,
            device_name=report.device_name,
            syncs=tuple(self.syncs),
            races=report.races,
            spans=tuple(self.spans),
            dropped_spans=report.dropped_spans,
            launches=report.launches,
            started_us=report.started_us,
            stopped_us=report.stopped_us,
            peak_allocated_bytes=report.peak_allocated_bytes,
            peak_reserved_bytes=report.peak_reserved_bytes,
            by_site=report.by_site,
            notes=report.notes,
        )
