"""Reading and writing by index, mask and place."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("indexing")


@TOPIC.snippet
def rows_and_columns(device: str) -> object:
    """Basic and advanced indices in one expression."""
    values = torch.arange(24, device=device).view(2, 3, 4)
    rows = torch.tensor([0, 2, 2], device=device)
    return [
        values[1], values[:, -1], values[..., ::2], values[:, rows], values[:, rows, 1:3], values[0, rows, rows],
        values[:, [0, 2]], values[1, None, 2], values[torch.tensor([1, 0])], values.select(1, 1),
        values.narrow(2, 1, 2),
    ]  # fmt: skip


@TOPIC.snippet
def written_by_index(device: str) -> object:
    """Assignments through lists of indices, added up where they repeat."""
    values = torch.zeros(6, device=device)
    places = torch.tensor([1, 4], device=device)
    values[places] = torch.tensor([1.0, 2.0], device=device)
    values[[0, 5]] = 9
    values.index_put_((torch.tensor([3, 3], device=device),), torch.tensor(0.5, device=device), accumulate=True)
    values.index_add_(0, places, torch.tensor([10.0, 20.0], device=device))
    values.index_fill_(0, torch.tensor([2], device=device), -1)
    return values, values.index_select(0, places), values.index_copy(0, places, torch.zeros(2, device=device))


@TOPIC.snippet
def masks(device: str) -> object:
    """Elements chosen, filled and counted by a mask."""
    values = torch.arange(6.0, device=device).view(2, 3)
    mask = values > 2
    scattered = torch.zeros(2, 3, device=device).masked_scatter_(mask, torch.tensor([7.0, 8.0, 9.0], device=device))
    written = values.clone()
    written[mask] = 0
    written[~mask] += 10
    return values[mask], values.masked_fill(mask, float("-inf")), mask.sum(), scattered, written, mask.nonzero()


@TOPIC.snippet
def where(device: str) -> object:
    """Choices between two sources, and places of what holds."""
    values = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], device=device)
    (places,) = torch.where(values > 0)
    return torch.where(values > 0, values, 0.0), torch.where(values > 0, 1, -1), places, values.clamp(min=0).nonzero()


@TOPIC.snippet
def gathered(device: str) -> object:
    """Values picked along a dimension, as log-probabilities of tokens are."""
    torch.manual_seed(1)
    scores = torch.randn(2, 3, 5).to(device)
    tokens = torch.tensor([[0, 4, 2], [1, 1, 3]], device=device)
    picked = scores.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    return picked, picked.sum(-1), torch.take_along_dim(scores, tokens[..., None], -1), scores.take(tokens)


@TOPIC.snippet
def scattered(device: str) -> object:
    """Values put, added and reduced along a dimension."""
    source = torch.arange(1.0, 7.0, device=device).view(2, 3)
    places = torch.tensor([[0, 1, 1], [3, 3, 0]], device=device)
    zeros = torch.zeros(2, 4, device=device)
    return [
        zeros.scatter(1, torch.tensor([[2], [0]], device=device), 1.0),
        zeros.scatter_add(1, places, source),
        zeros.scatter_reduce(1, places, source, "amax", include_self=False),
        zeros.scatter_reduce(1, places, source, "mean"),
        zeros.scatter(1, torch.tensor([[2], [0]], device=device), source[:, :1]),
    ]


@TOPIC.snippet
def one_hot_and_back(device: str) -> object:
    """Classes as rows of zeros and a one."""
    classes = torch.tensor([2, 0, 1], device=device)
    rows = F.one_hot(classes, 4)
    return rows, rows.argmax(-1), rows.bool().any(0), F.one_hot(classes).sum()


@TOPIC.snippet
def unique_values(device: str) -> object:
    """Distinct values with places and counts."""
    values = torch.tensor([3, 1, 3, 2, 1, 1], device=device)
    return [
        torch.unique(values),
        torch.unique(values, return_inverse=True, return_counts=True),
        torch.unique_consecutive(values, return_counts=True),
        torch.unique(values.view(3, 2), dim=0),
        torch.bincount(values, minlength=5),
        torch.isin(values, torch.tensor([1, 2], device=device)),
    ]


@TOPIC.snippet
def loop_over_nonzero(device: str) -> object:
    """Places of a mask that the host walks along."""
    grid = torch.tensor([[0, 1, 0], [2, 0, 3]], device=device)
    total = 0
    for row, column in grid.nonzero().tolist():
        total += int(grid[row, column]) * (row + 1)
    return total, grid.count_nonzero(), [value.item() for value in grid.flatten()], len(grid.nonzero(as_tuple=True))


@TOPIC.snippet
def sorted_values(device: str) -> object:
    """Sorts, ranks and order statistics."""
    values = torch.tensor([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]], device=device)
    ordered, places = values.sort(descending=True)
    return [
        ordered, places, values.argsort(stable=True), values.kthvalue(2), values.median(), values.median(dim=1),
        torch.topk(values, 2, largest=False), values.max(dim=0), values.min(), values.argmax(), torch.msort(values),
        values.quantile(0.5, dim=1), values.cummax(1), values.aminmax(),
    ]  # fmt: skip


@TOPIC.snippet
def searched(device: str) -> object:
    """Places in sorted borders, and histograms."""
    borders = torch.tensor([0.0, 1.0, 2.0, 4.0], device=device)
    values = torch.tensor([0.5, 2.0, 3.9, 9.0, -1.0], device=device)
    return [
        torch.searchsorted(borders, values), torch.bucketize(values, borders, right=True),
        torch.histc(values, bins=4, min=0, max=4),
    ]  # fmt: skip


@TOPIC.snippet
def lookup_table(device: str) -> object:
    """Rows of a table, by a flat and by a nested list of ids."""
    table = torch.arange(20.0, device=device).view(5, 4)
    ids = torch.tensor([[1, 4], [0, 0]], device=device)
    bags = F.embedding_bag(ids.flatten(), table, torch.tensor([0, 3], device=device), mode="sum")
    return F.embedding(ids, table), table[ids].sum(1), bags


@TOPIC.snippet
def padded_batch(device: str) -> object:
    """Sequences of unlike length in one tensor, with mask and lengths."""
    sequences = [torch.arange(1, n + 1, device=device) for n in (3, 1, 4)]
    batch = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True, padding_value=-1)
    lengths = torch.tensor([len(s) for s in sequences], device=device)
    mask = torch.arange(batch.size(1), device=device) < lengths[:, None]
    last = batch.gather(1, (lengths - 1)[:, None]).squeeze(1)
    mean = (batch * mask).sum(1) / lengths
    return batch, mask, last, mean, [row[keep].tolist() for row, keep in zip(batch, mask, strict=True)]


@TOPIC.snippet
def index_out_of_range_is_an_error(device: str) -> object:
    """A place that is not there, in plain indices."""
    values = torch.arange(3, device=device)
    errors = []
    for attempt in (lambda: values[5], lambda: values[[0]][1], lambda: values.select(0, 4)):
        try:
            attempt()
        except IndexError as error:
            errors.append("out of bounds" in str(error) or "out of range" in str(error))
    return errors, values
