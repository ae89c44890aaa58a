"""Tests of the whole: layers, messages, documents, pins."""
