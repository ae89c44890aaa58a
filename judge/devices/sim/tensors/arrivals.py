"""Bytes of a copy to pinned memory that the host is not to see yet. (torch)"""

from __future__ import annotations

import torch

from judge.devices.sim.tensors.raw import Layout

_copy = torch.ops.aten.copy_.default
_clone = torch.ops.aten.clone.default


class Arrival:
    """What a copy brings, held back until the host is ordered after it.

    Args:
        target: where in pinned memory; its memory stays mapped.
        brought: the bytes, of the same number of elements.
    """

    def __init__(self, target: Layout, brought: torch.Tensor) -> None:
        self._target = target
        self._held = brought

    def __call__(self) -> None:
        """Let the bytes appear, for good."""
        with torch._C._DisableTorchDispatch(), torch.inference_mode():
            _copy(self._target.view(), self._held)

    def swap(self) -> None:
        """Exchange the bytes that lie there with those held back: twice, and all is as before."""
        with torch._C._DisableTorchDispatch(), torch.inference_mode():
            target = self._target.view()
            before = _clone(target)
            _copy(target, self._held)
            self._held = before
