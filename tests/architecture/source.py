"""A module of the judge, parsed."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Module:
    """One Python file of the judge."""

    name: str
    """Dotted name, for example ``judge.catalog.packs``; a package's is the package's own."""
    path: Path
    tree: ast.Module

    def nodes_in_force(self) -> list[ast.AST]:
        """Return all nodes but those under ``if TYPE_CHECKING:``."""
        kept: list[ast.AST] = []
        todo: list[ast.AST] = [self.tree]
        while todo:
            node = todo.pop()
            kept.append(node)
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
                todo.extend(node.orelse)
            else:
                todo.extend(ast.iter_child_nodes(node))
        return kept

    def imports(self, *, with_typing: bool = True) -> frozenset[str]:
        """Return the dotted names of all imports, those inside functions and by literal name included."""
        nodes = list(ast.walk(self.tree)) if with_typing else self.nodes_in_force()
        names: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                source = self._resolve(node)
                names |= {f"{source}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
                names |= {
                    arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                }
        return frozenset(names)

    def _resolve(self, node: ast.ImportFrom) -> str:
        if node.level == 0:
            return node.module or ""
        package = self.name.split(".")
        if self.path.name != "__init__.py":
            package.pop()
        package = package[: len(package) - (node.level - 1)]
        return ".".join([*package, *([node.module] if node.module else [])])
