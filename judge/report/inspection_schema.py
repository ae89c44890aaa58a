"""JSON Schema of an inspection. ``python -m judge.report.inspection_schema`` rewrites the file in ``docs/schema``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from judge.models.documentation import describe_fields
from judge.models.inspection import SCHEMA_VERSION, Inspection
from judge.report.schema import FILE as VERDICT_FILE

FILE: Path = VERDICT_FILE.with_name(f"inspection-{SCHEMA_VERSION}.json")
"""Where the schema lies in a checkout."""


def inspection_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of what ``inspect --json`` writes."""
    schema = Inspection.model_json_schema(mode="serialization")
    describe_fields(schema, Inspection)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tacit:inspection:{SCHEMA_VERSION}",
        "title": "Inspection",
        "description": "What a script made the device do, as `inspect --json` writes it.",
    }
    return head | {key: part for key, part in schema.items() if key not in head}


def format_schema() -> str:
    """Return the text of the schema's file."""
    return json.dumps(inspection_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(format_schema(), encoding="utf-8")
