"""The instruments on a real GPU: PyTorch's profiler, sync debug mode and memory history, and the search for races."""
