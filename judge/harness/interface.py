"""The solution's names and signatures against the stub's, before any test runs."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judge.harness.diagnostic import Text, diagnostic, text
from judge.harness.show import show
from judge.harness.signature import Binding, Parameter, Promise, read_promises

MOST_SLIPS = 12
MISSING = object()


@dataclass(frozen=True)
class Slip:
    """One name that is not as the stub promises."""

    what: Text
    expected: str
    actual: str
    line: int = 0


def check_interface(names: Mapping[str, Any], stub: str, shown_path: str) -> dict[str, Any] | None:
    """Return one diagnostic for all slips, the first one in full, or ``None`` when there is none."""
    slips = list(_slips(names, read_promises(stub)))
    if not slips:
        return None
    first = slips[0]
    more = len(slips) - 1
    what = first.what
    picture = None
    if more:
        tail = text("interface_more", count=more)
        what = {language: words + tail[language] for language, words in what.items()}
        picture = "\n".join(f"{slip.expected}\n    {slip.actual}" for slip in slips[:MOST_SLIPS])
    frames = [{"file": shown_path, "line": first.line, "function": "", "code": ""}] if first.line else []
    return diagnostic(
        "interface",
        what,
        expected=first.expected,
        actual=first.actual,
        look=text("look_interface"),
        picture=picture,
        frames=frames,
        is_cut=len(slips) > MOST_SLIPS,
    )


def _slips(names: Mapping[str, Any], promises: list[Promise]) -> Iterator[Slip]:
    unusable: set[str] = set()
    for promise in promises:
        if promise.owner in unusable:
            continue
        holder = names.get(promise.owner) if promise.owner else None
        slip = _check(promise, holder, names)
        if slip is not None:
            if promise.is_class:
                unusable.add(promise.name)
            yield slip


def _check(promise: Promise, holder: object, names: Mapping[str, Any]) -> Slip | None:
    try:
        value = names.get(promise.name, MISSING) if holder is None else _attribute(holder, promise)
        if value is MISSING:
            known = names if holder is None else dir(holder)
            return _missing(promise, known)
        return _check_class(promise, value) if promise.is_class else _check_function(promise, value, holder)
    except Exception:
        return None  # an object that does not let itself be looked at: the tests will show what it does


def _attribute(holder: object, promise: Promise) -> object:
    """Return the class's attribute; what ``object`` gives every class is nobody's own method."""
    found = inspect.getattr_static(holder, promise.name, MISSING)
    if found is not vars(object).get(promise.name):
        return found
    if promise.name == "__init__" and (not promise.parameters or holder.__new__ is not object.__new__):
        return found
    return MISSING


def _missing(promise: Promise, known: Iterable[str]) -> Slip:
    candidates = [name for name in known if not name.startswith("_")]
    lowered = {name.lower(): name for name in candidates}
    near = difflib.get_close_matches(promise.name.lower(), lowered, n=1, cutoff=0.6)
    actual = text("nothing")["en"]
    if near:
        found = lowered[near[0]]
        what = text("interface_missing_near", name=promise.path, found=found)
        return Slip(what, promise.text, found)
    return Slip(text("interface_missing", name=promise.path), promise.text, actual)


def _check_class(promise: Promise, value: object) -> Slip | None:
    if isinstance(value, type):
        return None
    what = text("interface_no_class", name=promise.path, found=_sort_of(value))
    return Slip(what, promise.text, _written(promise.name, value), _line_of(value))


def _check_function(promise: Promise, value: object, holder: object) -> Slip | None:
    if promise.binding is Binding.PROPERTY:
        if inspect.isfunction(value):
            what = text("interface_no_property", name=promise.path)
            return Slip(what, promise.text, _written(promise.name, value), _line_of(value))
        return None
    is_static = isinstance(value, staticmethod)
    called = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    if isinstance(called, type) or not (callable(called) or hasattr(type(called), "__get__")):
        what = text("interface_no_function", name=promise.path, found=_sort_of(called))
        return Slip(what, promise.text, _written(promise.name, called), _line_of(called))
    if not callable(called):
        return None
    reason = _kind_slip(promise, called)
    if reason is None:
        has_self = holder is not None and not is_static and inspect.isroutine(called)
        reason = _signature_slip(promise, called, has_self=has_self)
    if reason is None:
        return None
    return Slip(reason, promise.text, _written(promise.name, called), _line_of(called))


def _kind_slip(promise: Promise, called: object) -> Text | None:
    is_async = inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)
    if is_async and not promise.is_async:
        return text("interface_async", name=promise.path)
    if promise.is_async and inspect.isfunction(called) and not is_async and not hasattr(called, "__wrapped__"):
        return text("interface_no_async", name=promise.path)
    if inspect.isgeneratorfunction(called) and not promise.may_generate:
        return text("interface_generator", name=promise.path)
    return None


def _signature_slip(promise: Promise, called: Callable[..., object], *, has_self: bool) -> Text | None:
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return None
    actual = list(signature.parameters.values())
    kinds = inspect.Parameter
    takes_more = any(parameter.kind is kinds.VAR_POSITIONAL for parameter in actual)
    takes_keywords = any(parameter.kind is kinds.VAR_KEYWORD for parameter in actual)
    positional = [p for p in actual if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    if has_self:
        if not positional and not takes_more:
            return text("interface_no_self", name=promise.path)
        positional = positional[1:]
    keyword_only = [p for p in actual if p.kind is kinds.KEYWORD_ONLY]
    shape = _Shape(positional, keyword_only, takes_more, takes_keywords)
    return shape.compare(promise)


@dataclass(frozen=True)
class _Shape:
    """Parameters of the learner's function, without ``self``."""

    positional: list[inspect.Parameter]
    keyword_only: list[inspect.Parameter]
    takes_more: bool
    takes_keywords: bool

    def compare(self, promise: Promise) -> Text | None:
        """Return the first way in which a call that the stub allows would fail."""
        wanted = [parameter for parameter in promise.parameters if parameter.is_positional]
        names = [parameter.name for parameter in self.positional[: len(wanted)]]
        if sorted(names) == sorted(p.name for p in wanted) and names != [p.name for p in wanted]:
            return text("interface_order", name=promise.path)
        for at, parameter in enumerate(wanted):
            slip = self._compare_positional(promise, parameter, at)
            if slip is not None:
                return slip
        return self._compare_keywords(promise) or self._compare_rest(promise, len(wanted))

    def _compare_positional(self, promise: Promise, parameter: Parameter, at: int) -> Text | None:
        if at >= len(self.positional):
            if self.takes_more:
                return None
            return text("interface_too_few", name=promise.path, parameter=parameter.name)
        own = self.positional[at]
        has_name = own.name == parameter.name and own.kind is not inspect.Parameter.POSITIONAL_ONLY
        if parameter.is_keyword and not has_name:
            return text("interface_name", name=promise.path, parameter=parameter.name, found=own.name)
        return self._compare_default(promise, parameter, own)

    def _compare_keywords(self, promise: Promise) -> Text | None:
        own = {parameter.name: parameter for parameter in (*self.positional, *self.keyword_only)}
        for parameter in promise.parameters:
            if parameter.is_positional:
                continue
            if parameter.name not in own:
                if self.takes_keywords:
                    continue
                return text("interface_too_few", name=promise.path, parameter=parameter.name)
            slip = self._compare_default(promise, parameter, own[parameter.name])
            if slip is not None:
                return slip
        return None

    def _compare_default(self, promise: Promise, parameter: Parameter, own: inspect.Parameter) -> Text | None:
        if parameter.has_default and own.default is inspect.Parameter.empty:
            return text("interface_default", name=promise.path, parameter=parameter.name)
        return None

    def _compare_rest(self, promise: Promise, wanted: int) -> Text | None:
        known = {parameter.name for parameter in promise.parameters}
        for own in (*self.positional[wanted:], *self.keyword_only):
            if own.default is inspect.Parameter.empty and own.name not in known:
                return text("interface_too_many", name=promise.path, parameter=own.name)
        if promise.takes_more and not self.takes_more:
            return text("interface_too_few", name=promise.path, parameter="*args")
        if promise.takes_keywords and not self.takes_keywords:
            return text("interface_too_few", name=promise.path, parameter="**kwargs")
        return None


def _sort_of(value: object) -> str:
    if isinstance(value, type):
        return "class"
    return "function" if inspect.isroutine(value) else type(value).__name__


def _written(name: str, value: object) -> str:
    """Return the learner's own signature, as far as it is known."""
    if isinstance(value, type):
        return f"class {name}"
    if not callable(value):
        return f"{name} = {show(value, 200)}"
    word = "async def" if inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value) else "def"
    try:
        return f"{word} {name}{inspect.signature(value)}"
    except Exception:
        return f"{word} {name}(…)"


def _line_of(value: object) -> int:
    return getattr(getattr(value, "__code__", None), "co_firstlineno", 0)
