"""Turn the bytes a child sent into records, trusting none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from judge.models.record import Diagnostic, Evidence, Measurement, Tensor, TestCase, TestOutcome
from judge.models.status import Status
from judge.models.wire import BrokenFrame, decode_frame


@dataclass
class RecordReader:
    """Collects the records of one child; a fault ends the reading and is kept in words."""

    limit_bytes: int
    tests: list[TestCase] = field(default_factory=list)
    outcomes: list[TestOutcome] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    load_status: Status | None = None
    running_test: str | None = None
    is_greeted: bool = False
    is_collected: bool = False
    is_complete: bool = False
    device: str = "none"
    versions: dict[str, str] = field(default_factory=dict)
    fault: str | None = None
    _buffer: bytearray = field(default_factory=bytearray)
    _received_bytes: int = 0

    def feed(self, data: bytes) -> list[str]:
        """Take bytes; return the kinds of the records they completed."""
        if self.fault is not None:
            return []
        self._received_bytes += len(data)
        if self._received_bytes > self.limit_bytes:
            self.fault = f"the records are over the limit of {self.limit_bytes} bytes"
            return []
        self._buffer += data
        kinds = []
        try:
            for record, blob in self._take_frames():
                self._accept(record, blob)
                kinds.append(str(record["kind"]))
        except (BrokenFrame, ValidationError, KeyError, TypeError, ValueError) as fault:
            self.fault = f"a record is malformed: {type(fault).__name__}: {str(fault)[:300]}"
        return kinds

    def _take_frames(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        start = 0
        try:
            while (frame := decode_frame(self._buffer, start)) is not None:
                record, blob, end = frame
                # Escaped lone surrogates are legal JSON and no legal text.
                if b"\\ud" in self._buffer[start:end]:
                    record = _clean(record)
                start = end
                yield record, blob
        finally:
            del self._buffer[:start]

    def _accept(self, record: dict[str, Any], blob: bytes) -> None:
        if self.is_complete:
            raise ValueError("a record follows the last one")
        kind = record.pop("kind")
        accept: Callable[[dict[str, Any], bytes], None] | None = getattr(self, f"_on_{kind}", None)
        if accept is None:
            raise ValueError(f"unknown kind {kind[:40]!r}")
        accept(record, blob)
        record["kind"] = kind

    def _on_hello(self, record: dict[str, Any], _blob: bytes) -> None:
        self.is_greeted = True
        self.device = str(record["device"])
        self.versions = {str(name): str(version) for name, version in record["versions"].items()}

    def _on_warning(self, record: dict[str, Any], _blob: bytes) -> None:
        self.diagnostics.append(Diagnostic.model_validate(record["diagnostic"]))

    def _on_load_failed(self, record: dict[str, Any], _blob: bytes) -> None:
        self.load_status = Status(record["status"])
        self._on_warning(record, _blob)

    def _on_collected(self, record: dict[str, Any], _blob: bytes) -> None:
        self.tests = [TestCase.model_validate(test) for test in record["tests"]]
        self.is_collected = True

    def _on_started(self, record: dict[str, Any], _blob: bytes) -> None:
        self.running_test = str(record["test"])

    def _on_evidence(self, record: dict[str, Any], blob: bytes) -> None:
        if "tensor" in record:
            record["value"] = Tensor.model_validate({**record.pop("tensor"), "data": blob})
        self.evidence.append(Evidence.model_validate(record))

    def _on_measurement(self, record: dict[str, Any], _blob: bytes) -> None:
        self.measurements.append(Measurement.model_validate(record))

    def _on_finished(self, record: dict[str, Any], _blob: bytes) -> None:
        self.outcomes.append(TestOutcome.model_validate(record))
        self.running_test = None

    def _on_done(self, _record: dict[str, Any], _blob: bytes) -> None:
        self.is_complete = True


def _clean(value: Any) -> Any:  # noqa: ANN401  JSON is of no one type
    """Replace lone surrogates in every string by their escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value
