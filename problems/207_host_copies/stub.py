"""Problem 207: host copies. Fill in every ``# TODO``; the rules stand in the statement."""

from __future__ import annotations

import torch
from torch import Tensor


def upload(source: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a contiguous tensor on the device with the source's shape and values, in another dtype or the same.

    Args:
        source: on the host, of any shape, dtype and strides; pinned or pageable. It is only read. A pageable one is the
            caller's again after the call; a pinned one stays as it is until the current stream has passed the copy.
        dtype: of the result.

    Synchronises: never.
    """
    # TODO: from which host memory does a copy not hold the host, and what about strides?
    # TODO: on which side is the dtype changed, and on which are the strides made straight?
    raise NotImplementedError


class Download:
    """A tensor on its way to the host. Only :func:`download` makes one."""

    # TODO: what must be known to read it later? Its __init__ takes what you like.

    def read(self) -> Tensor:
        """Return the tensor: contiguous, on the host, in the dtype that was asked for. It is the caller's to keep.

        Each call returns the same tensor.

        Synchronises: once, at the first call, for this tensor only.
        """
        # TODO: from when on may the host read what was copied? What is left to do then?
        raise NotImplementedError


def download(source: Tensor, dtype: torch.dtype) -> Download:
    """Queue the copy of a tensor to the host, on the current stream.

    Args:
        source: on the device, of any shape, dtype and strides. It is only read. After the call it is the caller's
            again, who may overwrite it on the same stream, or drop it.
        dtype: of the result.

    Synchronises: never.
    """
    # TODO: what crosses the link, and where does it land?
    raise NotImplementedError
