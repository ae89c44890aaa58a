"""A solution that fails in every way, and the tests that let it."""

from __future__ import annotations

SOLUTION = '''
import sys
from dataclasses import dataclass


def zero():
    return 1 // 0

def hole():
    """Later."""
    raise NotImplementedError("split the block")

class Shelf:
    def put(self):
        todo()

def todo():
    raise NotImplementedError

def nothing():
    pass

def own_assert():
    assert 1 > 2, "one is small"

def skips():
    import pytest
    pytest.skip("no thanks")

def skips_from_a_string():
    exec("def f():\\n    import pytest\\n    pytest.skip('no thanks')", globals())
    return f

def unittest_skip():
    import unittest
    raise unittest.SkipTest("no thanks")

def xfails():
    import pytest
    pytest.xfail("no thanks")

def fails():
    import pytest
    pytest.fail("no thanks")

def exits_pytest():
    import pytest
    pytest.exit("bye", returncode=0)

def exits():
    sys.exit(0)

def interrupts():
    raise KeyboardInterrupt

def deep(n):
    return deep(n + 1)

class Mute(Exception):
    def __str__(self):
        raise RuntimeError("mute")

def mute():
    raise Mute

def shouts():
    raise ValueError("x" * 1_000_000)

def group():
    raise ExceptionGroup("two", [ValueError("first"), TypeError("second")])

def reads_past_the_end():
    raise EOFError("EOF when reading a line")

@dataclass
class Block:
    addr: int

def calls(callback):
    return callback(None)

class Odd:
    def __repr__(self):
        raise RuntimeError("no repr")

def brackets():
    raise ValueError("[/bold] {x} \\x1b[31m \\ud800")
'''
TESTS = """
import pytest

def test_zero(solution):
    solution.zero()

def test_hole(solution):
    solution.hole()

def test_nested_hole(solution):
    solution.Shelf().put()

def test_unpack(solution):
    first, second = solution.nothing()

def test_attribute(solution):
    block = solution.nothing()
    other = 3
    assert block.addr == 512

def test_wrong_call(solution):
    solution.Block(1, 2)

def test_odd_answer(solution):
    odd = solution.Odd()
    odd + 1

def test_plain_assert(solution):
    assert solution.Block(3).addr == 512

def test_assert_with_message(solution):
    assert 1 == 2, "the pool is wrong\\nsecond line"

def test_assert_long(solution):
    assert [1] * 100_000 == solution.nothing()

def test_own_assert(solution):
    solution.own_assert()

def test_skips(solution):
    solution.skips()

def test_skips_from_a_string(solution):
    solution.skips_from_a_string()()

def test_unittest_skip(solution):
    solution.unittest_skip()

def test_xfails(solution):
    solution.xfails()

def test_fails(solution):
    solution.fails()

def test_exits_pytest(solution):
    solution.exits_pytest()

def test_exits(solution):
    solution.exits()

def test_interrupts(solution):
    solution.interrupts()

def test_deep(solution):
    solution.deep(0)

def test_mute(solution):
    solution.mute()

def test_shouts(solution):
    solution.shouts()

def test_group(solution):
    solution.group()

def test_end_of_file(solution):
    solution.reads_past_the_end()

def test_author_skips(solution):
    pytest.skip("not today")

@pytest.mark.skipif(True, reason="never")
def test_author_skipif(solution):
    raise AssertionError

def test_author_fails(solution):
    pytest.fail("the author says no")

def test_callback(solution):
    def callback(size):
        return size + 1
    solution.calls(callback)

def test_callback_assert(solution, expect):
    solution.calls(lambda size: expect.equal(size, 512, ("size is off", "大小不对")))

def test_brackets(solution):
    solution.brackets()

@pytest.fixture
def built(solution):
    return solution.zero()

def test_fixture_of_the_author(built):
    pass

def test_no_such_fixture(nowhere):
    pass

@pytest.fixture
def late(solution):
    yield
    solution.zero()

def test_teardown(late):
    pass

@pytest.fixture
def broken():
    raise OSError("no room")

def test_broken_fixture(broken):
    pass

def test_last(solution):
    pass
"""
