"""Who the bytes belong to now: blocks by address, each owner with a serial number."""

from __future__ import annotations

from typing import NamedTuple


class Owner(NamedTuple):
    """One owner of a block, from its allocation to its free."""

    serial: int
    """Never given twice."""
    address: int
    size: int
    stream: int | None
    """Handle of the block's stream, if it is known."""


class Owners:
    """The owners of all blocks that are handed out."""

    def __init__(self) -> None:
        self._by_address: dict[int, Owner] = {}
        self._serial = 0

    def begin(self, address: int, size: int, stream: int | None) -> None:
        """Note a new owner."""
        self._serial += 1
        self._by_address[address] = Owner(self._serial, address, size, stream)

    def end(self, address: int) -> None:
        """Note that the owner gave the block up."""
        self._by_address.pop(address, None)

    def find(self, address: int) -> Owner | None:
        """Return the owner of the byte at an address. Looks at all of them unless a block begins there."""
        owner = self._by_address.get(address)
        if owner is not None:
            return owner
        for owner in self._by_address.values():
            if owner.address <= address < owner.address + owner.size:
                return owner
        return None

    def is_alive(self, owner: Owner) -> bool:
        """Tell whether an owner still has its block."""
        return self._by_address.get(owner.address) is owner
