"""A child process on a fake problem, driven as the parent drives it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.harness import entry_path
from judge.models.wire import decode_frame

STUB = '''
def double(number: int) -> int:
    """Return twice the number."""
    raise NotImplementedError
'''
TESTS = '''
def test_doubles(solution, expect, evidence):
    """It doubles.

    zh: 它加倍。
    """
    evidence.exact("doubles", [solution.double(n) for n in range(3)])
    expect.equal(solution.double(2), 4, ("double(2)", "double(2)"))
