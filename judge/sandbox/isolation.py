"""What isolation a run gets on this machine, and what it lacks, in words."""

from __future__ import annotations

from judge.locale import pair
from judge.models.base import Text
from judge.models.conditions import Isolation, Missing
from judge.sandbox.supervisor import IS_LINUX

ENFORCED = (
    "fresh process",
    "private directory",
    "scrubbed environment",
    "stdin never yields",
    "wall clock outside the process",
    "output capped",
    "limits on file size, open files, CPU time and core dumps",
    "reference in a process of its own",
)


def describe_isolation() -> Isolation:
    """Return the isolation in force; level L0 protects against accidents, not against malice."""
    own_code = Text(**pair("sandbox.own_code_only"))
    missing = [
        Missing(what=what, why=Text(**pair(f"sandbox.{key}")), fix=own_code)
        for what, key in (("files", "no_file_rules"), ("network", "no_network_rules"), ("memory", "no_memory_rules"))
    ]
    kill = "whole process tree killed at the end"
    if not IS_LINUX:
        kill = "process group killed at the end"
        missing.append(Missing(what="orphans", why=Text(**pair("sandbox.no_subreaper"))))
    return Isolation(level="L0", enforced=(*ENFORCED, kill), missing=tuple(missing))
