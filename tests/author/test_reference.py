"""The reference against itself."""

from __future__ import annotations

from judge.author.bench import Bench
from judge.author.reference import prove_reference
from tests.author.editing import brief, edit


def test_a_sound_reference_becomes_the_key(bench: Bench) -> None:
    """It is accepted under two seeds; its first run serves for everything else."""
    proof = prove_reference(bench)
    assert ((), ()) == (proof.findings, proof.unproven)
    assert proof.key is not None
    assert 3 == len(proof.key.oracle.outcomes)


def test_a_reference_that_fails_a_test_is_refused(bench: Bench) -> None:
    """The test that fails and the seed are told."""
    edit(bench.problem.reference, "[2 * number", "[3 * number")
    proof = prove_reference(bench)
    assert [("reference_refused", "solution.py", None)] == brief(proof.findings)
    assert proof.key is None
    assert "oracle" not in proof.findings[0].what.en
    assert "--seed" in proof.findings[0].remedy.en


def test_a_reference_that_is_no_function_of_the_seed_is_refused(bench: Bench) -> None:
    """Two runs under one seed must record the same."""
    edit(bench.problem.reference, "return [2 *", "import os\n    return [os.getpid() *")
    (bench.problem.folder / "test_solution.py").write_text(
        'def test_it(solution, evidence):\n    """It.\n\n    zh: 它。\n    """\n'
        '    evidence.exact("it", solution.double([1]))\n',
        encoding="utf-8",
    )
    (finding,) = prove_reference(bench).findings
    assert "reference_refused" == finding.rule
    assert "test_solution.py::test_it: `it[0]` differs" in finding.what.en


def test_a_required_test_without_evidence_is_found(bench: Bench) -> None:
    """Nobody could ever pass it; its file and line are told."""
    edit(bench.problem.folder / "test_solution.py", '    evidence.exact("sums", sums)\n', "")
    proof = prove_reference(bench)
    assert [("test_silent", "test_solution.py", 23)] == brief(proof.findings)
    assert proof.key is None


def test_skipped_tests_leave_something_unproven(bench: Bench) -> None:
    """A machine without a GPU can't prove what only a GPU's tests check; that is said, and no finding."""
    tests = bench.problem.folder / "test_solution.py"
    edit(tests, "def test_a_list", "import pytest\n\n@pytest.mark.gpu\ndef test_a_list")
    proof = prove_reference(bench)
    assert () == proof.findings
    assert proof.key is not None
    assert "1 of 3 required tests" in proof.unproven[0].en
