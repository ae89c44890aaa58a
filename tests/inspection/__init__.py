"""Tests of ``inspect``."""
