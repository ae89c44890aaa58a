"""Compares what a snippet gives with what it gives on the host, torch as it is."""

from __future__ import annotations

from collections.abc import Mapping

import torch

HALF = (torch.float16, torch.bfloat16)


class Comparison:
    """Compares two structures of tensors and plain values.

    Args:
        device: where all tensors must be.
        is_exact: whether values must be as close as PyTorch's own defaults for the dtype; a real GPU adds up in
            another order.
        is_random: whether tensors are compared by shape and dtype only.
    """

    def __init__(self, device: torch.device, *, is_exact: bool, is_random: bool = False) -> None:
        self._device = device
        self._is_exact = is_exact
        self._is_random = is_random

    def check(self, expected: object, actual: object, place: str = "result") -> None:
        """Compare.

        Raises:
            AssertionError: they differ, or a tensor is not on the device; the message says where.
        """
        if isinstance(expected, torch.Tensor):
            self._check_tensor(expected, actual, place)
        elif isinstance(expected, Mapping):
            assert isinstance(actual, Mapping), f"{place}: {type(actual)}"
            assert list(expected) == list(actual), place
            for key, value in expected.items():
                self.check(value, actual[key], f"{place}[{key!r}]")
        elif isinstance(expected, list | tuple) and not isinstance(expected, torch.Size):
            assert type(expected) is type(actual), f"{place}: {type(actual)}"
            assert len(expected) == len(actual), place
            for index, pair in enumerate(zip(expected, actual, strict=True)):
                self.check(*pair, f"{place}[{index}]")
        else:
            self._check_value(expected, actual, place)

    def _check_tensor(self, expected: torch.Tensor, actual: object, place: str) -> None:
        assert isinstance(actual, torch.Tensor), f"{place}: {type(actual)}"
        assert self._device == actual.device, f"{place}: on {actual.device}"
        assert actual.is_cuda == (self._device.type == "cuda"), place
        assert expected.dtype == actual.dtype, f"{place}: {actual.dtype} instead of {expected.dtype}"
        assert expected.shape == actual.shape, f"{place}: {actual.shape} instead of {expected.shape}"
        if self._is_random:
            return
        tolerances = _find_rounding(expected) if self._is_exact else _find_tolerances(expected.dtype)
        torch.testing.assert_close(actual.cpu(), expected, equal_nan=True, msg=lambda m: f"{place}: {m}", **tolerances)

    def _check_value(self, expected: object, actual: object, place: str) -> None:
        assert type(expected) is type(actual), f"{place}: {type(actual)} instead of {type(expected)}"
        if isinstance(expected, float):
            tolerance = 1e-6 if self._is_exact else 1e-4
            is_equal = expected == actual or abs(expected - actual) <= tolerance * max(1.0, abs(expected))
            assert is_equal, f"{place}: {actual} instead of {expected}"
        else:
            assert expected == actual, place


def _find_rounding(expected: torch.Tensor) -> dict[str, float]:
    """Half types may differ by one rounding of the largest number: products round once, as tensor cores do."""
    if expected.dtype not in HALF or not expected.numel():
        return {}
    largest = expected.float().nan_to_num(0.0, 0.0, 0.0).abs().max().item()
    return {
        "rtol": 1.6e-2 if expected.dtype is torch.bfloat16 else 1e-3,
        "atol": torch.finfo(expected.dtype).eps * largest,
    }


def _find_tolerances(dtype: torch.dtype) -> dict[str, float]:
    if dtype in HALF:
        return {"rtol": 2e-2, "atol": 2e-2}
    if dtype in (torch.float32, torch.complex64):
        return {"rtol": 1e-4, "atol": 1e-4}
    return {"rtol": 1e-7, "atol": 1e-7} if dtype.is_floating_point or dtype.is_complex else {"rtol": 0, "atol": 0}
