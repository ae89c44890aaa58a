"""A script under ``inspect`` sees what it would see without."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from judge.cli.inspect import _write_file
from judge.cli.session import Session
from judge.errors import JudgeFault
from judge.report.inspection_schema import inspection_schema
from tests.inspection.scripts import WAITING, Inspected, inspect, read_json

SURROUNDINGS = """
import os, sys, threading, atexit
import neighbour
from pathlib import Path
print(sys.argv)
print(__name__, Path(__file__).name, sys.modules["__main__"] is sys.modules[__name__])
print(os.getcwd() == str(Path(__file__).parent), sys.path[0] == str(Path(__file__).parent))
print(input())
print("to the other", file=sys.stderr)
atexit.register(print, "at exit")
threading.Thread(target=lambda: print("thread")).start()
"""


def test_the_script_has_its_own_surroundings(tmp_path: Path) -> None:
    """Arguments, name, folder, keyboard, both streams, threads and exit functions are the script's own."""
    (tmp_path / "neighbour.py").write_text("print('imported')", encoding="utf-8")
    answer = inspect(tmp_path, SURROUNDINGS, "--steps", "5", "-x", stdin="typed\n")
    assert 0 == answer.code, answer.err
    expected = [
        "imported",
        "['script.py', '--steps', '5', '-x']",
        "__main__ script.py True",
        "True True",
        "typed",
        "thread",
        "at exit",
    ]
    assert expected == answer.out.splitlines()[:7]
    assert "to the other\n" == answer.err


def test_everything_behind_two_dashes_is_the_script_s(tmp_path: Path) -> None:
    """A script may have options of the same names; ``--json -`` leaves standard output to the JSON alone."""
    mine = "import sys, os; print(sys.argv[1:]); os.system('echo from below')\n" + WAITING
    answer = inspect(tmp_path, mine, "--fail-on", "syncs", "--json", "-", "--", "--json", "a", "--device", "b")
    assert 1 == json.loads(answer.out)["schema_version"]
    assert {"['--json', 'a', '--device', 'b']", "from below"} <= set(answer.err.splitlines())
    assert (1, "--fail-on struck: 3 host waits.") == (answer.code, answer.err.splitlines()[-1])


def test_the_trace_may_go_to_standard_output(tmp_path: Path) -> None:
    """No file is made that is called ``-``."""
    answer = inspect(tmp_path, "print('mine')\n" + WAITING, "--trace", "-")
    assert "traceEvents" in json.loads(answer.out)
    assert "mine" in answer.err.splitlines()
    assert ["script.py"] == [path.name for path in tmp_path.iterdir()]


def test_why_a_file_could_not_be_written_is_told_in_the_reader_s_language(tmp_path: Path) -> None:
    """The system speaks its own only."""
    with pytest.raises(JudgeFault, match="写入失败：它是一个目录"):
        _write_file(Session("zh", "judge"), tmp_path, b"")


def test_waits_are_told_by_line(waiting: Inspected) -> None:
    """The report shows the line, how often, and what to write instead; the JSON follows its schema."""
    assert "script.py:6  print(x.sum().item())" in waiting.answer.out
    assert "Tensor.item, once a step" in waiting.answer.out
    assert "✓ --fail-on races did not strike." == waiting.answer.out.splitlines()[-1]
    assert "Written: out.json, trace.json, memory.pickle" == waiting.answer.out.splitlines()[-2]
    found = read_json(waiting.folder / "out.json")
    Draft202012Validator(inspection_schema()).validate(found)
    expected = {
        "kind": "item", "call": "Tensor.item", "file": "script.py", "line": 6, "count": 3, "stream": "default",
        "per_step": 1.0,
    }  # fmt: skip
    (sync,) = found["syncs"]
    assert 0 < sync.pop("waited_us")
    assert expected == sync
    step = found["timeline"]["step"]
    assert ("script.py", 5, 3) == (step["file"], step["line"], step["count"])
    assert (1, "sim", [], None) == (found["schema_version"], found["device"], found["races"], found["error"])
    assert ["default"] == [stream["name"] for stream in found["timeline"]["streams"]]
    assert ("script.py", 3) == tuple(found["memory"]["by_site"][0][key] for key in ("file", "line"))


def test_fail_on_decides_the_exit_status(waiting: Inspected, waiting_in_chinese: Inspected) -> None:
    """CI fails on any of what it was told to fail on, and on nothing else; the examples fail on one, and on none."""
    assert 0 == waiting.answer.code, waiting.answer.err
    assert 1 == waiting_in_chinese.answer.code, waiting_in_chinese.answer.err


def test_the_trace_has_streams_as_threads_and_arrows_from_the_host(waiting: Inspected) -> None:
    """Every arrow begins at a launch on the host and ends inside work of the device."""
    events = json.loads((waiting.folder / "trace.json").read_text())["traceEvents"]
    names = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert {"main", "default"} == names
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    work = {event["ts"] for event in events if event["ph"] == "X" and event["pid"] == 2}
    assert starts.keys() == ends.keys()
    assert len(starts) >= 6
    assert all(starts[at]["ts"] <= ends[at]["ts"] and ends[at]["ts"] in work for at in starts)


def test_the_snapshot_is_pytorch_s(waiting: Inspected) -> None:
    """It holds segments and the history, with lines of the script."""
    snapshot = pickle.loads((waiting.folder / "memory.pickle").read_bytes())
    assert {"segments", "device_traces"} <= snapshot.keys()
    frames = [frame for entry in snapshot["device_traces"][0] for frame in entry.get("frames", ())]
    assert any(frame["filename"].endswith("script.py") and frame["line"] == 3 for frame in frames)


def test_chinese_is_spoken_too(waiting_in_chinese: Inspected) -> None:
    """The report is whole in Chinese, and the JSON is the same."""
    out = waiting_in_chinese.answer.out
    assert "各步中的主机等待：1 行代码共 3 次" in out
    assert "✗ --fail-on 触发：3 次主机等待。" == out.splitlines()[-1]
    assert "模拟 CUDA 设备（H200 配置）" in out
    assert "host" not in out.lower().replace("script.py", "")
    assert "Written" not in out
