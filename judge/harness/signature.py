"""What the stub promises: its public names, read from the syntax tree, never by running it."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Binding(Enum):
    """How a function hangs in its class."""

    FUNCTION = "function"
    METHOD = "method"
    STATIC = "static"
    CLASS = "class"
    PROPERTY = "property"


@dataclass(frozen=True)
class Parameter:
    """One parameter that a caller may give."""

    name: str
    is_positional: bool
    is_keyword: bool
    has_default: bool


@dataclass(frozen=True)
class Promise:
    """A name of the stub."""

    owner: str
    """Class that it belongs to, or empty."""
    name: str
    text: str
    """The signature as the stub writes it."""
    is_class: bool = False
    is_async: bool = False
    may_generate: bool = False
    """Whether a generator will do."""
    binding: Binding = Binding.FUNCTION
    parameters: tuple[Parameter, ...] = ()
    takes_more: bool = False
    """``*args``"""
    takes_keywords: bool = False
    """``**kwargs``"""

    @property
    def path(self) -> str:
        """``Class.method`` or the bare name."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


def read_promises(stub: str) -> list[Promise]:
    """Return the stub's public functions, classes and methods, in the order in which it writes them."""
    promises: list[Promise] = []
    for node in ast.parse(stub).body:
        if isinstance(node, Function) and _is_public(node.name):
            promises.append(_function(node, "", stub))
        elif isinstance(node, ast.ClassDef) and _is_public(node.name):
            promises.append(Promise("", node.name, _header(node, stub), is_class=True))
            promises.extend(
                _function(inner, node.name, stub)
                for inner in node.body
                if isinstance(inner, Function) and (_is_public(inner.name) or _is_special(inner.name))
            )
    return promises


def _is_public(name: str) -> bool:
    return not name.startswith("_")


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _header(node: Function | ast.ClassDef, stub: str) -> str:
    """Return the signature exactly as written; one that spans lines is joined to one."""
    lines = stub.splitlines(keepends=True)[node.lineno - 1 :]
    depth, collected = 0, []
    for token in tokenize.generate_tokens(io.StringIO("".join(lines)).readline):
        if token.type == tokenize.OP and token.string in "([{":
            depth += 1
        elif token.type == tokenize.OP and token.string in ")]}":
            depth -= 1
        elif token.type == tokenize.OP and token.string == ":" and depth == 0:
            if token.start[0] == 1:
                return lines[0][: token.start[1]].strip()
            break
        collected.append(token)
    return _unparse(node)


def _unparse(node: Function | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}"


def _function(node: Function, owner: str, stub: str) -> Promise:
    binding = _binding(node, owner)
    parameters = list(_parameters(node.args))
    if binding in (Binding.METHOD, Binding.CLASS, Binding.PROPERTY):
        parameters = parameters[1:]
    return Promise(
        owner=owner,
        name=node.name,
        text=_header(node, stub),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        may_generate=_may_generate(node),
        binding=binding,
        parameters=tuple(parameters),
        takes_more=node.args.vararg is not None,
        takes_keywords=node.args.kwarg is not None,
    )


def _binding(node: Function, owner: str) -> Binding:
    names = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    if names & {"property", "cached_property"}:
        return Binding.PROPERTY
    if "staticmethod" in names:
        return Binding.STATIC
    if "classmethod" in names:
        return Binding.CLASS
    return Binding.METHOD if owner else Binding.FUNCTION


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    positional = arguments.posonlyargs + arguments.args
    first_default = len(positional) - len(arguments.defaults)
    for at, argument in enumerate(positional):
        is_keyword = at >= len(arguments.posonlyargs)
        yield Parameter(argument.arg, True, is_keyword, at >= first_default)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(argument.arg, False, True, default is not None)


_LAZY = ("Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator")


def _may_generate(node: Function) -> bool:
    """Whether the stub yields, or says that it returns something to iterate over."""
    if node.returns is not None and any(word in ast.unparse(node.returns) for word in _LAZY):
        return True
    if any("contextmanager" in ast.unparse(decorator) for decorator in node.decorator_list):
        return True
    return any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in ast.walk(node))
