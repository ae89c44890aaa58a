"""Tests of what runs in the learner's process."""
