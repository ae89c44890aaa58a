"""What graphs reserve: each a pool of its own, or one for all."""

from __future__ import annotations

from tests.conformance.edges.programs import run_real, run_simulated
from tests.conformance.runtime_facts.test_order import GOLDEN

BUCKETS = """
def run(is_shared):
    torch.cuda.empty_cache()
    start = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    pool = torch.cuda.graph_pool_handle() if is_shared else None
    figures, graphs = [], []
    for size in (8, 4, 2, 1):
        rows = torch.zeros(size, 64, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            wide = rows.repeat(1, 20000)
            result = wide.sum(1)
            del wide
        graphs.append((graph, rows, result))
        now = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        figures.append([after - before for before, after in zip(start, now)])
    return figures
print([run(is_shared) for is_shared in (True, False)])
"""


def test_graphs_reserve_what_they_did_on_the_gpu(device_kind):
    """With a shared pool, the largest first, the others fit in; with private pools each takes its own."""
    run = run_simulated if device_kind == "sim" else run_real
    shared, private = GOLDEN["four graphs, 20 MB to 3 MB of scratch, a shared pool and private ones"]
    assert f"{[shared, private]}\n" == run(BUCKETS).out
