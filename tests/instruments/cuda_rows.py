"""Hold the sync counter of a real GPU against behaviour, program by program. Run as a module; prints JSON."""

from __future__ import annotations

import json
import warnings

from judge.instruments.cuda.instruments import CudaInstruments
from judge.instruments.instruments import Watch
from tests.conformance.sync_table.measure import measure, read_real_ms
from tests.conformance.sync_table.programs import PROGRAMS, Bench, torch


def find_disagreements() -> dict[str, object]:
    """Return the programs in which counter and behaviour part, with what each of them says."""
    behaviour = {name: measure(name, read_real_ms).is_blocking for name in PROGRAMS}
    instruments = CudaInstruments()
    found: dict[str, object] = {}
    for name, program in PROGRAMS.items():
        bench = Bench()
        program(bench)
        torch.cuda.synchronize()
        with Watch(instruments) as seen:
            program(bench)
        if bool(seen.syncs) != behaviour[name]:
            found[name] = {"blocks": behaviour[name], "syncs": [[sync.kind, sync.call] for sync in seen.syncs]}
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(find_disagreements()))
