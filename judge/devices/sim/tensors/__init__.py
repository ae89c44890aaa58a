"""Tensors of the simulated device: plain CPU tensors in device memory, and what each op on them does."""
