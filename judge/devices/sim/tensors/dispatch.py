"""The mode through which every op of the process goes while the simulation is installed. (torch)"""

from __future__ import annotations

import torch
from torch._C import DispatchKey, _ForceDispatchKeyGuard, _pop_torch_dispatch_stack, _push_on_torch_dispatch_stack
from torch._C import _dispatch_tls_local_exclude_set as _exclude_set
from torch._C import _dispatch_tls_local_include_set as _include_set
from torch.utils import _python_dispatch

from judge.devices.sim.tensors import attention, dropout, foreign, indexing, resizing, scalars, sequences, transfers
from judge.devices.sim.tensors.execution import Execution
from judge.devices.sim.tensors.oprules import Op, Rule
from judge.devices.sim.tensors.values import Arguments, Keywords, Value

_CONJUGATE, _NEGATIVE = DispatchKey.Conjugate, DispatchKey.Negative
_NO_HANDLER = torch.Tensor.__torch_dispatch__
_FAKE, _find_mode = torch._C._TorchDispatchModeKey.FAKE, torch._C._get_dispatch_mode
_HANDLER_MODULES = (attention, dropout, indexing, resizing, scalars, sequences, transfers)
"""Imported for the handlers that they register."""


_Mode: Value = _python_dispatch.TorchDispatchMode


class SimulationMode(_Mode):  # type: ignore[misc]  # torch gives its base no types
    """Hands each op to its handler, or to the general rule.

    Args:
        execution: runs ops.
    """

    supports_higher_order_operators = True

    def __init__(self, execution: Execution) -> None:
        super().__init__()
        self._execution = execution
        self._known: dict[int, Rule] = {}
        """Rules by the op's identity: hashing an op takes longer."""
        self._context = execution.context

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keep torch from importing its compiler, two seconds long, at the first op."""
        return False

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Tell torch that user code need not know of this mode."""
        return True

    def _learn(self, op: Op) -> Rule:
        rule = self._known[id(op)] = self._execution.rules[op]
        return rule

    def __torch_dispatch__(
        self, func: Value, types: Value, args: Arguments = (), kwargs: Keywords | None = None
    ) -> Value:
        """Run one op; dispatch is off meanwhile."""
        if _find_mode(_FAKE) is not None:
            return func(*args, **(kwargs or {}))  # shapes only, nothing is to happen
        if types and any(kind.__torch_dispatch__ is not _NO_HANDLER for kind in types):
            return NotImplemented  # a subclass's own handler comes first; what it runs inside comes here
        rule = self._known.get(id(func)) or self._learn(func)
        backward = self._context.backward
        if backward is not None:
            backward.enter_step()
        if rule.handler is not None:
            return rule.handler(self._execution, rule, func, args, kwargs or {})
        if rule.is_composite or rule.is_foreign:
            _push_on_torch_dispatch_stack(self)
            views: Value = _ForceDispatchKeyGuard(_include_set(), _exclude_set().remove(_CONJUGATE).remove(_NEGATIVE))
            views.__enter__()  # what dispatch turned off above us must be on again: lazy conjugates
            try:
                if rule.is_foreign:
                    return foreign.run(self._execution, rule, func, args, kwargs or {})
                result = func.decompose(*args, **(kwargs or {}))  # only inference mode delivers these whole
                return self._execution.claim(rule, result, args, kwargs or {})
            finally:
                views.__exit__(None, None, None)
                _pop_torch_dispatch_stack(None)
        return self._execution.run(rule, func, args, kwargs or {})
