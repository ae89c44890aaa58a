"""Which module an operation belongs to, and that a model is left as it was."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

LOOK_INNERMOST = (
    "An operation belongs to the innermost module whose forward runs. When that returns, the one around it goes on; "
    "and it ends by an exception, too.",
    "操作属于正在执行 forward 的最内层模块。它返回之后，外面那个继续执行；抛出异常也是一种结束。",
)
LOOK_OUTSIDE = (
    "Outside of every forward, in backward() as well, the key is OUTSIDE; the model itself is ''.",
    "在所有 forward 之外，backward() 里也是，键为 OUTSIDE；模型自己的键是 ''。",
)


class Scale(nn.Module):
    """Multiplies by a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        """Multiply."""
        return x * self.weight


class Block(nn.Module):
    """Works before, between and behind its two parts."""

    def __init__(self, may_fail: bool = False) -> None:
        super().__init__()
        self.first, self.second = Scale(), Scale()
        self.may_fail = may_fail

    def forward(self, x: Tensor) -> Tensor:
        """Add, scale, subtract, scale, take the exponential."""
        x = self.first(x + 1) - 2
        if self.may_fail:
            self.second(x[:, :3])
        return self.second(x).exp()


class Net(nn.Module):
    """Two blocks, and a sine of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x: Tensor) -> Tensor:
        """Run the blocks one behind the other."""
        for block in self.blocks:
            x = block(x)
        return x.sin()


BLOCK = {"": 3, ".first": 1, ".second": 1}
NET = {"": 1, **{f"blocks.{number}{part}": count for number in (0, 1) for part, count in BLOCK.items()}}


def test_an_operation_belongs_to_the_innermost_module(desk: Any, device: str, draw: Any) -> None:
    """by_module has the names of named_modules(), each with the operations of its own forward.

    zh: by_module 的键就是 named_modules() 的名字，各自只含自己 forward 里的操作。
    """
    net = Net().to(device)
    x = draw(2, 4)
    with desk.open(net) as counter:
        net(x * 0)
    found = desk.read_all(counter.by_module, "by_module")
    what = ("Operations are in the wrong module", "操作记到了别的模块")
    desk.expect.equal(found, {**NET, desk.solution.OUTSIDE: 1}, what, LOOK_INNERMOST)
    desk.record()


def test_backward_is_outside(desk: Any, device: str, draw: Any) -> None:
    """The backward pass, and all else outside of forward, is OUTSIDE.

    zh: 反向传播，以及 forward 之外的其他一切，都记在 OUTSIDE。
    """
    net = Scale().to(device)
    x = draw(2, 4)
    with desk.open(net) as counter:
        net(x).sum().backward()
    found = desk.read_all(counter.by_module, "by_module")
    outside = sum(desk.read_all(counter.by_op, "by_op").values()) - 1
    what = ("Operations are in the wrong module", "操作记到了别的模块")
    desk.expect.equal(found, {"": 1, desk.solution.OUTSIDE: outside}, what, LOOK_OUTSIDE)
    desk.expect.true(outside >= 4, ("The backward pass was not counted", "没有数到反向传播"), LOOK_OUTSIDE)
    desk.record()


def test_without_a_model_all_is_outside(desk: Any, device: str, draw: Any) -> None:
    """A counter without a model does not tell modules apart.

    zh: 没有给模型的计数器不区分模块。
    """
    net = Net().to(device)
    x = draw(2, 4)
    counter = desk.count(lambda: net(x))
    found = desk.read_all(counter.by_module, "by_module")
    wanted = {desk.solution.OUTSIDE: sum(NET.values())}
    desk.expect.equal(found, wanted, ("Operations are in the wrong module", "操作记到了别的模块"), LOOK_OUTSIDE)
    desk.record()


def test_a_module_that_raises_has_ended(desk: Any, device: str, draw: Any) -> None:
    """A forward raises, the caller catches that inside the block, and what follows belongs where it runs.

    zh: forward 抛出异常，调用者在块内接住，之后的操作仍记在它执行的地方。
    """
    net = Block(may_fail=True).to(device)
    x = draw(2, 4)
    with desk.open(net) as counter:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="must match"):
                net(x)
        x + 1
        net.may_fail = False
        net(x)
    found = desk.read_all(counter.by_module, "by_module")
    wanted = {"": 2 * 2 + 3, "first": 3, "second": 1, desk.solution.OUTSIDE: 1}
    what = ("Operations behind an exception are in the wrong module", "异常之后的操作记到了别的模块")
    desk.expect.equal(found, wanted, what, LOOK_INNERMOST)
    desk.record()


@pytest.mark.parametrize("ending", ["normal", "exception"])
def test_the_model_is_left_as_it_was(desk: Any, device: str, draw: Any, ending: str) -> None:
    """After the block no hook is left on any module, and the model's work is counted no more.

    zh: 块结束之后，任何模块上都没有残留的 hook，模型的工作也不再计数。
    """
    net = Net().to(device)
    kept = net.blocks[0].register_forward_hook(lambda *_: None)
    before = [_list_hooks(module) for module in net.modules()]
    counter = desk.open(net)
    if ending == "normal":
        with counter:
            net(draw(2, 4))
    else:
        with pytest.raises(RuntimeError, match="must match"), counter:
            net(draw(2, 3))
    what = ("Hooks are left on the model", "模型上残留了 hook")
    look = (
        "What __enter__ puts on a module, __exit__ takes off, and only that.",
        "__enter__ 装上的，__exit__ 要拆掉，而且只拆这些。",
    )
    desk.expect.equal([_list_hooks(module) for module in net.modules()], before, what, look)
    kernels = desk.read(counter.total, "total")["kernels"]
    net(draw(2, 4))
    desk.expect.equal(desk.read(counter.total, "total")["kernels"], kernels, ("It still counts", "它还在计数"))
    kept.remove()
    desk.record()


def _list_hooks(module: nn.Module) -> list[int]:
    return [len(module._forward_pre_hooks), len(module._forward_hooks), len(module._forward_hooks_always_called)]
