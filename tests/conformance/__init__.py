"""The simulated device held against what a real GPU did."""
