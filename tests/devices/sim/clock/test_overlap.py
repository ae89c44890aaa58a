"""What runs side by side, what one after the other, and when."""

from __future__ import annotations

import pytest

from judge.devices.sim.events import Event
from judge.devices.sim.machine import Machine
from tests.devices.sim.engine import LAUNCH_US, make_machine, make_work, settle


@pytest.fixture
def machine() -> Machine:
    """Return a fresh device."""
    return make_machine()


def test_work_of_one_stream_runs_in_order_without_overlap(machine):
    """The second kernel starts when the first has ended."""
    first = machine.launch(make_work(50.0), (), ())
    second = machine.launch(make_work(5.0, occupancy=0.1), (), ())
    settle(machine)
    assert first.end_us == second.start_us


def test_a_kernel_on_an_idle_stream_starts_after_the_launch_latency(machine):
    """The launch returns, and the latency later the kernel runs."""
    task = machine.launch(make_work(5.0), (), ())
    settle(machine)
    assert machine.clock.host_us + machine.profile.engines.launch_latency_us == task.start_us


def test_kernels_that_fill_the_device_take_turns(machine):
    """Two streams gain nothing from each other when each kernel needs every multiprocessor."""
    a, b = machine.streams.get(), machine.streams.get()
    first = machine.launch(make_work(50.0), (), (), stream=a)
    second = machine.launch(make_work(50.0), (), (), stream=b)
    settle(machine)
    assert first.end_us == second.start_us


def test_small_kernels_of_two_streams_run_side_by_side(machine):
    """Two halves of the device are one device."""
    a, b = machine.streams.get(), machine.streams.get()
    first = machine.launch(make_work(50.0, occupancy=0.5), (), (), stream=a)
    second = machine.launch(make_work(50.0, occupancy=0.5), (), (), stream=b)
    settle(machine)
    assert first.start_us + LAUNCH_US == second.start_us


def test_a_third_kernel_waits_until_there_is_room(machine):
    """The first of the others to end makes room."""
    streams = [machine.streams.get() for _ in range(3)]
    tasks = [
        machine.launch(make_work(duration, occupancy=0.5), (), (), stream=stream)
        for duration, stream in zip((90.0, 40.0, 10.0), streams, strict=True)
    ]
    settle(machine)
    assert tasks[1].end_us == tasks[2].start_us


def test_each_direction_of_copies_has_one_engine(machine):
    """Copies up take turns; a copy down runs beside them, and so does a kernel."""
    streams = [machine.streams.get() for _ in range(4)]
    works = [make_work(50.0, engine=engine) for engine in ("h2d", "h2d", "d2h", "sm")]
    up, next_up, down, kernel = (
        machine.launch(work, (), (), stream=stream) for work, stream in zip(works, streams, strict=True)
    )
    settle(machine)
    assert up.end_us == next_up.start_us
    assert down.start_us < up.end_us
    assert kernel.start_us < up.end_us


def test_of_two_kernels_that_wait_for_room_the_one_of_higher_priority_goes_first(machine):
    """Though it was launched later."""
    low, high = machine.streams.get(0), machine.streams.get(-1)
    machine.launch(make_work(100.0), (), (), stream=machine.streams.get(0))
    later = machine.launch(make_work(10.0), (), (), stream=low)
    sooner = machine.launch(make_work(10.0), (), (), stream=high)
    settle(machine)
    assert sooner.end_us == later.start_us


def test_work_launched_later_may_start_before_work_that_was_queued_earlier(machine):
    """A long queue on one stream does not keep another stream's kernel from the next gap."""
    a, b = machine.streams.get(), machine.streams.get()
    queue = [machine.launch(make_work(100.0), (), (), stream=a) for _ in range(10)]
    late = machine.launch(make_work(10.0), (), (), stream=b)
    settle(machine)
    assert late.start_us < queue[-1].start_us


def test_a_full_queue_makes_the_host_wait(machine):
    """The 1,025th launch returns when the first kernel has ended."""
    length = machine.profile.engines.queue_length
    tasks = [machine.launch(make_work(10_000.0), (), ()) for _ in range(length)]
    before_us = machine.clock.host_us
    machine.launch(make_work(10_000.0), (), ())
    assert length * LAUNCH_US == pytest.approx(before_us)
    assert tasks[0].end_us == machine.clock.host_us


def test_a_full_queue_holds_up_neither_other_streams_nor_events(machine):
    """As measured on the H200: 1,021 launches went through on one stream, and another stream had room."""
    for _ in range(machine.profile.engines.queue_length):
        machine.launch(make_work(10_000.0), (), ())
    before_us = machine.clock.host_us
    machine.launch(make_work(1.0), (), (), stream=machine.streams.get())
    machine.record(Event())
    assert machine.clock.host_us - before_us < 10.0


def test_a_run_of_kernels_gives_the_same_times_with_and_without_a_second_stream(machine):
    """The short way for a single stream and the general way agree."""
    lengths = [3.0, 1.5, 40.0, 2.0, 2.0, 7.25] * 20
    alone = [machine.launch(make_work(length), (), ()) for length in lengths]
    settle(machine)
    other = make_machine()
    idle = other.streams.get()
    other.launch(make_work(1e6, engine="d2h"), (), (), stream=idle, launch_us=0.0)
    beside = [other.launch(make_work(length), (), ()) for length in lengths]
    settle(other)
    assert [(task.start_us, task.end_us) for task in alone] == [(task.start_us, task.end_us) for task in beside]


def test_settling_early_and_often_changes_no_time(machine):
    """Asking is not acting: queries between launches leave every start as it is."""
    asked = make_machine()
    works = [make_work(length, occupancy=share) for length, share in ((30.0, 0.6), (20.0, 0.6), (5.0, 0.3))] * 8
    times = []
    for device in (machine, asked):
        streams = [device.streams.get() for _ in range(3)]
        tasks = []
        for number, work in enumerate(works):
            tasks.append(device.launch(work, (), (), stream=streams[number * 7 % 3]))
            if device is asked:
                device.clock.settle()
        settle(device)
        times.append([(task.start_us, task.end_us) for task in tasks])
    assert times[0] == times[1]


def test_a_kernel_that_still_runs_counts_though_another_stream_was_looked_at_in_between(machine):
    """Looking at one stream forgets nothing of the others."""
    a, b, c = (machine.streams.get() for _ in range(3))
    half = make_work(100.0, occupancy=0.5)
    first = machine.launch(half, (), (), stream=a)
    second = machine.launch(make_work(90.0, occupancy=0.5), (), (), stream=b)
    machine.launch(half, (), (), stream=a)
    machine.clock.advance(20.0)
    machine.clock.settle()
    machine.clock.settle()
    third = machine.launch(half, (), (), stream=c)
    settle(machine)
    assert min(first.end_us, second.end_us) == third.start_us
