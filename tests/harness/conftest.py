"""Torch, imported once where its own warnings do not fail the tests."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch  # noqa: F401  it warns where numpy is not installed
