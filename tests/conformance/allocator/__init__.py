"""The simulated device's caching allocator: its rules, and recordings of the real one."""
