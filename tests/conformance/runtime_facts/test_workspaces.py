"""When cuBLAS takes its memory: once in the forward pass, once in the backward pass, after the product's result."""

from __future__ import annotations

from tests.conformance.edges.programs import run_real, run_simulated
from tests.conformance.runtime_facts.test_order import GOLDEN

STEPS = """
x = torch.ones(1024, 1024, device="cuda", requires_grad=True)
layer = torch.nn.Linear(1024, 768, device="cuda")
gradient = torch.ones(1024, 768, device="cuda")
torch.cuda.memory._record_memory_history()
for _ in range(3):
    layer(x).backward(gradient)
entries = torch.cuda.memory._snapshot()["device_traces"][0]
sizes = [entry["size"] for entry in entries if entry["action"] == "alloc"]
torch.cuda.memory._record_memory_history(None)
print([[before, size] for before, size in zip(sizes, sizes[1:]) if size == 32 << 20])
"""


def test_a_workspace_is_taken_once_each_way(device_kind):
    """In a training step of a transformer on the GPU it followed a result of 3 MiB, then one of 4 MiB."""
    run = run_simulated if device_kind == "sim" else run_real
    fact = "cuBLAS's workspace in three training steps: the result of the product before it, and its size"
    assert f"{GOLDEN[fact]}\n" == run(STEPS).out
