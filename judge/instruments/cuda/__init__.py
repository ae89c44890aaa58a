"""The instruments on a real GPU: PyTorch's profiler, sync debug mode, sanitizer and memory history."""
