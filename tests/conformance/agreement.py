"""The table of agreement in docs/fidelity.md, made from the result files.

Run as ``python -m tests.conformance.agreement``, this puts it into the pages of both languages.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = ("simulated-torch-2.13.json", "h200-torch-2.11.json")
BEGIN, END = "<!-- agreement: made by `python -m tests.conformance.agreement` -->\n", "<!-- end -->"
PLACE = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


class Group(NamedTuple):
    """What a folder of the suite holds, in words."""

    name: str
    en: str
    zh: str


class Language(NamedTuple):
    """The words of one page."""

    page: str
    language: str
    head: str
    count: str
    skipped: str
    missing: str
    total: str


LANGUAGES = (
    Language("fidelity.md", "en", "| what is compared |", "{} of {}", " (+{} not run)", "not run", "**all**"),
    Language("fidelity.zh-CN.md", "zh", "| 比较什么 |", "{} / {}", "（另有 {} 项未运行）", "未运行", "**合计**"),
)
GROUPS = (
    Group(
        "sync_table",
        "host waits: sync debug mode, blocked host, our own counter",
        "主机等待：同步调试模式、主机是否被阻塞、我们的计数",
    ),
    Group(
        "edges",
        "errors and outputs at the edges of captures, graphs, events, memory",
        "捕获、图、事件与显存边界上的错误和输出",
    ),
    Group(
        "edges_streams",
        "API of streams, events and the device",
        "流、事件与设备的 API",
    ),
    Group(
        "runtime_facts",
        "order of streams, pinned copies, pools of graphs",
        "流之间的次序、锁页拷贝、图的内存池",
    ),
    Group(
        "allocator_torch",
        "allocator through torch: traces of up to 400 events, OOM text",
        "通过 torch 使用分配器：每段至多 400 个事件，以及 OOM 文本",
    ),
    Group(
        "allocator",
        "allocator alone: the same traces, and its rules",
        "单独的分配器：同样的记录，以及它的规则",
    ),
    Group(
        "reports",
        "20 public reports: the fault shows, the mended form is silent",
        "20 个公开报告：错误重现，修正后安静",
    ),
    Group(
        "corpus",
        "ordinary code: values, dtypes and devices as on the CPU",
        "普通代码：数值、dtype 与设备同 CPU 一致",
    ),
    Group(
        "costs",
        "time of an operation within 35 %",
        "操作耗时相差不超过 35 %",
    ),
)


def read_results() -> list[dict[str, Any] | None]:
    """Return the result of each run, ``None`` for one that is yet to be made."""
    paths = [DOCS / "fidelity" / name for name in RESULTS]
    return [json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None for path in paths]


def build_table(results: list[dict[str, Any] | None], words: Language) -> str:
    """Return the table as Markdown."""
    heads = [describe_run(result, words) for result in results]
    lines = [f"{words.head} {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for group in GROUPS:
        counts = [_count(result, [group.name], words) for result in results]
        lines.append(f"| {group.zh if words.language == 'zh' else group.en} | {' | '.join(counts)} |")
    names = [group.name for group in GROUPS]
    lines.append(f"| {words.total} | {' | '.join(_count(result, names, words) for result in results)} |")
    return "\n".join(lines) + "\n"


def describe_run(result: dict[str, Any] | None, words: Language) -> str:
    """Return the head of a run's column."""
    if result is None:
        return words.missing
    return f"{result['device']['name']}, torch {result['torch']}, {result['date']}"


def _count(result: dict[str, Any] | None, names: list[str], words: Language) -> str:
    groups = [result["groups"][name] for name in names if name in result["groups"]] if result else []
    rows = sum(group["rows"] - len(group["skipped"]) for group in groups)
    if not rows:
        return "–"
    left_out = sum(len(group["skipped"]) for group in groups)
    text = words.count.format(sum(group["agree"] for group in groups), rows)
    return text + (words.skipped.format(left_out) if left_out else "")


def write_pages() -> None:
    """Put the table into the pages."""
    results = read_results()
    for words in LANGUAGES:
        page = DOCS / words.page
        text = page.read_text(encoding="utf-8")
        table = BEGIN + build_table(results, words) + END
        page.write_text(PLACE.sub(lambda _, table=table: table, text), encoding="utf-8")


if __name__ == "__main__":
    write_pages()
