"""Whatever is launched, the schedule keeps what the engines and streams promise."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from judge.devices.sim.events import Event
from tests.devices.sim.engine import make_machine, make_work, settle

STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["sm", "sm", "h2d", "d2h", "wait", "query"]),
        st.sampled_from([1.0, 10.0, 55.0]),
        st.sampled_from([0.1, 0.5, 1.0]),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_streams_keep_their_order_and_engines_their_limits(steps):
    """No task of a stream overlaps the one before; no engine does more than it can; waits are kept; nothing idles."""
    machine = make_machine()
    streams = [machine.streams.default, *(machine.streams.get(-level) for level in range(3))]
    after: list[tuple[object, list[object]]] = []
    for place, what, length, share in steps:
        stream = streams[place]
        if what == "wait":
            event = Event()
            machine.record(event, streams[(place + 1) % 4])
            machine.wait(stream, event)
        elif what == "query":
            machine.query_stream(stream)
        else:
            before = list(stream.frontier)
            work = make_work(length, engine=what, occupancy=share)
            after.append((machine.launch(work, (), (), stream=stream), before))
    settle(machine)
    for task, before in after:
        assert all(earlier.end_us <= task.start_us for earlier in before)
    tasks = list(machine.kernels)
    for engine in ("h2d", "d2h"):
        turns = sorted((task.start_us, task.end_us) for task in tasks if task.engine == engine)
        assert all(end <= start for (_, end), (start, _) in pairwise(turns))
    for task in tasks:
        running = [t for t in tasks if t.engine == "sm" and t.start_us <= task.start_us < t.end_us]
        assert sum(t.occupancy for t in running) <= 1.0 + 1e-6
    ends = {task.end_us for task in tasks}
    assert all(task.start_us in (task.ready_us, *ends) for task in tasks)
