"""Views, shapes and changes in place."""

from __future__ import annotations

import torch

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("views")


@TOPIC.snippet
def writes_through_views(device: str) -> object:
    """A change of a view is a change of its base."""
    base = torch.zeros(4, 4, device=device)
    base[1].add_(1)
    base.view(-1)[0] = 5
    base[:, 2] *= 3
    base.t()[3, 0] = 9
    base.diagonal().add_(0.5)
    return base


@TOPIC.snippet
def addresses_of_views(device: str) -> object:
    """Views share storage and know their offset."""
    base = torch.arange(12.0, device=device).view(3, 4)
    part = base[1:, 1:]
    return [
        part.data_ptr() - base.data_ptr(),
        part.untyped_storage().data_ptr() == base.untyped_storage().data_ptr(),
        part.storage_offset(),
        part.stride(),
        part._base is not None,
        part.is_contiguous(),
        part.contiguous().stride(),
        part.untyped_storage().nbytes(),
    ]


@TOPIC.snippet
def sliding_windows(device: str) -> object:
    """Windows by ``unfold`` and by ``as_strided``."""
    signal = torch.arange(10.0, device=device)
    windows = signal.unfold(0, 4, 2)
    overlapping = signal.as_strided((4, 3), (2, 1), 1)
    return windows, windows.mean(-1), overlapping.sum(0)


@TOPIC.snippet
def split_and_joined(device: str) -> object:
    """Chunks, splits, stacks and concatenations."""
    values = torch.arange(24, device=device).view(4, 6)
    query, key, value = values.chunk(3, dim=-1)
    left, right = values.split([1, 3])
    return [
        torch.cat([value, key, query], dim=1), torch.stack([query, key]), left, right,
        torch.vstack([left, right]), torch.hstack([query, key]), torch.unbind(values, 1), torch.tensor_split(values, 3),
    ]  # fmt: skip


@TOPIC.snippet
def heads_split_and_merged(device: str) -> object:
    """What einops calls ``b t (h d) -> b h t d`` and back."""
    hidden = torch.arange(2 * 3 * 8.0, device=device).view(2, 3, 8)
    heads = hidden.unflatten(-1, (2, 4)).transpose(1, 2)
    merged = heads.transpose(1, 2).flatten(2)
    return heads, heads.is_contiguous(), merged, torch.equal(merged, hidden)


@TOPIC.snippet
def patches_of_an_image(device: str) -> object:
    """What einops calls ``b c (h p) (w q) -> b (h w) (p q c)``."""
    image = torch.arange(2 * 3 * 4 * 4.0, device=device).view(2, 3, 4, 4)
    patches = image.reshape(2, 3, 2, 2, 2, 2).permute(0, 2, 4, 3, 5, 1).reshape(2, 4, 12)
    pooled = image.reshape(2, 3, 2, 2, 2, 2).amax(dim=(3, 5))
    return patches, pooled


@TOPIC.snippet
def expanded_and_repeated(device: str) -> object:
    """Broadcast views and real repetitions, as for grouped keys."""
    keys = torch.arange(8.0, device=device).view(1, 2, 4)
    grouped = keys[:, :, None, :].expand(1, 2, 3, 4).reshape(1, 6, 4)
    return [
        grouped, keys.repeat(2, 1, 2), keys.repeat_interleave(2, dim=1), keys.expand(3, -1, -1).stride(),
        torch.tile(keys, (1, 2, 1)), torch.broadcast_to(keys, (2, 2, 4)),
        torch.repeat_interleave(torch.arange(3, device=device), torch.tensor([2, 0, 3], device=device)),
    ]  # fmt: skip


@TOPIC.snippet
def squeezes_and_permutations(device: str) -> object:
    """Dimensions come, go and change places."""
    values = torch.arange(6, device=device).view(1, 2, 1, 3)
    return [
        values.squeeze(), values.squeeze(0).unsqueeze(-1), values.permute(3, 1, 0, 2), values.movedim(1, -1),
        values.flatten(1), values.swapaxes(1, 3), values.mT, values[None, ..., 0],
    ]  # fmt: skip


@TOPIC.snippet
def flips_and_rolls(device: str) -> object:
    """Order reversed, turned and rotated."""
    values = torch.arange(6.0, device=device).view(2, 3)
    return values.flip(0), values.flip((0, 1)), values.roll(1, 1), torch.rot90(values), values.fliplr()


@TOPIC.snippet
def arithmetic_in_place(device: str) -> object:
    """The underscored methods and the augmented operators."""
    values = torch.arange(1.0, 7.0, device=device).view(2, 3)
    alias = values
    values += 1
    values.mul_(2).sub_(torch.ones(3, device=device)).div_(4).clamp_(0.5, 3.0)
    values.addcmul_(values, values, value=0.1).sqrt_().neg_()
    values[0].zero_()
    return values, alias is values, values._version > 5


@TOPIC.snippet
def outputs_given(device: str) -> object:
    """``out=`` with tensors of the right and of no size."""
    left, right = torch.ones(2, 3, device=device), torch.arange(6.0, device=device).view(2, 3)
    target = torch.empty(2, 3, device=device)
    address = target.data_ptr()
    torch.add(left, right, out=target)
    empty = torch.empty(0, device=device)
    torch.cat([left, right], out=empty)
    torch.matmul(left, right.t(), out=(product := torch.empty(2, 2, device=device)))
    return target, target.data_ptr() == address, empty, product


@TOPIC.snippet
def overlapping_copies(device: str) -> object:
    """Parts of a tensor move within it."""
    values = torch.arange(8.0, device=device)
    values.copy_(values.flip(0))
    values[:4] = values[4:].clone()
    values[2:4], values[4:6] = values[4:6].clone(), values[2:4].clone()
    return values


@TOPIC.snippet
def resized(device: str) -> object:
    """Storage that grows, and ``set_`` to another."""
    values = torch.arange(4.0, device=device)
    values.resize_(2, 4)
    values[1] = 7
    other = torch.empty(0, device=device)
    other.set_(values.untyped_storage(), 2, (2, 2), (4, 1))
    return values[0], values[1], other


@TOPIC.snippet
def nothing_and_single_numbers(device: str) -> object:
    """Tensors without elements and without dimensions."""
    nothing = torch.empty(0, 3, device=device)
    number = torch.zeros((), device=device)
    number += 2
    return [
        nothing, nothing.sum(), nothing.sum(0), torch.cat([nothing, torch.ones(1, 3, device=device)]),
        number, number.item(), torch.ones(3, device=device)[:0].shape, nothing.t().shape, number.expand(3),
    ]  # fmt: skip
