"""Tests of the command line, as a process."""
