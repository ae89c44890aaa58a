"""Who owns which bytes of a real GPU, without the GPU."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from judge.devices.sim.races.shadow import Shadow
from judge.devices.sim.sites import UNKNOWN
from judge.instruments.cuda.lives import Lives
from judge.instruments.cuda.order import Order

OWN, SIDE = 0x10, 0x20


class Tensor:
    """Memory at an address, its own storage."""

    def untyped_storage(self) -> Tensor:
        """Return itself."""
        return self

    def data_ptr(self) -> int:
        """Return its address."""
        return 0x1000

    def nbytes(self) -> int:
        """Return its bytes."""
        return 512


@pytest.mark.parametrize(("is_seen", "knows"), [(True, True), (False, False)], ids=["seen", "never_seen"])
def test_a_recorded_stream_is_over_once_the_bytes_are_handed_out_again(is_seen: bool, knows: bool) -> None:
    """What was recorded for memory whose end nobody notes says nothing of the next owner's end."""
    order = Order(lambda: None)
    shadow = Shadow(name_of=str, host=order.host)
    lives = Lives(order)
    first: Any = Tensor()
    if is_seen:
        lives.see(first, shadow, OWN, UNKNOWN)
    actor, vector = order.launch(SIDE)
    lives.record(first.data_ptr(), SIDE)
    del first
    second: Any = Tensor()
    lives.settle(shadow)
    lives.see(second, shadow, OWN, UNKNOWN)
    del second
    third: Any = Tensor()
    lives.settle(shadow)
    lives.see(third, shadow, OWN, UNKNOWN)
    assert knows == (actor < len(order.host) and order.host[actor] >= vector[actor])
