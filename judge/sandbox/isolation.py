"""What isolation a run gets on this machine, and what it lacks, in words."""

from __future__ import annotations

from judge.locale import pair
from judge.models.base import Text
from judge.models.conditions import Isolation, Missing
from judge.sandbox.supervisor import IS_LINUX


def describe_isolation() -> Isolation:
    """Return the isolation in force; level L0 protects against accidents, not against malice."""
    enforced = [
        Text(**pair("sandbox.fresh_process")),
        Text(**pair("sandbox.private_directory")),
        Text(**pair("sandbox.clean_environment")),
        Text(**pair("sandbox.silent_stdin")),
        Text(**pair("sandbox.outside_clock")),
        Text(**pair("sandbox.capped_output")),
        Text(**pair("sandbox.kernel_limits")),
        Text(**pair("sandbox.separate_reference")),
    ]
    own_code = Text(**pair("sandbox.own_code_only"))
    missing = [
        Missing(what=Text(**pair("sandbox.files")), why=Text(**pair("sandbox.no_file_rules")), fix=own_code),
        Missing(what=Text(**pair("sandbox.network")), why=Text(**pair("sandbox.no_network_rules")), fix=own_code),
        Missing(what=Text(**pair("sandbox.memory")), why=Text(**pair("sandbox.no_memory_rules")), fix=own_code),
    ]
    if IS_LINUX:
        enforced.append(Text(**pair("sandbox.tree_killed")))
    else:
        enforced.append(Text(**pair("sandbox.group_killed")))
        missing.append(Missing(what=Text(**pair("sandbox.orphans")), why=Text(**pair("sandbox.no_subreaper"))))
    return Isolation(level="L0", enforced=tuple(enforced), missing=tuple(missing))
