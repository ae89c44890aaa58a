"""The reference of 901."""


def double(numbers: list[int]) -> list[int]:
    """Return a new list with every number doubled."""
    return [2 * number for number in numbers]


class Counter:
    """Counts."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, amount: int, *, twice: bool = False) -> int:
        """Add ``amount`` (twice, if asked) and return the sum so far."""
        self.total += 2 * amount if twice else amount
        return self.total
