"""Renderings of a verdict: terminal, JSON and JUnit XML, all pure functions of it.

Import from the submodules: only ``terminal`` needs rich, and it is imported when something is judged.
"""
