"""Tacit: a judge for what PyTorch on CUDA really does."""

__version__ = "0.1.0"
