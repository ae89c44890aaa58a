"""What user code sees of the simulated device: PyTorch's own interface, over another bottom (torch)."""
