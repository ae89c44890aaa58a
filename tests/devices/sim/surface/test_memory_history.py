"""Memory history, snapshots and settings through `torch.cuda.memory`."""

from __future__ import annotations

import inspect
import io
import pickle
import warnings

import pytest

from judge.devices.sim.errors import NotSimulated

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch says that it lacks NumPy
    torch = pytest.importorskip("torch")


MIB = 1 << 20


@pytest.fixture(autouse=True)
def cuda(simulation):
    """Return ``torch.cuda``, initialised: before that, it has no figures."""
    torch.cuda.init()
    return torch.cuda


def make(size_bytes):
    """Return a tensor of so many bytes on the device."""
    return torch.empty(size_bytes, dtype=torch.uint8, device="cuda")


def test_a_snapshot_tells_who_asked():
    """Segments, blocks, trace entries and frames in PyTorch's format."""
    torch.cuda.memory._record_memory_history(max_entries=100)
    kept, line = torch.empty(1000, dtype=torch.uint8, device="cuda"), inspect.currentframe().f_lineno
    snapshot = torch.cuda.memory._snapshot()
    torch.cuda.memory._record_memory_history(enabled=None)
    (segment,) = snapshot["segments"]
    used, rest = segment["blocks"]
    assert (1000, 1024, "active_allocated", "inactive") == (
        used["requested_size"],
        used["size"],
        used["state"],
        rest["state"],
    )
    frame = used["frames"][0]
    assert (__file__, line) == (frame["filename"], frame["line"])
    assert used["frames"] == torch._C._cuda_allocationTraceback(kept.data_ptr())
    assert ["segment_alloc", "alloc"] == [entry["action"] for entry in snapshot["device_traces"][0]]
    assert [] == torch.cuda.memory._snapshot()["device_traces"][0]
    del kept


def test_a_snapshot_without_traces_is_light():
    """``include_traces=False``."""
    torch.cuda.memory._record_memory_history()
    make(1000)
    assert [] == torch._C._cuda_memorySnapshot((0, 0, False))["device_traces"][0]
    assert torch._C._cuda_memorySnapshot((0, 0, True))["device_traces"][0]


def test_metadata_is_attached_to_entries():
    """From its setting on."""
    torch.cuda.memory._record_memory_history()
    torch.cuda.memory._set_memory_metadata("step 1")
    assert "step 1" == torch.cuda.memory._get_memory_metadata()
    make(1000)
    entries = torch.cuda.memory._snapshot()["device_traces"][0]
    assert {"step 1"} == {entry["user_metadata"] for entry in entries}


def test_history_may_be_asked_for_in_the_old_way():
    """``_record_memory_history(True)`` keeps frames of blocks that live."""
    torch.cuda.memory._record_memory_history(True, trace_alloc_max_entries=10, trace_alloc_record_context=True)
    kept = make(1000)
    assert torch._C._cuda_isHistoryEnabled()
    assert torch.cuda.memory_snapshot()[0]["blocks"][0]["frames"]
    assert ["segment_alloc", "alloc", "snapshot"] == [
        entry["action"] for entry in torch.cuda.memory._snapshot()["device_traces"][0]
    ]
    torch.cuda.memory._record_memory_history(False)
    assert not torch._C._cuda_isHistoryEnabled()
    del kept


def test_a_mistaken_argument_has_pytorch_s_text():
    """As the C++ code says it."""
    with pytest.raises(RuntimeError, match="expected stacks to be 'python', or 'all'"):
        torch.cuda.memory._record_memory_history(stacks="c")
    with pytest.raises(RuntimeError, match="expected context to be"):
        torch.cuda.memory._record_memory_history(context="some")


def test_a_dumped_snapshot_opens_in_memory_viz(tmp_path):
    """PyTorch's own tools read it: plain data, drawn as a page and as text."""
    from torch.cuda import _memory_viz

    torch.cuda.memory._record_memory_history()
    kept = [make(1000), make(5 * MIB)]
    kept.pop()
    path = tmp_path / "snapshot.pickle"
    torch.cuda.memory._dump_snapshot(str(path))
    snapshot = Plain(io.BytesIO(path.read_bytes())).load()
    assert {"segments", "device_traces", "allocator_settings", "external_annotations"} == set(snapshot)
    assert "<html>" in _memory_viz.trace_plot(snapshot)
    assert "<html>" in _memory_viz.segment_plot(snapshot)
    assert "total_reserved: 22.0MiB" in _memory_viz.segsum(snapshot)
    assert "alloc" in _memory_viz.trace(snapshot)


class Plain(pickle.Unpickler):
    """Reads nothing but plain data."""

    def find_class(self, module, name):
        """Refuse."""
        raise AssertionError(f"the snapshot holds {module}.{name}")


def test_settings_are_taken_into_force_while_running():
    """From the next request on."""
    torch._C._accelerator_setAllocatorSettings("roundup_power2_divisions:4")
    kept = make(MIB + 1)
    assert MIB + MIB // 4 == torch.cuda.memory_allocated()
    assert "roundup_power2_divisions:4" == torch._C._accelerator_getAllocatorSettings()
    with pytest.raises(ValueError, match="Unrecognized key"):
        torch._C._accelerator_setAllocatorSettings("colour:blue")
    with pytest.raises(NotSimulated, match="cudaMallocAsync"):
        torch._C._accelerator_setAllocatorSettings("backend:cudaMallocAsync")
    assert "native" == torch.cuda.get_allocator_backend()
    del kept


def test_expandable_segments_grow_in_place():
    """One range of addresses for a stream, real bytes behind it."""
    torch._C._accelerator_setAllocatorSettings("expandable_segments:True")
    first = make(30 * MIB).fill_(1)
    second = make(30 * MIB).fill_(2)
    assert first.data_ptr() + 30 * MIB == second.data_ptr()
    assert [True] == [segment["is_expandable"] for segment in torch.cuda.memory_snapshot()]
    assert (1, 2) == (first[-1].item(), second[0].item())
    del first, second
