"""The solution, loaded once: its own bytes, its shown name, never through ``sys.path``."""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

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


def load_solution(source: bytes, filename: str, stub: str, sources: Sources, shown_path: str) -> Loaded:
    """Compile and import the solution, and compare it with its stub.

    Args:
        source: the file's bytes.
        filename: name under which it is compiled, and which its traceback shows.
        stub: text of the stub.
        sources: who owns which file name.
        shown_path: name of the file in a diagnostic.

    Raises:
        LoadFailure: it does not compile, import or have the stub's names.
    """
    lines = decode_source(source, shown_path)
    # No time of change: traceback then never looks for the file on disk.
    linecache.cache[filename] = (len(source), None, lines, filename)
    code, warned = compile_source(lines, filename, shown_path)
    module = ModuleType(MODULE)
    module.__spec__ = ModuleSpec(MODULE, None, origin=filename)
    module.__file__ = _harmless_name(filename)
    sys.modules[MODULE] = module
    try:
        exec(code, module.__dict__)
    except Exception as fault:
        raise _raised(fault, sources) from None
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as fault:
        raise _raised(fault, sources) from None
    except BaseException as fault:
        if type(fault).__module__.startswith("judge."):
            raise
        raise _raised(fault, sources) from None
    slips = check_interface(vars(module), stub, shown_path)
    if slips is not None:
        raise LoadFailure(Status.WRONG, slips)
    return Loaded(module, tuple(warned))


def _harmless_name(filename: str) -> str:
    """Return a ``__file__`` that names no file in the working folder.

    Hypothesis reads the source of local modules for constants to try: the subject's examples would
    then differ from the oracle's.
    """
    return filename if os.path.isabs(filename) or not os.path.exists(filename) else f"<{filename}>"  # noqa: PTH110, PTH117


def _raised(fault: BaseException, sources: Sources) -> LoadFailure:
    found = diagnose(fault, sources)
    return LoadFailure(Status.RUNTIME_ERROR, found.diagnostic)
