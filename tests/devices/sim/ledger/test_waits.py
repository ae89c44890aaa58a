"""Every wait of the host is written down, and sync debug mode speaks before it."""

from __future__ import annotations

import warnings

import pytest

from judge.devices.sim.events import Event
from judge.devices.sim.ledger import ERROR, SYNC_TEXT, WARN
from judge.devices.sim.machine import Machine
from tests.devices.sim.engine import make_machine, make_work


@pytest.fixture
def machine() -> Machine:
    """Return a fresh device."""
    return make_machine()


def test_a_wait_is_entered_with_kind_call_line_stream_and_time(machine):
    """All that a report needs."""
    task = machine.launch(make_work(100.0), (), ())
    before_us = machine.clock.host_us
    machine.synchronize_stream(machine.streams.default, kind="item", call="Tensor.item")
    (wait,) = machine.ledger.waits
    assert ("item", "Tensor.item", "default", True) == (wait.kind, wait.call, wait.stream, wait.is_seen_by_debug_mode)
    assert (__file__, before_us) == (wait.site.file, wait.at_us)
    assert task.end_us - before_us == wait.waited_us


def test_a_wait_for_work_that_is_done_costs_the_call_alone(machine):
    """As measured: 7.2 microseconds."""
    machine.synchronize_device()
    assert machine.profile.host.device_synchronize_us == machine.clock.host_us
    assert 0.0 == machine.ledger.waits[0].waited_us


def test_debug_mode_warn_warns_at_the_users_line(machine):
    """With PyTorch's text."""
    machine.ledger.debug_mode = WARN
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine.synchronize_stream(machine.streams.default, kind="item", call="Tensor.item")
    assert [(SYNC_TEXT, UserWarning, __file__)] == [(str(w.message), w.category, w.filename) for w in caught]


def test_debug_mode_error_raises_before_the_effect(machine):
    """No time passes and nothing is entered."""
    machine.launch(make_work(100.0), (), ())
    before_us = machine.clock.host_us
    machine.ledger.debug_mode = ERROR
    with pytest.raises(RuntimeError, match=r"^called a synchronizing CUDA operation$"):
        machine.synchronize_stream(machine.streams.default, kind="item", call="Tensor.item")
    assert (before_us, []) == (machine.clock.host_us, machine.ledger.waits)


def test_debug_mode_does_not_see_device_and_event_waits(machine):
    """They are entered all the same."""
    machine.ledger.debug_mode = ERROR
    event = Event()
    machine.record(event)
    machine.synchronize_event(event)
    machine.synchronize_device()
    assert ["event_synchronize", "device_synchronize"] == [wait.kind for wait in machine.ledger.waits]
    assert [False, False] == [wait.is_seen_by_debug_mode for wait in machine.ledger.waits]


def test_a_wait_that_is_not_counted_takes_time_and_leaves_no_entry(machine):
    """For waits that are the simulation's own."""
    machine.launch(make_work(100.0), (), ())
    machine.synchronize_stream(machine.streams.default, kind="own", call="own", is_counted=False)
    assert [] == machine.ledger.waits
    assert machine.clock.host_us > 100.0
