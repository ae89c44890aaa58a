"""A graph in the DOT language, as ``cudaGraphDebugDotPrint`` writes it."""

from __future__ import annotations

from collections.abc import Sequence

from judge.devices.sim.graphs.nodes import Node


def draw_graph(nodes: Sequence[Node]) -> str:
    """Return a drawing of some nodes and of what they wait for, in the order of their capture."""
    lines = ["digraph dot {"]
    for at, node in enumerate(nodes):
        name = node.work.name if node.work is not None else f"event {node.kind}"
        lines.append(
            f'"node_{at}" [shape="octagon" label="{at}\\n{name}\\n{_quote(node.site.file)}:{node.site.line}"];'
        )
    lines += [f'"node_{before}" -> "node_{at}";' for at, node in enumerate(nodes) for before in node.dependencies]
    return "\n".join([*lines, "}"]) + "\n"


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
