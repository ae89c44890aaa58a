"""Every message exists in both languages, with the same placeholders, and is used."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

import pytest

from tests.architecture.source import Module

SPEAKERS = ("say", "pair")

Messages = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def messages(root: Path) -> Messages:
    """Return all messages by their full key, ``domain.name``."""
    return {
        f"{path.stem}.{name}": message
        for path in sorted((root / "judge" / "locale").glob("*.toml"))
        for name, message in tomllib.loads(path.read_text(encoding="utf-8")).items()
    }


def placeholders(text: str) -> set[str]:
    """Return the names between braces."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def spoken(tree: ast.AST) -> list[ast.Call]:
    """Return the calls of ``say`` and ``pair``, and of methods of that name that are given a whole key."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and node.args
        and (_function(node) in SPEAKERS or (_method(node) in SPEAKERS and "." in ast.unparse(node.args[0])))
    ]


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _function(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def literals(node: ast.expr) -> list[str]:
    """Return the strings that an expression can be: a constant, or either arm of a condition."""
    if isinstance(node, ast.IfExp):
        return literals(node.body) + literals(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


@dataclass(frozen=True)
class Speaker:
    """A function such as ``_text(name)`` that says ``domain.{name}``."""

    layer: str
    function: str
    position: int
    prefix: str
    suffix: str

    def keys_of(self, call: ast.Call) -> list[str]:
        """Return the keys that a call names literally, none when it calls something else."""
        called = _method(call) or _function(call)
        if called != self.function or call in spoken(call) or len(call.args) <= self.position:
            return []
        return [f"{self.prefix}{name}{self.suffix}" for name in literals(call.args[self.position])]


def layer_of(module: Module) -> str:
    """Return the layer that a module belongs to."""
    return module.name.split(".")[1] if "." in module.name else ""


def find_speakers(modules: tuple[Module, ...]) -> set[Speaker]:
    """Return the functions that pass one of their arguments on as part of a key."""
    return {
        speaker
        for module in modules
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef) and function.name != "__init__"
        for call in spoken(function)
        if (speaker := _as_speaker(layer_of(module), function, call.args[0]))
    }


def _as_speaker(layer: str, function: ast.FunctionDef, key: ast.expr) -> Speaker | None:
    names = [argument.arg for argument in function.args.args if argument.arg != "self"]
    if not isinstance(key, ast.JoinedStr):
        return None
    holes = [part.value for part in key.values if isinstance(part, ast.FormattedValue)]
    if len(holes) != 1 or not isinstance(holes[0], ast.Name) or holes[0].id not in names:
        return None
    prefix, _, suffix = "".join(
        str(part.value) if isinstance(part, ast.Constant) else "\0" for part in key.values
    ).partition("\0")
    return Speaker(layer, function.name, names.index(holes[0].id), prefix, suffix)


class Makings:
    """The strings of the source, and those that its f-strings and sums can make of them."""

    def __init__(self, modules: tuple[Module, ...]) -> None:
        nodes = [node for module in modules for node in ast.walk(module.tree)]
        self.constants = {
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        self.constants |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        self.patterns = {parts for node in nodes if any(parts := self._split(node))}
        self._known: dict[tuple[str, int], bool] = {}

    @staticmethod
    def _split(node: ast.AST) -> tuple[str, ...]:
        """Return the fixed parts of an f-string or a sum, with an empty text for each part that varies."""
        parts: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        elif isinstance(node, ast.JoinedStr):
            parts = node.values
        return tuple(
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "" for part in parts
        )

    def can_make(self, text: str, depth: int = 3) -> bool:
        """Return whether a text stands in the code, or is put together from texts that do."""
        if text in self.constants:
            return True
        if (text, depth) not in self._known:
            self._known[text, depth] = depth > 0 and any(
                self._fits(parts, text, depth) for parts in self.patterns if all(part in text for part in parts)
            )
        return self._known[text, depth]

    def _fits(self, parts: tuple[str, ...], text: str, depth: int) -> bool:
        if not parts:
            return not text
        head, *rest = parts
        if head:
            return text.startswith(head) and self._fits(tuple(rest), text[len(head) :], depth)
        cuts = range(1, len(text) + 1) if rest else (len(text),)
        return any(self.can_make(text[:cut], depth - 1) and self._fits(tuple(rest), text[cut:], depth) for cut in cuts)


def test_every_message_has_both_languages(messages: Messages) -> None:
    """A message is an ``en`` and a ``zh`` that are not empty, and at most an ``en_one`` for one of what it counts."""
    broken = [
        key
        for key, message in messages.items()
        if set(message) - {"en_one"} != {"en", "zh"}
        or not all(isinstance(text, str) and text.strip() for text in message.values())
    ]
    assert [] == broken


def test_both_languages_have_the_same_placeholders(messages: Messages) -> None:
    """What is filled in in English is filled in in Chinese, by name."""
    unequal = [key for key, message in messages.items() if placeholders(message["en"]) != placeholders(message["zh"])]
    assert [] == unequal
    uncounted = [
        key
        for key, message in messages.items()
        if "en_one" in message
        and (
            "count" not in placeholders(message["en"])
            or not placeholders(message["en_one"]) <= placeholders(message["en"])
        )
    ]
    assert [] == uncounted
    unnamed = [key for key, message in messages.items() if not all(placeholders(message["en"]))]
    assert [] == unnamed


def test_every_used_key_exists(messages: Messages, modules: tuple[Module, ...]) -> None:
    """No message is asked for that no catalogue holds, neither directly nor through a function of the layer."""
    speakers = find_speakers(modules)
    used = {(module.name, key) for module in modules for call in spoken(module.tree) for key in literals(call.args[0])}
    used |= {
        (module.name, key)
        for module in modules
        for speaker in speakers
        if speaker.layer == layer_of(module)
        for call in ast.walk(module.tree)
        if isinstance(call, ast.Call)
        for key in speaker.keys_of(call)
    }
    assert set() == {(module, key) for module, key in used if key not in messages}


def test_every_key_is_used(messages: Messages, modules: tuple[Module, ...]) -> None:
    """No catalogue holds a message that nothing says."""
    makings = Makings(modules)
    unused = [key for key in messages if not makings.can_make(key)]
    assert [] == unused


def test_every_placeholder_is_given(messages: Messages, modules: tuple[Module, ...]) -> None:
    """A call that names its message gives exactly the values that the message has places for."""
    wrong = []
    for module in modules:
        for call in spoken(module.tree):
            given = {keyword.arg for keyword in call.keywords} - {"language"}
            # A method may add values of its own.
            if None in given or _method(call):
                continue
            for key in literals(call.args[0]):
                if key in messages and placeholders(messages[key]["en"]) != given:
                    wrong.append(f"{module.name}:{call.lineno}: {key}")
    assert [] == wrong
