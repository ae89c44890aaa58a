"""Tests of finding and reading problems, over packs that the tests write themselves."""
