"""The solution, loaded once: its own bytes, its shown name, never through ``sys.path``."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from judge.harness.clock import TimeIsUp
from judge.harness.diagnosis import diagnose
from judge.harness.frames import Sources
from judge.harness.interface import check_interface
from judge.harness.syntax import LoadFailure, compile_source, decode_source
from judge.models.status import Status

MODULE = "solution"


@dataclass(frozen=True)
class Loaded:
    """The module, and what the compiler warned of."""

    module: ModuleType
    warnings: tuple[dict[str, Any], ...]


def load_solution(source: bytes, stub: str, sources: Sources, *, shown_path: str, file: str) -> Loaded:
    """Compile and import the solution, and compare it with its stub.

    Args:
        source: the file's bytes.
        stub: text of the stub.
        sources: who owns which file name; the solution is compiled under ``sources.learner``.
        shown_path: name of the file in a diagnostic.
        file: ``__file__`` of the module.

    Raises:
        LoadFailure: it does not compile, import or have the stub's names.
    """
    lines = decode_source(source, shown_path)
    # No time of change: traceback then never looks for the file on disk.
    linecache.cache[sources.learner] = (len(source), None, lines, sources.learner)
    code, warned = compile_source(lines, sources.learner, shown_path)
    module = ModuleType(MODULE)
    # The name in tracebacks, which may differ from ``__file__``.
    module.__spec__ = ModuleSpec(MODULE, None, origin=file, loader_state=sources.learner)
    module.__file__ = file
    sys.modules[MODULE] = module
    try:
        exec(code, module.__dict__)
    except TimeIsUp:
        raise
    except BaseException as fault:
        raise LoadFailure(Status.RUNTIME_ERROR, diagnose(fault, sources).diagnostic) from None
    slips = check_interface(vars(module), stub, shown_path)
    if slips is not None:
        raise LoadFailure(Status.WRONG, slips)
    return Loaded(module, tuple(warned))


def avoid_files(name: str) -> str:
    """Return ``name`` in a form that names no file.

    Hypothesis reads the source of local modules for constants to try: through a ``__file__`` that
    exists, the subject's examples would differ from the oracle's.
    """
    return f"<{name}>" if Path(name).exists() else name
