"""Read PyTorch's configuration string of the allocator into settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from judge.devices.sim.allocator.settings import UNLIMITED, Settings
from judge.devices.sim.allocator.sizes import DIVISION_INTERVALS, MIB, is_power_of_two
from judge.devices.sim.allocator.tokens import Tokens

MAX_REGISTER_THREADS = 128

Reader = Callable[[Tokens, int, Settings], tuple[int, Settings]]
"""Takes the index of a value and the settings so far; returns the index of the value's last token, and settings."""


def parse_options(text: str, before: Settings | None = None) -> Settings:
    """Return the settings that a configuration string asks for.

    Options that it does not name keep their value from ``before``, but for ``max_split_size_mb``,
    ``garbage_collection_threshold`` and ``roundup_power2_divisions``, which fall back to their defaults.

    Args:
        text: for example ``max_split_size_mb:128,expandable_segments:True``.
        before: the settings in force; by default PyTorch's defaults.

    Raises:
        ValueError: an option is unknown or its value is not allowed; PyTorch's text.
        IndexError: a number has more than 64 bits; PyTorch's text.
        RuntimeError: the text is cut off inside an option; PyTorch's text.
        NotImplementedError: the option exists, and the simulated device does not have it.

    Source: c10/core/AllocatorConfig.cpp and c10/cuda/CUDAAllocatorConfig.cpp, torch 2.13.
    """
    base = before or Settings()
    settings = replace(
        base,
        text=text,
        max_split_bytes=UNLIMITED,
        collection_threshold=0.0,
        roundup_divisions=(0,) * DIVISION_INTERVALS,
    )
    tokens = Tokens(text)
    unknown = []
    at = 0
    while at < len(tokens):
        key = tokens[at]
        _ = tokens[at + 1]  # PyTorch skips one token here, whether it is a colon or not
        if key in _READERS:
            last, settings = _READERS[key](tokens, at + 2, settings)
        else:
            unknown.append(key)
            last = tokens.find_end(at + 2)
        at = last + 2  # past the value and the comma
    if unknown:
        raise ValueError(f"Unrecognized key '{unknown[0]}' in CUDA allocator config.")
    return settings


def _read_large_segment(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    megabytes = tokens.read_count(at)
    if megabytes <= 10:
        raise ValueError("CachingAllocator option large_segment_size_mb must be > 10 MB")
    size = _in_bytes(megabytes)
    return at, replace(settings, large_segment_bytes=size, max_non_split_rounding_bytes=size)


def _read_max_split(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    return at, replace(settings, max_split_bytes=_read_bounded(tokens, at, settings, "max_split_size_mb"))


def _read_max_rounding(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    size = _read_bounded(tokens, at, settings, "max_non_split_rounding_mb")
    return at, replace(settings, max_non_split_rounding_bytes=size)


def _read_bounded(tokens: Tokens, at: int, settings: Settings, key: str) -> int:
    megabytes = tokens.read_count(at)
    least = settings.large_segment_bytes // MIB
    if megabytes < least:
        raise ValueError(f"CachingAllocator option {key} too small, must be >= {least}")
    return _in_bytes(megabytes)


def _in_bytes(megabytes: int) -> int:
    return min(megabytes, UNLIMITED // MIB) * MIB


def _read_threshold(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    threshold = tokens.read_number(at)
    if not 0.0 < threshold < 1.0:
        raise ValueError("garbage_collect_threshold is invalid, set it in (0.0, 1.0)")
    return at, replace(settings, collection_threshold=threshold)


def _read_fraction(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    fraction = tokens.read_number(at)
    if not 0.0 <= fraction <= 1.0:
        raise ValueError(f"per_process_memory_fraction is invalid, set it in [0.0, 1.0], got {fraction:g}")
    return at, replace(settings, memory_fraction=fraction)


def _read_divisions(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    if tokens[at] != "[":
        steps = tokens.read_count(at)
        if not is_power_of_two(steps):
            raise ValueError("For roundups, the divisions has to be power of 2 ")
        return at, replace(settings, roundup_divisions=(steps,) * DIVISION_INTERVALS)
    divisions = list(settings.roundup_divisions)
    last_index = 0
    is_first = True
    at += 1
    while tokens[at] != "]":
        boundary = tokens[at]
        steps = tokens.read_count(at + 2)
        if steps != 0 and not is_power_of_two(steps):
            raise ValueError("For roundups, the divisions has to be power of 2 or 0 to disable roundup ")
        if boundary == ">":
            divisions[last_index + 1 :] = [steps] * (DIVISION_INTERVALS - last_index - 1)
        else:
            last_index = _interval_of(tokens.read_count(at))
            if is_first:
                divisions[:last_index] = [steps] * last_index
                is_first = False
            divisions[last_index] = steps
        at += 3
        if tokens[at] != "]":
            at += 1
    return at, replace(settings, roundup_divisions=tuple(divisions))


def _interval_of(boundary_mb: int) -> int:
    if not is_power_of_two(boundary_mb):
        raise ValueError("For roundups, the intervals have to be power of 2 ")
    return min(boundary_mb.bit_length() - 1, DIVISION_INTERVALS - 1)


def _read_threads(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    threads = tokens.read_count(at)
    if not is_power_of_two(threads):
        raise ValueError(f"Number of register threads has to be power of 2, got {threads}")
    if threads > MAX_REGISTER_THREADS:
        raise ValueError(
            f"Number of register threads should be less than or equal to {MAX_REGISTER_THREADS}, got {threads}"
        )
    return at, replace(settings, pinned_register_threads=threads)


def _read_reserve(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    if tokens.read_count(at) == 0:
        raise ValueError("Pinned reserve segment size has to be greater than 0")
    return at, settings


def _read_backend(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    if tokens[at] == "cudaMallocAsync":
        raise NotImplementedError("the simulated device has no backend cudaMallocAsync; use backend:native")
    if tokens[at] != "native":
        raise ValueError("Unknown allocator backend, options are native and cudaMallocAsync")
    return at, settings


def _switch(field: str) -> Reader:
    def read(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
        return at, replace(settings, **{field: tokens.read_switch(at)})  # type: ignore[arg-type]  # all are bool

    return read


def _size(field: str) -> Reader:
    def read(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
        return at, replace(settings, **{field: _in_bytes(tokens.read_count(at))})  # type: ignore[arg-type]  # all are int

    return read


def _ignored_switch(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
    """Check a switch that says how PyTorch works and changes nothing that can be seen."""
    tokens.read_switch(at)
    return at, settings


def _unsimulated(key: str) -> Reader:
    def read(tokens: Tokens, at: int, settings: Settings) -> tuple[int, Settings]:
        if tokens.read_switch(at):
            raise NotImplementedError(f"the simulated device does not have the option {key}")
        return at, settings

    return read


_READERS: dict[str, Reader] = {
    "large_segment_size_mb": _read_large_segment,
    "max_split_size_mb": _read_max_split,
    "max_non_split_rounding_mb": _read_max_rounding,
    "garbage_collection_threshold": _read_threshold,
    "roundup_power2_divisions": _read_divisions,
    "expandable_segments": _switch("is_expandable"),
    "per_process_memory_fraction": _read_fraction,
    "backend": _read_backend,
    "release_lock_on_cudamalloc": _switch("releases_lock"),
    "release_lock_on_hipmalloc": _switch("releases_lock"),
    "graph_capture_record_stream_reuse": _unsimulated("graph_capture_record_stream_reuse"),
    "throw_on_cudamalloc_oom": _unsimulated("throw_on_cudamalloc_oom"),
    "pinned_use_cuda_host_register": _switch("pinned_uses_host_register"),
    "pinned_use_hip_host_register": _switch("pinned_uses_host_register"),
    "pinned_num_register_threads": _read_threads,
    "pinned_reserve_segment_size_mb": _read_reserve,
    "pinned_use_background_threads": _ignored_switch,
    "pinned_free_catch_all": _ignored_switch,
    "pinned_max_round_threshold_mb": _size("pinned_max_round_bytes"),
    "pinned_max_cached_size_mb": _size("pinned_max_cached_bytes"),
}
