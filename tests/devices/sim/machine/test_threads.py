"""Threads may launch, wait and look at the same time."""

from __future__ import annotations

import sys
import threading

import pytest

from judge.devices.sim.events import Event
from tests.devices.sim.engine import make_access, make_machine, make_work


@pytest.fixture
def hurry():
    """Let threads take turns as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_nothing_is_lost_when_threads_launch_at_the_same_time(hurry):
    """Every launch is counted, on the clock and in the vectors, and no thread fails."""
    machine = make_machine()
    streams = [machine.streams.get() for _ in range(4)]
    failures: list[BaseException] = []

    def work(stream):
        try:
            machine.current = stream
            for number in range(300):
                machine.launch(make_work(3.0, occupancy=0.2), (), (make_access(stream.handle + number),))
                if number % 16 == 0:
                    event = Event()
                    machine.record(event)
                    machine.when_ordered(stream, lambda: None)
                    machine.query_event(event)
                if number % 64 == 0:
                    machine.synchronize_stream(stream, kind="item", call="Tensor.item")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == failures
    assert 1200 == machine.launches == len(machine.kernels)
    assert [300] * 4 == [stream.vector[stream.index] for stream in streams]
