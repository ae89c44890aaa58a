"""Choose what the code runs on: a real GPU where one answers, else the simulated one."""

from __future__ import annotations

import ctypes
import sys
from typing import Literal

from judge.errors import UsageError
from judge.locale import choose_language, pair
from judge.models.base import Text
from judge.models.conditions import DeviceChoice
from judge.models.problem import DeviceNeed, Problem

Requested = Literal["auto", "cpu", "cuda", "sim"]

DRIVER_LIBRARY = "libcuda.so.1"


def choose(problem: Problem, requested: Requested = "auto") -> DeviceChoice:
    """Return the device for a problem's tests, and why.

    The driver is asked only by ``cuInit`` and ``cuDeviceGetCount``; no context is created.

    Raises:
        UsageError: ``cuda`` was asked for and no CUDA device answers, or ``cpu`` for a problem that needs CUDA.
    """
    if problem.device is DeviceNeed.NONE:
        return DeviceChoice(kind="none", why=_text("no_device_code"))
    if requested == "cpu":
        if problem.device is DeviceNeed.CUDA:
            raise _complain("cpu_not_enough", number=problem.number)
        return DeviceChoice(kind="cpu", why=_text("cpu_asked"))
    return choose_for_script(requested)


def choose_for_script(requested: Literal["auto", "cuda", "sim"]) -> DeviceChoice:
    """Return the device for code that wants CUDA, and why.

    Raises:
        UsageError: ``cuda`` was asked for and no CUDA device answers.
    """
    if requested == "sim":
        return DeviceChoice(kind="sim", why=_text("sim_asked"))
    obstacle = find_obstacle()
    if obstacle is None:
        return DeviceChoice(kind="cuda", why=_text("cuda_asked" if requested == "cuda" else "cuda_found"))
    if requested == "cuda":
        raise _complain("cuda_missing", detail=obstacle)
    return DeviceChoice(kind="sim", why=_text("no_cuda", detail=obstacle))


def _complain(name: str, *, detail: Text | None = None, **values: object) -> UsageError:
    """Return an error whose remedy stands beside its text."""
    language = choose_language(sys.argv[1:])
    text = _text(name, detail=detail) if detail is not None else Text(**pair(f"devices.{name}", **values))
    return UsageError(text.in_language(language), remedy=_text(f"{name}_remedy").in_language(language))


def _text(name: str, *, detail: Text | None = None) -> Text:
    if detail is None:
        return Text(**pair(f"devices.{name}"))
    return Text(
        en=pair(f"devices.{name}", detail=detail.en)["en"],
        zh=pair(f"devices.{name}", detail=detail.zh)["zh"],
    )


def find_obstacle() -> Text | None:
    """Return what keeps CUDA from being used, or ``None`` when a device answers."""
    try:
        driver = ctypes.CDLL(DRIVER_LIBRARY)
    except OSError:
        return Text(**pair("devices.no_library", library=DRIVER_LIBRARY))
    code = driver.cuInit(0)
    if code != 0:
        return Text(**pair("devices.init_failed", code=code))
    count = ctypes.c_int(0)
    if driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return Text(**pair("devices.no_visible_device"))
    return None
