"""Vector clocks of a real GPU's streams, without the GPU."""

from __future__ import annotations

from types import SimpleNamespace

from judge.instruments.cuda.order import Order

FIRST, SECOND = 0x10, 0x20


def make() -> tuple[Order, list[int]]:
    """Return an order, and how often the host has learnt something, as the length of a list."""
    learned: list[int] = []
    return Order(lambda: learned.append(1)), learned


def knows(order: Order, stream: int, actor: int, clock: int) -> bool:
    """Return whether what comes next on a stream is ordered after a step."""
    vector = order.look_at(stream)
    return actor < len(vector) and vector[actor] >= clock


def test_a_stream_knows_itself_and_what_it_waited_for() -> None:
    """Nothing else: two streams have no order by themselves."""
    order, _ = make()
    actor, vector = order.launch(FIRST)
    clock = vector[actor]
    assert [True, False] == [knows(order, stream, actor, clock) for stream in (FIRST, SECOND)]
    event = SimpleNamespace()
    order.record(event, FIRST)
    order.launch(FIRST)
    order.wait(SECOND, event)
    assert [True, False] == [knows(order, SECOND, actor, clock + more) for more in (0, 1)]


def test_what_the_host_has_seen_orders_all_later_launches() -> None:
    """By an event, a stream, or everything; and whoever keeps bytes is told."""
    order, learned = make()
    actor, vector = order.launch(FIRST)
    event = SimpleNamespace()
    order.record(event, FIRST)
    order.see_event(event)
    assert knows(order, SECOND, actor, vector[actor])
    order.launch(FIRST)
    order.see_stream(FIRST)
    assert knows(order, SECOND, actor, vector[actor])
    order.launch(FIRST)
    order.see_all()
    assert knows(order, SECOND, actor, vector[actor])
    assert 3 == len(learned)


def test_an_event_of_another_watch_orders_nothing() -> None:
    """What was recorded before the start is over, and its clocks are not these."""
    before, _ = make()
    event = SimpleNamespace()
    for _ in range(5):
        before.launch(FIRST)
    before.record(event, FIRST)
    order, _ = make()
    actor, vector = order.launch(FIRST)
    order.wait(SECOND, event)
    assert not knows(order, SECOND, actor, vector[actor])


def test_a_join_orders_one_stream_after_all() -> None:
    """As autograd does, out of sight; the other streams and the host know no more than before."""
    order, learned = make()
    actor, vector = order.launch(FIRST)
    other, later = order.launch(SECOND)
    order.join(SECOND)
    assert knows(order, SECOND, actor, vector[actor])
    assert not knows(order, FIRST, other, later[other])
    assert ([0], 0) == (order.host, len(learned))
