"""Decide, outside the learner's process, from evidence; pure functions of what was recorded."""

from judge.verdict.settlement import settle

__all__ = ["settle"]
