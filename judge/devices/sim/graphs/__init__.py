"""CUDA graphs: work is captured as nodes on frozen addresses, and replayed from there."""
