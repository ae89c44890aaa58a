"""PyTorch itself, for what can be asked of it without a GPU."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

import pytest
from packaging.version import Version


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """Return torch 2.13 or later, whose rules are followed here; without NumPy it warns when it is imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip("torch")
        importlib.import_module("torch.cuda._memory_viz")
    if Version(module.__version__) < Version("2.13"):
        pytest.skip(f"the rules are those of torch 2.13, this is {module.__version__}")
    return module
