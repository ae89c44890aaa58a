"""The simulated device's caching allocator, by PyTorch's rules."""

from judge.devices.sim.allocator.allocator import CachingAllocator
from judge.devices.sim.allocator.driver import Driver, DriverOutOfMemory, LinearDriver
from judge.devices.sim.allocator.events import EventSource
from judge.devices.sim.allocator.oom import OutOfMemory
from judge.devices.sim.allocator.options import parse_options
from judge.devices.sim.allocator.pools import PoolId
from judge.devices.sim.allocator.routing import PoolIds
from judge.devices.sim.allocator.settings import Settings

__all__ = [
    "CachingAllocator",
    "Driver",
    "DriverOutOfMemory",
    "EventSource",
    "LinearDriver",
    "OutOfMemory",
    "PoolId",
    "PoolIds",
    "Settings",
    "parse_options",
]
