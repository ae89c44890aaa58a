"""A simulated CUDA device: what PyTorch on CUDA does, without a GPU."""
