"""What an inspected script's process sends, checked field by field before it is believed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from judge.instruments.observation import DeviceSpan, Owner, Race, Sync
from judge.models.base import Model
from judge.models.inspection import Count, ScriptError

Moment = Annotated[float, Field(allow_inf_nan=False)]


class SyncsRecord(Model):
    """Host waits, in order, after those of the records before."""

    items: tuple[Sync, ...]


class SpansRecord(Model):
    """Work of the device, after that of the records before."""

    items: tuple[DeviceSpan, ...]


class ReportRecord(Model):
    """Everything else; the last one counts."""

    device: Literal["cuda", "sim"]
    device_name: str
    error: ScriptError | None = None
    is_whole: bool
    """False for what was sent on the way."""
    races: tuple[Race, ...] = ()
    launches: Count = 0
    started_us: Moment = 0.0
    stopped_us: Moment = 0.0
    dropped_spans: Count = 0
    peak_allocated_bytes: Count = 0
    peak_reserved_bytes: Count = 0
    by_site: tuple[Owner, ...] = ()
    notes: tuple[str, ...] = ()


def read_record(kind: str, fields: dict[str, Any]) -> SyncsRecord | SpansRecord | ReportRecord:
    """Return a record of a kind.

    Raises:
        ValidationError: a field is missing, unknown or of another type.
        KeyError: there is no such kind.
    """
    models: dict[str, type[SyncsRecord | SpansRecord | ReportRecord]] = {
        "syncs": SyncsRecord,
        "spans": SpansRecord,
        "report": ReportRecord,
    }
    return models[kind].model_validate(fields)
