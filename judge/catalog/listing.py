"""The rows of ``list`` and of shell completion, from a cache. Standard library only until it is stale.

The cache is one file of the user's. It is never trusted: rows count only together with the
fingerprint of every file that they were read from, and only where no problem is broken.
"""

from __future__ import annotations

import binascii
import contextlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from judge.catalog import fingerprint
from judge.catalog.places import Pack, find_packs
from judge.errors import BrokenProblem

CACHE_VERSION = 2


@dataclass(frozen=True)
class Row:
    """One problem, as a list shows it."""

    number: int
    slug: str
    title: Mapping[str, str]
    """``en`` and ``zh``."""
    topic: str
    difficulty: int
    device: str
    """``none``, ``any`` or ``cuda``."""

    @property
    def name(self) -> str:
        """Folder name, for example ``101_caching_allocator``."""
        return f"{self.number}_{self.slug}"


@dataclass(frozen=True)
class Listing:
    """All problems, by number, and what is wrong with others."""

    rows: tuple[Row, ...]
    faults: tuple[BrokenProblem, ...] = ()


def read_rows(extra: Sequence[Path] = ()) -> Listing:
    """Return the rows of all packs, from the cache when no file has changed.

    Args:
        extra: pack folders beside the repository's own.

    Raises:
        UsageError: a folder of ``extra`` holds no ``problems/``.
    """
    packs = find_packs(extra)
    # Taken before the problems are read: a file that changes meanwhile makes the cache stale, not wrong.
    now_ns = time.time_ns()
    files = fingerprint.take(packs)
    cache = _cache_file(packs)
    if files is not None:
        rows = _read(cache, files.state)
        if rows is not None:
            return Listing(rows)
    listing = _build(extra)
    if files is not None and files.is_settled(now_ns) and not listing.faults:
        _write(cache, files.state, listing.rows)
    return listing


def _build(extra: Sequence[Path]) -> Listing:
    # pydantic costs more than all the rest of `list`; a warm cache does without it.
    from judge.catalog.packs import discover

    catalog = discover(extra)
    rows = (
        Row(
            number=problem.number,
            slug=problem.slug,
            title={"en": problem.title.en, "zh": problem.title.zh},
            topic=problem.topic,
            difficulty=problem.difficulty,
            device=problem.device.value,
        )
        for problem in catalog.problems
    )
    return Listing(tuple(rows), catalog.faults)


def _cache_file(packs: Sequence[Pack]) -> Path:
    roots = "\0".join(str(pack.root) for pack in packs)
    # Packs that share a file by chance take turns in it: the fingerprint names them.
    key = binascii.crc32(roots.encode("utf-8", "surrogateescape"))
    return _cache_folder() / f"listing-{key:08x}.json"


def _cache_folder() -> Path:
    chosen = os.environ.get("TACIT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    # 15 ms, wanted only here.
    from platformdirs import user_cache_path

    return user_cache_path("tacit")


def _read(cache: Path, state: str) -> tuple[Row, ...] | None:
    """Return the cached rows, or ``None`` where they are stale, damaged or not there."""
    try:
        content = json.loads(cache.read_bytes())
        if content["version"] != CACHE_VERSION or content["state"] != state:
            return None
        rows = tuple(Row(**row) for row in content["rows"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return rows if all(map(_is_sound, rows)) else None


def _is_sound(row: Row) -> bool:
    texts = (row.slug, row.topic, row.device)
    return (
        all(type(text) is str for text in texts)
        and all(type(number) is int for number in (row.number, row.difficulty))
        and isinstance(row.title, dict)
        and row.title.keys() == {"en", "zh"}
        and all(type(text) is str for text in row.title.values())
    )


def _write(cache: Path, state: str, rows: Sequence[Row]) -> None:
    """Exchange the cache file in one step; a folder that can't be written means no cache, and nothing else."""
    content = {"version": CACHE_VERSION, "state": state, "rows": [asdict(row) for row in rows]}
    temporary = cache.with_name(f"{cache.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_text(json.dumps(content), encoding="ascii")
            temporary.replace(cache)
        finally:
            temporary.unlink(missing_ok=True)
