"""Where the host waits: once for each download, in its first read()."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support_forms import BF16, F32
from torch import Tensor

SIDE = 1 << 10
"""4 MiB of float32: small pageable copies to the device are taken in by the driver, and nobody waits for them."""

Form = Callable[[Tensor], Tensor]

UPLOADS: dict[str, tuple[Form, torch.dtype]] = {
    "pageable": (lambda x: x, F32),
    "pinned": (lambda x: x.pin_memory(), F32),
    "pinned_transposed": (lambda x: x.pin_memory().t(), F32),
    "pinned_columns": (lambda x: x.view(2, -1).repeat(1, 2).pin_memory()[:, : SIDE * SIDE // 2], F32),
    "pageable_narrowed": (lambda x: x, BF16),
    "pinned_widened": (lambda x: x.pin_memory(), torch.float64),
}

DOWNLOADS: dict[str, tuple[Form, torch.dtype]] = {
    "contiguous": (lambda x: x, F32),
    "narrowed": (lambda x: x, BF16),
    "transposed_widened": (lambda x: x.t(), torch.float64),
}

LOOK_UP = (
    "non_blocking=True keeps its word only from pinned memory, and only if the bytes cross in one run: source and "
    "target of the same dtype and strides, without gaps. Else PyTorch first makes a temporary, which is pageable.",
    "只有从锁页内存出发，而且字节能连成一片地过去，non_blocking=True 才算数：源与目标的 dtype、步长都相同，没有空隙。"
    "否则 PyTorch 会先做一个临时张量，而它是可换页的。",
)
LOOK_DOWN = (
    "Into pageable memory a copy holds the host, whatever is asked for; so does one into pinned memory of other "
    "strides. download() only queues.",
    "拷到可换页内存，不论怎么写都会占住主机；拷到步长不同的锁页内存也一样。download() 只负责入队。",
)


@pytest.mark.budget(syncs=0)
@pytest.mark.parametrize("form", list(UPLOADS))
def test_an_upload_never_waits(trial: Any, watch: Any, expect: Any, measure: Any, busy: Any, form: str) -> None:
    """The device is busy, and an upload of 4 MiB returns at once, wherever the bytes lie and whatever their strides.

    zh: 设备正忙，上传 4 MiB 立即返回，不论字节在哪种内存里、步长如何。
    """
    make, dtype = UPLOADS[form]
    source = make(trial.draw(SIDE, SIDE))
    trial.solution.upload(source, dtype)  # loads kernels, and sets pinned memory up
    with watch() as seen:
        busy(5)
        trial.upload(source, dtype)
    measure("syncs", len(seen.syncs), "", places=seen.places, look=LOOK_UP)
    expect.waits(seen, most=0, what=("upload() made the host wait", "upload() 让主机等待了"), look=LOOK_UP)
    trial.settle(seen)


@pytest.mark.budget(syncs=1)
@pytest.mark.parametrize("form", list(DOWNLOADS))
def test_a_download_waits_in_its_first_read(
    trial: Any, watch: Any, expect: Any, measure: Any, busy: Any, form: str
) -> None:
    """download() returns at once; of two reads the first waits, once.

    zh: download() 立即返回；读两次，只有第一次等，而且只等一次。
    """
    make, dtype = DOWNLOADS[form]
    there = make(trial.draw(SIDE, SIDE).to("cuda"))
    wanted = there.cpu().to(dtype).contiguous()
    trial.solution.download(there, dtype).read()
    with watch() as seen:
        busy(5)
        still = torch.cuda.current_stream().record_event()
        coming = trial.download(there, dtype)
        is_queued = not still.query()
        trial.read(coming, wanted)
        coming.read()
    what = ("download() made the host wait", "download() 让主机等待了")
    expect.true(is_queued, what, LOOK_DOWN)
    measure("syncs", len(seen.syncs), "", places=seen.places, look=LOOK_DOWN)
    expect.waits(seen, most=1, look=LOOK_DOWN)
    trial.settle(seen)


def test_a_read_does_not_wait_for_later_work(trial: Any, expect: Any, busy: Any) -> None:
    """Long work is queued after the download; a read returns before it has ended.

    zh: 下载之后又排入很长的工作；它还没结束，read() 就返回了。
    """
    source = trial.draw(64)
    there = source.to("cuda")
    for _ in range(2):  # the first turn loads kernels
        torch.cuda.synchronize()
        coming = trial.download(there, BF16)
        busy(50)
        still = torch.cuda.current_stream().record_event()
        trial.read(coming, source.to(BF16))
        is_busy = not still.query()
    trial.settle()
    expect.true(
        is_busy,
        ("read() waited for work that was queued after the download", "read() 等了下载之后才排入的工作"),
        (
            "A stream's or the device's synchronize() waits for all that is queued there by now. One copy can be "
            "waited for by an event that was recorded behind it.",
            "流或设备的 synchronize() 等的是那里此刻排着的全部工作。只等一次拷贝，要用在它之后记录的事件。",
        ),
    )
