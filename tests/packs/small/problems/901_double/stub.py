"""Double every number."""


def double(numbers: list[int]) -> list[int]:
    """Return a new list with every number doubled."""
    raise NotImplementedError  # TODO


class Counter:
    """Counts."""

    def add(self, amount: int, *, twice: bool = False) -> int:
        """Add ``amount`` (twice, if asked) and return the sum so far."""
        raise NotImplementedError  # TODO
