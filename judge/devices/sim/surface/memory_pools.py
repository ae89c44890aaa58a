"""``torch.cuda.MemPool`` and the routing of requests to private pools. (torch)"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from judge.devices.sim.allocator import PoolId
from judge.devices.sim.errors import NotSimulated
from judge.devices.sim.surface.memory_calls import check_device

if TYPE_CHECKING:
    from judge.devices.sim.machine import Machine


class PoolCalls:
    """Stands for the functions of the same names in ``torch._C``.

    Args:
        machine: whose memory.

    Source: torch/csrc/cuda/Module.cpp and torch/csrc/cuda/MemPool.cpp, torch 2.13.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._memory = machine.memory
        self._routing = machine.memory.allocator.routing

    def as_functions(self) -> dict[str, Callable[..., Any]]:
        """Return them by their names there."""
        return {
            "_cuda_beginAllocateToPool": self.begin,
            "_cuda_beginAllocateCurrentThreadToPool": self.begin_for_thread,
            "_cuda_beginAllocateCurrentStreamToPool": self.begin_for_stream,
            "_cuda_endAllocateToPool": self.end,
            "_cuda_releasePool": self.release,
            "_cuda_checkPoolLiveAllocations": self.has_only,
        }

    def begin(self, device: int, pool_id: PoolId) -> None:
        """Route all requests to a pool."""
        check_device(device)
        self._routing.begin(tuple(pool_id), lambda _: True)

    def begin_for_thread(self, device: int, pool_id: PoolId) -> None:
        """Route the requests of this thread to a pool."""
        check_device(device)
        thread = threading.get_ident()
        self._routing.begin(tuple(pool_id), lambda _: threading.get_ident() == thread)

    def begin_for_stream(self, device: int, pool_id: PoolId) -> None:
        """Route the requests of the current stream to a pool."""
        check_device(device)
        handle = self._machine.current.handle
        self._routing.begin(tuple(pool_id), lambda stream: stream == handle)

    def end(self, device: int, pool_id: PoolId) -> None:
        """Route no more requests to a pool."""
        check_device(device)
        self._routing.end(tuple(pool_id))

    def release(self, device: int, pool_id: PoolId) -> None:
        """Count one holder of a pool less."""
        check_device(device)
        self._routing.release(tuple(pool_id))

    def has_only(self, device: int, pool_id: PoolId, addresses: Sequence[int]) -> bool:
        """Tell whether the blocks of a pool that are handed out are just those that start at some addresses."""
        check_device(device)
        self._memory.lifetimes.settle()
        segments = self._memory.allocator.memory_snapshot(tuple(pool_id))
        live = {
            block["address"]
            for segment in segments
            for block in segment["blocks"]
            if block["state"] == "active_allocated"
        }
        return live == set(addresses)

    def create(self, *, is_user_made: bool, serves_default: bool, never_splits: bool) -> PoolId:
        """Make a pool that one holder holds, and return its id."""
        ids = self._memory.pool_ids
        pool_id: PoolId = ids.next_user() if is_user_made else ids.next_graph()
        pool = self._routing.hold(pool_id)
        pool.may_serve_default = serves_default
        pool.never_splits = never_splits
        return pool_id

    def count_holders(self, pool_id: PoolId) -> int:
        """Return how many hold a pool; 0 for one that is gone."""
        pool = self._routing.private.get(pool_id)
        return 0 if pool is None else pool.use_count

    def drop(self, pool_id: PoolId) -> None:
        """Give up a ``MemPool``: its unused memory goes back to the driver if nobody else holds it."""

        def give_up() -> None:
            self._routing.release(pool_id)
            self._memory.allocator.empty_cache(pool_id)

        self._memory.lifetimes.do(give_up)


def make_pool_base(pools: PoolCalls) -> type:
    """Return what ``torch.cuda.MemPool`` derives from while the simulation is installed."""

    class PoolBase:
        """A private pool that lives as long as this object."""

        def __new__(cls, *_: object, **__: object) -> PoolBase:
            """Make one without looking at the arguments; ``object`` would refuse them."""
            return super().__new__(cls)

        def __init__(
            self,
            allocator: object = None,
            is_user_created: bool = True,
            use_on_oom: bool = False,
            no_split: bool = False,
        ) -> None:
            self._id: PoolId | None = None
            if allocator is not None:
                raise NotSimulated("torch.cuda.MemPool(allocator)", "allocators of other libraries call the driver")
            self._id = pools.create(is_user_made=is_user_created, serves_default=use_on_oom, never_splits=no_split)

        def __del__(self) -> None:
            if getattr(self, "_id", None) is not None:
                pools.drop(self._id)  # type: ignore[arg-type]  # just checked

        @property
        def id(self) -> PoolId | None:
            """The pool's id."""
            return self._id

        @property
        def device(self) -> int:
            """Index of the device."""
            return 0

        @property
        def allocator(self) -> None:
            """The allocator behind the pool: the device's own."""

        def use_count(self) -> int:
            """Return how many hold the pool: this object, graphs and open contexts."""
            return pools.count_holders(self._id) if self._id is not None else 0

    return PoolBase
