"""The simulated device comes and goes without a trace."""

from __future__ import annotations

import sys
import threading
import warnings
from types import ModuleType
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch without NumPy warns when it is imported
    import torch

from judge.devices.sim import install as installation

MODULES = ("torch", "threading")
CLASSES = (
    torch.Tensor,
    torch.UntypedStorage,
    torch.storage._StorageBase,
    torch.nn.RNNBase,
    torch.nn.Parameter,
    torch.cuda.Stream,
    torch.cuda.Event,
    torch.cuda.CUDAGraph,
    torch.cuda.MemPool,
    torch.amp.autocast_mode.autocast,
    threading.Thread,
)


def photograph() -> dict[str, dict[str, int]]:
    """Return the identity of each name in every namespace that could have been touched, submodules left out."""
    spaces: dict[str, Any] = {
        name: module for name, module in list(sys.modules.items()) if name.partition(".")[0] in MODULES and module
    }
    spaces.update({f"class {kind.__module__}.{kind.__qualname__}": kind for kind in CLASSES})
    return {
        name: {
            key: id(value)
            for key, value in vars(space).items()
            if not issubclass(type(value), ModuleType) and key not in ("__warningregistry__", "__annotations_cache__")
        }
        for name, space in spaces.items()
        if hasattr(space, "__dict__")
    }


def use_everything() -> None:
    """Use a good part of the device."""
    layer = torch.nn.Linear(4, 4).cuda()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side), torch.autocast("cuda"):
        loss = layer(torch.randn(2, 4, device="cuda")).sum()
    loss.backward()
    torch.cuda.synchronize()
    repr(loss)


def find_changes(before: dict[str, dict[str, int]]) -> list[str]:
    """Return the names whose object is another one now."""
    after = photograph()
    return [
        f"{space}.{name}"
        for space, names in before.items()
        for name in names.keys() | after[space].keys()
        if names.get(name) != after[space].get(name)
    ]


def test_torch_is_as_it_was_afterwards() -> None:
    """Every name of every module of torch, and of the classes that are patched, is the same object."""
    with installation.install():
        use_everything()  # what torch imports and sets up on first use is there before the photograph
    before = photograph()
    with installation.install():
        use_everything()
        assert [] != find_changes(before)
    assert [] == find_changes(before)


def test_serialisation_forgets_the_device() -> None:
    """The registry of storage locations is as it was."""
    before = list(torch.serialization._package_registry)
    with installation.install():
        assert before != torch.serialization._package_registry
    assert before == torch.serialization._package_registry


def test_a_tensor_that_outlives_the_device_is_the_hosts() -> None:
    """Its bytes stay, and it says that it is on the CPU."""
    with installation.install():
        tensor = torch.arange(3, device="cuda")
    assert ("cpu", [0, 1, 2]) == (tensor.device.type, tensor.tolist())


def test_a_failed_installation_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error half-way is passed on, and torch is as it was."""
    before = photograph()
    monkeypatch.setattr(installation, "SURFACES", (*installation.SURFACES, "nothing_of_the_kind"))
    with pytest.raises(ModuleNotFoundError):
        installation.install()
    assert [] == find_changes(before)


def test_a_second_device_is_refused(simulation: Any) -> None:
    """There is one installation a process."""
    with pytest.raises(RuntimeError, match="installed already"):
        installation.install()


def test_closing_twice_does_nothing(simulation: Any) -> None:
    """The second call finds nothing to take away."""
    simulation.close()
    simulation.close()
    assert not torch.cuda.is_available()


def test_each_installation_begins_anew() -> None:
    """Memory, time and random numbers start from the same point."""

    def look() -> tuple[Any, ...]:
        with installation.install() as simulation:
            tensor = torch.rand(3, device="cuda")
            return tensor.tolist(), tensor.data_ptr(), torch.cuda.memory_allocated(), simulation.machine.clock.host_us

    assert look() == look()


def test_threads_see_the_device(simulation: Any) -> None:
    """A thread started by user code works on it as the main thread does."""
    seen = []
    worker = threading.Thread(target=lambda: seen.append((torch.ones(2, device="cuda") + 1).is_cuda))
    worker.start()
    worker.join()
    assert [True] == seen
