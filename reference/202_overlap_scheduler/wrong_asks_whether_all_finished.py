"""Each step asks the device whether everybody is finished, in Python: a second wait, and for the newest step.

Caught by: test_3_figures.py::test_one_wait_a_step
Caught by: test_2_steps.py::test_the_host_wakes_while_the_next_step_runs
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor


class Model(Protocol):
    """What decodes. Its methods queue work on the current stream, and never wait for it."""

    rows: int
    """How many requests it decodes at once."""

    def admit(self, row: int, request: object) -> None:
        """Put a request into a row, from the next step on; whatever was in the row is forgotten."""
        ...

    def step(self) -> tuple[Tensor, Tensor]:
        """Decode one token in every row.

        Returns:
            tokens, int64, and finished, bool, both of shape (rows,) and on the device: the same two tensors at each
            step, overwritten by the next. A finished row, and one that never had a request, yields tokens and flags
            that mean nothing.
        """
        ...


@dataclass(slots=True)
class Run:
    """A request in its row."""

    request: object
    is_finished: bool = False
    """As far as the host knows."""


@dataclass(slots=True)
class Flight:
    """Where one step's results land, and when."""

    tokens: Tensor
    finished: Tensor
    landed: torch.cuda.Event = field(default_factory=torch.cuda.Event)
    """Recorded behind both copies."""
    runs: list[Run | None] = field(default_factory=list)
    """Who sat in the rows when the step was queued; by the time its results land, others may sit there."""


def decode(model: Model, requests: Iterable[object], emit: Callable[[object, int], None]) -> None:
    """Decode all requests, each until it is finished, one step ahead of what the host has read.

    Args:
        model: decodes ``model.rows`` requests at once.
        requests: in the order in which they are admitted.
        emit: host work: called with each token of a request, the last one included, by steps and within a step by rows.

    Synchronises: once a step, for the step before the one that was queued last.
    """
    waiting = deque(requests)
    rows: list[Run | None] = [None] * model.rows
    # Two steps are in flight at most: a third one's copy may overwrite what the host has read by then.
    flights = deque(_pin(model.rows) for _ in range(2))
    is_first = True
    while True:
        for row in range(model.rows):
            if rows[row] is None and waiting:
                rows[row] = Run(waiting.popleft())
                model.admit(row, rows[row].request)
        if not any(rows):
            return  # what is still in flight is the step too many of the last requests
        behind, ahead = flights
        ahead.runs = list(rows)
        are_all_finished = _queue(model, ahead)
        if not is_first:
            _learn(behind, rows, emit)
        is_first = False
        if are_all_finished and not waiting:
            _learn(ahead, rows, emit)
            return
        flights.rotate()


def _pin(rows: int) -> Flight:
    return Flight(
        torch.empty(rows, dtype=torch.int64, pin_memory=True), torch.empty(rows, dtype=torch.bool, pin_memory=True)
    )


def _queue(model: Model, flight: Flight) -> bool:
    """Queue a step and the copies of its results, which the next step overwrites, on the same stream."""
    tokens, finished = model.step()
    flight.tokens.copy_(tokens, non_blocking=True)
    flight.finished.copy_(finished, non_blocking=True)
    flight.landed.record()
    return bool(finished.all())


def _learn(flight: Flight, rows: list[Run | None], emit: Callable[[object, int], None]) -> None:
    """Wait for a step's results, give out its tokens, and free the rows of finished requests."""
    flight.landed.synchronize()
    results = zip(flight.runs, flight.tokens.tolist(), flight.finished.tolist(), strict=True)
    for row, (run, token, is_finished) in enumerate(results):
        if run is None or run.is_finished:
            continue  # an empty row, or the one step too many
        emit(run.request, token)
        if is_finished:
            run.is_finished = True
            rows[row] = None
