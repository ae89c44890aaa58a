"""Private pools: who holds them, and which requests go to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from judge.devices.sim.allocator.pools import DEFAULT_POOL, BlockPool, PoolId, PrivatePool
from judge.devices.sim.allocator.sizes import SMALL_LIMIT_BYTES

Filter = Callable[[int], bool]
"""Tells whether a request on a stream belongs to the pool: that stream is captured, or this thread uses the pool."""


class PoolIds:
    """Numbers for new pools.

    Source: ``MemPool`` in ATen/cuda/MemPool.cpp, torch 2.13.
    """

    def __init__(self) -> None:
        self._graphs = 0
        self._users = 0

    def next_graph(self) -> PoolId:
        """Return ``(n, 0)``, for a graph that was given no pool."""
        self._graphs += 1
        return self._graphs, 0

    def next_user(self) -> PoolId:
        """Return ``(0, n)``, for ``torch.cuda.graph_pool_handle()`` and ``torch.cuda.MemPool()``."""
        self._users += 1
        return 0, self._users


class Routing:
    """The default pools and all private ones of a device.

    Source: ``beginAllocateToPool``, ``releasePool`` and ``get_pool`` in c10/cuda/CUDACachingAllocator.cpp,
    torch 2.13.
    """

    def __init__(self) -> None:
        self.small = BlockPool(is_small=True)
        self.large = BlockPool(is_small=False)
        self.private: dict[PoolId, PrivatePool] = {}
        self.underway: list[tuple[PoolId, Filter]] = []
        """The pools that requests are routed to now, and which; the oldest first."""

    def hold(self, pool_id: PoolId) -> PrivatePool:
        """Make a pool, or count one more holder of a pool that exists.

        Raises:
            RuntimeError: the pool has lost its last holder; PyTorch's internal assertion.
        """
        pool = self.private.get(pool_id)
        if pool is None:
            pool = self.private[pool_id] = PrivatePool(pool_id)
            return pool
        if pool.use_count == 0:
            raise RuntimeError("it->second->use_count > 0 INTERNAL ASSERT FAILED, please report a bug to PyTorch.")
        pool.use_count += 1
        return pool

    def release(self, pool_id: PoolId) -> None:
        """Count one holder less; without holders the pool's unused memory may go back to the driver.

        Raises:
            RuntimeError: there is no such pool, or nobody holds it; PyTorch's internal assertions.
        """
        pool = self.private.get(pool_id)
        if pool is None or pool.use_count == 0:
            what = "it != graph_pools.end()" if pool is None else "uc >= 0"
            raise RuntimeError(f"{what} INTERNAL ASSERT FAILED, please report a bug to PyTorch.")
        pool.use_count -= 1

    def begin(self, pool_id: PoolId, takes: Filter) -> None:
        """Route requests that a filter takes to a pool, which gets one holder more.

        Raises:
            RuntimeError: requests are routed to it already, or it has lost its last holder; PyTorch's texts.
        """
        self.hold(pool_id)
        if any(pool_id == other for other, _ in self.underway):
            raise RuntimeError("beginAllocateToPool: already recording to mempool_id")
        self.underway.append((pool_id, takes))

    def end(self, pool_id: PoolId) -> None:
        """Route no more requests to a pool; its holder stays until ``release``.

        Raises:
            RuntimeError: none are routed to it; PyTorch's text.
        """
        for at, (other, _) in enumerate(self.underway):
            if other == pool_id:
                del self.underway[at]
                return
        raise RuntimeError("endAllocatePool: not currently recording to mempool_id")

    def pick(self, size: int, stream: int) -> BlockPool:
        """Return the pool for a request of ``size`` rounded bytes; the newest filter that takes it wins."""
        is_small = size <= SMALL_LIMIT_BYTES
        for pool_id, takes in reversed(self.underway):
            if takes(stream):
                pool = self.private[pool_id]
                return pool.small if is_small else pool.large
        return self.small if is_small else self.large

    def reserves(self, *, is_small: bool) -> list[BlockPool]:
        """Return the pools whose free blocks serve the default pool of a kind before memory runs out."""
        serving = [pool for pool in self.private.values() if pool.may_serve_default]
        return [pool.small if is_small else pool.large for pool in serving]

    def idle(self, pool_id: PoolId = DEFAULT_POOL) -> list[PrivatePool]:
        """Return the private pools that nobody holds; with an id, at most that one."""
        unheld = [pool for pool in self.private.values() if pool.use_count == 0]
        return unheld if pool_id == DEFAULT_POOL else [pool for pool in unheld if pool.id == pool_id]

    def forget_empty(self) -> list[PoolId]:
        """Drop the private pools that nobody holds and that have no memory; return their ids."""
        gone = [pool.id for pool in self.idle() if pool.reserved_bytes == 0]
        for pool_id in gone:
            del self.private[pool_id]
        return gone

    def sum_private_free(self) -> int:
        """Return the bytes of all free blocks of private pools."""
        return sum(pool.small.sum_free() + pool.large.sum_free() for pool in self.private.values())

    def __iter__(self) -> Iterator[BlockPool]:
        yield self.small
        yield self.large
        for pool in self.private.values():
            yield pool.small
            yield pool.large
