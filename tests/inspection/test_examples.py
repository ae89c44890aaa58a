"""The examples: each fault is named by its line, and the mended twins give no reason for a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inspection.scripts import ROOT, call, read_json

FOLDER = ROOT / "examples"
SYNCS = {
    "certainty += probability[~is_done].sum()": "nonzero",
    "for sequence, token in zip(written, best.tolist(), strict=True):": "copy_d2h",
    "if is_done.all():": "item",
    'position = torch.tensor([PROMPT + step], device="cuda")': "copy_h2d",
}
"""Lines of the decode loop that wait, with the kind of wait."""
RACES = {
    "prefetcher": ("reused-block", {"loss.backward()", 'return self.batches[number].to("cuda", non_blocking=True)'}),
    "graph_runner": (
        "stale-graph-input",
        {"self.inputs[size] = functional.pad(rows, (0, 0, 0, size - count))", "self.graphs[size].replay()"},
    ),
}
"""Lines that the race of an example must name, with its kind."""


def read_line(name: str, number: int) -> str:
    """Return a line of an example."""
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()[number - 1].strip()


def test_the_decode_loop_waits_in_four_lines(tmp_path: Path) -> None:
    """Every planted wait is named, once for each step that it happens in, and no other line."""
    example = FOLDER / "decode_loop.py"
    answer = call(ROOT, "--device", "sim", example, "--json", tmp_path / "out.json", "--fail-on", "syncs")
    assert 1 == answer.code, answer.err
    found = read_json(tmp_path / "out.json")
    lines = {read_line("decode_loop.py", sync["line"]): sync["kind"] for sync in found["syncs"]}
    assert SYNCS == lines
    assert {24} == {sync["count"] for sync in found["syncs"]}
    assert [] == found["races"]


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_named_by_its_lines(name: str, tmp_path: Path) -> None:
    """Both uses of the memory are lines of the example, and the host never waits."""
    answer = call(ROOT, "--device", "sim", FOLDER / f"{name}.py", "--json", tmp_path / "out.json", "--fail-on", "races")
    assert 1 == answer.code, answer.err
    found = read_json(tmp_path / "out.json")
    kind, expected = RACES[name]
    assert {kind} == {race["kind"] for race in found["races"]}
    named = {read_line(f"{name}.py", race[side]["line"]) for race in found["races"] for side in ("first", "second")}
    assert expected <= named
    assert [] == found["syncs"]


@pytest.mark.parametrize("name", ["decode_loop", "prefetcher", "graph_runner"])
def test_the_mended_twin_is_silent(name: str, tmp_path: Path) -> None:
    """No wait, no race, no error."""
    example = FOLDER / f"{name}_mended.py"
    answer = call(ROOT, "--device", "sim", example, "--json", tmp_path / "out.json", "--fail-on", "syncs,races")
    assert 0 == answer.code, answer.out + answer.err
    found = read_json(tmp_path / "out.json")
    assert ([], [], None) == (found["syncs"], found["races"], found["error"])
    assert "no host wait, no race" in answer.out


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["decode_loop_mended", "prefetcher_mended", "graph_runner_mended"])
def test_the_mended_twin_has_no_race_on_a_gpu(name: str, tmp_path: Path) -> None:
    """The instruments of the real device agree."""
    answer = call(ROOT, "--device", "cuda", FOLDER / f"{name}.py", "--json", tmp_path / "out.json")
    assert 0 == answer.code, answer.err
    assert [] == read_json(tmp_path / "out.json")["races"]


@pytest.mark.gpu
def test_the_decode_loop_waits_in_four_lines_on_a_gpu(tmp_path: Path) -> None:
    """The profiler saw the host wait in the same lines."""
    answer = call(ROOT, "--device", "cuda", FOLDER / "decode_loop.py", "--json", tmp_path / "out.json")
    assert 0 == answer.code, answer.err
    found = read_json(tmp_path / "out.json")
    lines = {read_line("decode_loop.py", sync["line"]) for sync in found["syncs"] if sync["line"]}
    assert set(SYNCS) == lines


@pytest.mark.gpu
def test_the_prefetcher_s_missing_record_stream_is_found_on_a_gpu(tmp_path: Path) -> None:
    """CUDA's own sanitizer can't see it."""
    answer = call(ROOT, "--device", "cuda", FOLDER / "prefetcher.py", "--json", tmp_path / "out.json")
    assert 0 == answer.code, answer.err
    assert "reused-block" in {race["kind"] for race in read_json(tmp_path / "out.json")["races"]}
