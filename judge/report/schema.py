"""JSON Schema of a verdict. ``python -m judge.report.schema`` rewrites the file in ``docs/schema``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from judge.models.documentation import describe_fields
from judge.models.verdict import SCHEMA_VERSION, Verdict

FILE = Path(__file__).parents[2] / "docs" / "schema" / f"verdict-{SCHEMA_VERSION}.json"
"""Where the schema lies in a checkout."""


def verdict_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of what ``as_json.dumps`` writes."""
    schema = Verdict.model_json_schema(mode="serialization")
    describe_fields(schema, Verdict)
    # Its figure comes from the learner's process and need not be finite; JSON has no word for that but null.
    value = schema["$defs"]["Measurement"]["properties"]["value"]
    value["type"] = ["number", "null"]
    value["description"] = "The figure; null where it is no finite number."
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tacit:verdict:{SCHEMA_VERSION}",
        "title": "Verdict",
        "description": "The judgement of one submission by Tacit, as `--json` prints it.",
    }
    return head | {key: part for key, part in schema.items() if key not in head}


def write_schema(path: Path) -> None:
    """Write the schema as indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(format_schema(), encoding="utf-8")


def format_schema() -> str:
    """Return the text of the schema's file."""
    return json.dumps(verdict_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write_schema(FILE)
