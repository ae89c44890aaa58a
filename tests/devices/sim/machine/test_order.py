"""What is ordered after what: events, waits, the default stream, and the host."""

from __future__ import annotations

import threading

import pytest

from judge.devices.sim.events import Event
from judge.devices.sim.machine import Machine
from tests.devices.sim.engine import make_access, make_machine, make_work, settle

DATA = make_access()


@pytest.fixture
def machine() -> Machine:
    """Return a fresh device."""
    return make_machine()


def test_a_wait_covers_the_work_that_was_queued_before_the_record(machine):
    """``wait_stream`` orders the past of the one before the future of the other."""
    a, b = machine.streams.get(), machine.streams.get()
    first = machine.launch(make_work(50.0, occupancy=0.1), (), (), stream=a)
    machine.wait_stream(b, a)
    later = machine.launch(make_work(50.0, occupancy=0.1), (), (), stream=a)
    second = machine.launch(make_work(5.0, occupancy=0.1), (), (), stream=b)
    settle(machine)
    assert first.end_us == second.start_us
    assert second.start_us < later.end_us


def test_recording_again_replaces_what_an_event_covers_but_not_for_those_who_wait_already(machine):
    """A wait sees the last record before it."""
    a, b, c = (machine.streams.get() for _ in range(3))
    event = Event()
    first = machine.launch(make_work(50.0, occupancy=0.1), (), (), stream=a)
    machine.record(event, a)
    machine.wait(b, event)
    second = machine.launch(make_work(50.0, occupancy=0.1), (), (), stream=a)
    machine.record(event, a)
    machine.wait(c, event)
    early = machine.launch(make_work(1.0, occupancy=0.1), (), (), stream=b)
    late = machine.launch(make_work(1.0, occupancy=0.1), (), (), stream=c)
    settle(machine)
    assert (first.end_us, second.end_us) == (early.start_us, late.start_us)


def test_waiting_for_an_event_that_was_never_recorded_does_nothing(machine):
    """No host time, no order, no wait."""
    event = Event()
    machine.wait(machine.streams.default, event)
    machine.synchronize_event(event)
    assert machine.query_event(event)
    assert (0.0, []) == (machine.clock.host_us, machine.ledger.waits)


@pytest.mark.parametrize(
    ("kinds", "is_ordered"),
    [
        (("default", "pool"), False),
        (("pool", "default"), False),
        (("pool", "pool"), False),
        (("default", "blocking"), True),
        (("blocking", "default"), True),
        (("blocking", "blocking"), False),
    ],
    ids=lambda value: " then ".join(value) if isinstance(value, tuple) else "",
)
def test_only_blocking_streams_and_the_default_stream_wait_for_each_other(machine, kinds, is_ordered):
    """In time and in the order that races are judged by."""
    made = {"default": lambda: machine.streams.default, "pool": machine.streams.get, "blocking": machine.streams.create}
    first, second = (made[kind]() for kind in kinds)
    busy = machine.launch(make_work(100.0, occupancy=0.1), (), (DATA,), stream=first)
    task = machine.launch(make_work(1.0, occupancy=0.1), (DATA,), (), stream=second)
    settle(machine)
    assert is_ordered == (busy.end_us <= task.start_us)
    assert is_ordered == (not machine.shadow.races)


def test_the_host_is_ordered_after_what_it_waited_for(machine):
    """And so is all that it launches from then on."""
    a, b = machine.streams.get(), machine.streams.get()
    machine.launch(make_work(50.0), (), (DATA,), stream=a)
    machine.synchronize_stream(a, kind="stream_synchronize", call="torch.cuda.Stream.synchronize")
    machine.launch(make_work(5.0), (DATA,), (), stream=b)
    assert [] == machine.shadow.races


def test_a_query_that_says_no_orders_nothing(machine):
    """The host saw nothing done."""
    a, b = machine.streams.get(), machine.streams.get()
    machine.launch(make_work(500.0), (), (DATA,), stream=a)
    assert not machine.query_stream(a)
    machine.launch(make_work(5.0), (DATA,), (), stream=b)
    assert 1 == len(machine.shadow.races)


def test_a_query_that_says_yes_orders_the_host(machine):
    """Polling an event is a way of waiting for it."""
    a, b = machine.streams.get(), machine.streams.get()
    event = Event()
    machine.launch(make_work(500.0), (), (DATA,), stream=a)
    machine.record(event, a)
    while not machine.query_event(event):
        pass
    machine.launch(make_work(5.0), (DATA,), (), stream=b)
    assert [] == machine.shadow.races


def test_bytes_for_the_host_appear_once_it_is_ordered_after_the_copy(machine):
    """Not before, however late it is."""
    seen = []
    stream = machine.streams.get()
    machine.launch(make_work(5.0, engine="d2h"), (), (), stream=stream)
    machine.when_ordered(stream, lambda: seen.append("bytes"))
    machine.clock.advance(1e6)
    machine.host.flush()
    assert [] == seen
    assert machine.query_stream(stream)
    assert ["bytes"] == seen


def test_waiting_for_another_stream_makes_no_bytes_appear(machine):
    """They belong to the copy's own stream."""
    seen = []
    stream = machine.streams.get()
    machine.launch(make_work(5.0, engine="d2h"), (), (), stream=stream)
    machine.when_ordered(stream, lambda: seen.append("bytes"))
    machine.synchronize_stream(machine.streams.default, kind="item", call="Tensor.item")
    assert [] == seen
    machine.synchronize_device()
    assert ["bytes"] == seen


def test_an_event_is_reached_when_its_work_has_ended_or_at_once_on_an_idle_stream(machine):
    """So ``elapsed_time`` sees the gap that the host leaves as well."""
    start, end = Event(is_timing=True), Event(is_timing=True)
    machine.record(start)
    idle_us = machine.clock.host_us
    task = machine.launch(make_work(50.0), (), ())
    machine.record(end)
    assert machine.find_time(end) is None
    machine.synchronize_event(end)
    assert (idle_us, task.end_us) == (machine.find_time(start), machine.find_time(end))


def test_each_thread_has_its_own_current_stream(machine):
    """A new thread starts on the default stream."""
    stream = machine.current = machine.streams.get()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(machine.current))
    thread.start()
    thread.join()
    assert [machine.streams.default] == seen
    assert stream is machine.current
