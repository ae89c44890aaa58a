"""Instruments: what a program made the device do, seen the same way on real and on simulated CUDA.

They run beside the user's code, so nothing here needs more than the standard library and torch.
"""
