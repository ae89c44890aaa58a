"""A child process on a fake problem, driven as the parent drives it."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import judge
from judge.models.record import Diagnostic, Evidence, Measurement, TestCase, TestOutcome
from judge.models.wire import decode_frame

ENTRY = Path(judge.__file__).parent / "harness" / "entry.py"
SHOWN = "practice/9_double.py"

STUB = '''
def double(number: int) -> int:
    """Return twice the number."""
    raise NotImplementedError
'''
RIGHT = """
def double(number: int) -> int:
    return number * 2
"""
TESTS = '''
def test_doubles(solution, expect, evidence):
    """It doubles small numbers.

    zh: 能把小的数加倍。
    """
    evidence.exact("doubles", [solution.double(number) for number in range(3)])
    expect.equal(solution.double(2), 4, ("double(2) is off", "double(2) 不对"))
'''


@dataclass(frozen=True)
class Report:
    """What one child sent, and how it ended."""

    records: list[tuple[dict[str, Any], bytes]]
    stdout: str
    stack: str
    exit_code: int

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """Return the records of one kind, without the kind."""
        return [{key: value for key, value in record.items() if key != "kind"} for record, _blob in self.records
                if record["kind"] == kind]  # fmt: skip

    @property
    def kinds(self) -> list[str]:
        """Kinds of all records, in order."""
        return [record["kind"] for record, _blob in self.records]

    @property
    def statuses(self) -> dict[str, str]:
        """Status of each finished test, by the name of its function."""
        return {record["test"].partition("::")[2]: record["status"] for record in self.of_kind("finished")}

    @property
    def failure(self) -> dict[str, Any]:
        """The one ``load_failed`` record."""
        (record,) = self.of_kind("load_failed")
        return record

    def outcome(self, test: str = "") -> dict[str, Any]:
        """Return the ``finished`` record of the test whose id ends with ``test``."""
        return next(record for record in self.of_kind("finished") if record["test"].endswith(test))

    def diagnostic(self, test: str = "") -> dict[str, Any]:
        """Return the diagnostic of that test."""
        found = self.outcome(test)["diagnostic"]
        assert isinstance(found, dict)
        return found

    def validate(self) -> None:
        """Check every record against the models that the parent reads it with."""
        for record, blob in self.records:
            fields = {key: value for key, value in record.items() if key != "kind"}
            match record["kind"]:
                case "collected":
                    [TestCase.model_validate(test) for test in fields["tests"]]
                case "finished":
                    TestOutcome.model_validate(fields)
                case "measurement":
                    Measurement.model_validate(fields)
                case "evidence":
                    if "tensor" in fields:
                        fields["value"] = {**fields.pop("tensor"), "data": blob}
                    Evidence.model_validate(fields)
                case "warning" | "load_failed":
                    Diagnostic.model_validate(fields["diagnostic"])


def run_child(
    folder: Path,
    solution: str | bytes = RIGHT,
    tests: str = TESTS,
    stub: str = STUB,
    *,
    conftest: str = "",
    patience_s: float = 30.0,
    **request: object,
) -> Report:
    """Run the harness once and return what it reported.

    Args:
        folder: an empty folder, or one with further files of the problem in ``problem``.
        solution: source to judge.
        tests: text of the problem's test file.
        stub: text of its stub.
        conftest: text of its conftest.py, if it has one.
        patience_s: the child is killed after this, as the parent's clock would do.
        request: fields of the request that differ from the usual ones.
    """
    problem, private = folder / "problem", folder / "private"
    problem.mkdir(exist_ok=True)
    private.mkdir()
    (problem / "test_double.py").write_text(textwrap.dedent(tests), encoding="utf-8")
    (problem / "stub.py").write_text(textwrap.dedent(stub), encoding="utf-8")
    if conftest:
        (problem / "conftest.py").write_text(textwrap.dedent(conftest), encoding="utf-8")
    source = solution if isinstance(solution, bytes) else textwrap.dedent(solution).encode()
    (folder / "copy.py").write_bytes(source)
    fields: dict[str, object] = {
        "role": "subject",
        "tests_dir": str(problem),
        "solution_path": str(folder / "copy.py"),
        "shown_path": SHOWN,
        "stub_path": str(problem / "stub.py"),
        "seed": 7,
        "device": "cpu",
        "test_s": 5.0,
        "language": "en",
        **request,
    }
    return _converse(json.dumps(fields).encode(), private, patience_s)


def _converse(request: bytes, private: Path, patience_s: float) -> Report:
    request_out, request_in = os.pipe()
    report_out, report_in = os.pipe()
    keyboard_out, keyboard_in = os.pipe()
    with (private.parent / "stack").open("w+b") as stack, (private.parent / "out").open("w+b") as out:
        passed = (request_out, report_in, stack.fileno())
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(ENTRY), *map(str, passed)],
            cwd=private, stdin=keyboard_out, stdout=out, stderr=out, pass_fds=passed, start_new_session=True,
        )  # fmt: skip
        for descriptor in (request_out, report_in, keyboard_out):
            os.close(descriptor)
        os.write(request_in, request)
        os.close(request_in)
        data = _read_until(report_out, time.monotonic() + patience_s)
        exit_code = _wait(process)
        for descriptor in (report_out, keyboard_in):
            os.close(descriptor)
        out.seek(0)
        stack.seek(0)
        return Report(_decode(data), out.read().decode(errors="replace"), stack.read().decode(), exit_code)


def _read_until(descriptor: int, deadline_s: float) -> bytes:
    data = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while time.monotonic() < deadline_s and selector.select(deadline_s - time.monotonic()):
            read = os.read(descriptor, 1 << 16)
            if not read:
                break
            data += read
    return data


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(1)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _decode(data: bytes) -> list[tuple[dict[str, Any], bytes]]:
    records, at = [], 0
    while (frame := decode_frame(data, at)) is not None:
        record, blob, at = frame
        records.append((record, blob))
    return records
