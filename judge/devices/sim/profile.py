"""A device's constants: what it is, how fast it is, and what its runtime costs the host."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True)
class Device:
    """What ``torch.cuda.get_device_properties`` tells."""

    name: str
    compute_capability: tuple[int, int]
    total_bytes: int
    """Memory of the device."""
    context_bytes: int
    """Memory that the CUDA context holds before PyTorch asks for any."""
    multiprocessors: int
    sleep_cycles_per_us: float
    """Cycles of ``torch.cuda._sleep`` in a microsecond."""
    l2_bytes: int
    threads_per_multiprocessor: int
    threads_per_block: int
    registers_per_multiprocessor: int
    shared_bytes_per_block: int
    shared_bytes_per_block_optin: int
    shared_bytes_per_multiprocessor: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int


@dataclass(frozen=True)
class Host:
    """Host time of runtime calls, in microseconds."""

    launch_us: float
    """A kernel launch from an eager op, the op's own host work included."""
    view_us: float
    """An op that launches nothing."""
    current_stream_us: float
    """Asking for the current stream, as ``Event.record()`` does too."""
    set_stream_us: float
    """Entering or leaving a stream's context, less that."""
    event_create_us: float
    event_record_us: float
    stream_wait_us: float
    query_us: float
    device_synchronize_us: float
    """A wait for the device that has nothing to wait for…"""
    stream_synchronize_us: float
    """…one for a stream…"""
    event_synchronize_us: float
    """…and one for an event."""
    copy_us: float
    """Submitting a copy between host and device."""
    graph_launch_us: float
    """Replaying a graph, whatever its size up to some hundred nodes."""
    graph_node_us: float
    """What each further node adds to a replay's host time."""
    malloc_us: float
    """``cudaMalloc``."""
    pin_bytes_per_us: float
    """``cudaHostAlloc``, which pins page after page."""
    allocator_us: float
    """An allocation that the caching allocator serves from its pools."""


@dataclass(frozen=True)
class Engines:
    """Device time: peaks that dense library kernels reach, floors, latencies."""

    memory_bytes_per_us: float
    l2_bytes_per_us: float
    cached_bytes: int
    """Of an op's traffic, what goes at the cache's rate."""
    peak_flops_per_us: dict[str, float]
    """By class of the numbers: ``f64``, ``f32``, ``tf32``, ``f16``, ``i``."""
    launch_latency_us: float
    """From the launch call to the kernel's start on an idle stream."""
    tile_side: int
    """Rows and columns of a tile of a matrix product in full precision."""
    graph_gap_us: float
    """What a kernel takes more (or less, when negative) in a replayed graph than launched by itself."""
    queue_length: int
    """Launches that a stream holds before the host must wait."""
    elements_per_multiprocessor: int
    """Elements of an elementwise kernel that one multiprocessor holds at a time."""


@dataclass(frozen=True)
class Link:
    """The bus between host and device."""

    pinned_h2d_bytes_per_us: float
    pinned_d2h_bytes_per_us: float
    pageable_h2d_bytes_per_us: float
    pageable_d2h_bytes_per_us: float
    latency_us: float
    """Time of a copy of no size on the device."""
    pageable_latency_us: float
    """The same through the driver's staging buffer."""


@dataclass(frozen=True)
class Profile:
    """One device, as ``profiles/<key>.toml`` describes it."""

    key: str
    device: Device
    host: Host
    engines: Engines
    link: Link
    ops: dict[str, dict[str, Any]]
    """Constants of ops that the roofline alone does not describe, by op family."""


def list_profiles() -> list[str]:
    """Return the names of the profiles that ship, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@functools.cache
def load_profile(key: str = "h200") -> Profile:
    """Read a profile by its name.

    Raises:
        ValueError: there is no such profile, or one of its keys is missing or unknown.
    """
    path = FOLDER / f"{key}.toml"
    if not path.is_file():
        raise ValueError(f"no device profile named {key!r}; there are: {', '.join(list_profiles())}")
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    device = document["device"]
    device["compute_capability"] = tuple(device["compute_capability"])
    return Profile(
        key=key,
        device=_fill(Device, device, path),
        host=_fill(Host, document["host"], path),
        engines=_fill(Engines, document["engines"], path),
        link=_fill(Link, document["link"], path),
        ops=document.get("ops", {}),
    )


def _fill(kind: type[Any], table: dict[str, Any], path: Path) -> Any:  # noqa: ANN401  # any of the classes above
    wanted = {field.name for field in fields(kind)}
    if wanted != set(table):
        odd = ", ".join(sorted(wanted ^ set(table)))
        raise ValueError(f"{path.name}: [{kind.__name__.lower()}] is missing or does not know: {odd}")
    return kind(**table)
