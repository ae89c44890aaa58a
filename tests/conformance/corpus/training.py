"""Optimizers, schedules, mixed precision and what surrounds a training step."""

from __future__ import annotations

import copy
import itertools
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("training")


def make_problem(device: str) -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """Return a small model with inputs and classes."""
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).to(device)
    return model, torch.randn(8, 4).to(device), torch.tensor([0, 1, 2, 0, 1, 2, 0, 1], device=device)


def train(device: str, make_optimizer: object, steps: int = 4) -> object:
    """Take steps, and return the losses and a weight."""
    model, x, y = make_problem(device)
    optimizer, losses = make_optimizer(model.parameters()), []
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses), losses[-1].item() < losses[0].item(), model[0].weight.detach()


@TOPIC.snippet
def sgd(device: str) -> object:
    """Plain and with momentum, decay and Nesterov's step."""
    return [
        train(device, lambda p: torch.optim.SGD(p, lr=0.1)),
        train(device, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True)),
    ]


@TOPIC.snippet
def adam(device: str) -> object:
    """Adam and AdamW as they come."""
    return [
        train(device, lambda p: torch.optim.Adam(p, lr=0.01)),
        train(device, lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True)),
    ]


@TOPIC.snippet
def adam_with_foreach(device: str) -> object:
    """One call for all parameters, and one for each."""
    kinds = [partial(torch.optim.AdamW, lr=0.01, foreach=is_foreach) for is_foreach in (True, False)]
    return [train(device, kind) for kind in kinds]


@TOPIC.snippet
def fused_optimizers(device: str) -> object:
    """One kernel for the whole step."""
    return [
        train(device, lambda p: torch.optim.AdamW(p, lr=0.01, fused=True)),
        train(device, lambda p: torch.optim.SGD(p, lr=0.1, fused=True)),
    ]


@TOPIC.snippet
def other_optimizers(device: str) -> object:
    """RMSprop, Adagrad, Adamax, NAdam, Lion's like by hand."""
    kinds = (torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.Adamax, torch.optim.NAdam, torch.optim.RAdam)
    return [train(device, lambda p, kind=kind: kind(p, lr=0.01), steps=3) for kind in kinds]


@TOPIC.snippet
def lbfgs(device: str) -> object:
    """An optimizer that asks for the loss again."""
    x = torch.tensor([2.0, -1.0], device=device, requires_grad=True)
    optimizer = torch.optim.LBFGS([x], max_iter=10)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (x - torch.tensor([1.0, 1.0], device=device)).square().sum()
        loss.backward()
        return loss

    return optimizer.step(closure).detach(), x.detach()


@TOPIC.snippet
def parameter_groups(device: str) -> object:
    """Decay for matrices only, and a rate of their own for some."""
    model, x, y = make_problem(device)
    decayed = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.1}, {"params": plain, "lr": 1e-3}], lr=1e-2, weight_decay=0
    )
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    return [p.detach() for p in model.parameters()], [len(group["params"]) for group in optimizer.param_groups]


@TOPIC.snippet
def schedules(device: str) -> object:
    """Warm-up, cosine and plateau."""
    model, x, y = make_problem(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=3)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5)
    schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, cosine], milestones=[3])
    rates = []
    for _ in range(6):
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        rates.append(schedule.get_last_lr()[0])
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    for loss in (1.0, 1.0, 1.0):
        plateau.step(torch.tensor(loss, device=device))
    return rates, optimizer.param_groups[0]["lr"]


@TOPIC.snippet
def clipped_gradients(device: str) -> object:
    """Clipping by norm, of all parameters together, and by value."""
    model, x, y = make_problem(device)
    (F.cross_entropy(model(x), y) * 100).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    after = nn.utils.get_total_norm([p.grad for p in model.parameters()])
    nn.utils.clip_grad_value_(model.parameters(), 0.05)
    return norm, after, model[0].weight.grad, max(p.grad.abs().max().item() for p in model.parameters())


@TOPIC.snippet
def accumulated_gradients(device: str) -> object:
    """Four small batches give the gradient of one large batch."""
    model, x, y = make_problem(device)
    other = copy.deepcopy(model)
    for part, target in zip(x.chunk(4), y.chunk(4), strict=True):
        (F.cross_entropy(model(part), target) / 4).backward()
    F.cross_entropy(other(x), y).backward()
    return [p.grad for p in model.parameters()], [p.grad for p in other.parameters()]


@TOPIC.snippet
def autocast_to_bfloat16(device: str) -> object:
    """Products in 16 bits, weights and gradients in 32."""
    model, x, y = make_problem(device)
    with torch.autocast(device, dtype=torch.bfloat16):
        output = model(x)
        is_on = torch.is_autocast_enabled(device)
        with torch.autocast(device, enabled=False):
            inner = model(x)
    F.cross_entropy(output.float(), y).backward()
    return output.detach(), inner.detach(), model[0].weight.grad, is_on, torch.is_autocast_enabled(device)


@TOPIC.snippet(expected=lambda: [True, True, True, True, True, True])
def what_autocast_changes(device: str) -> object:
    """CUDA's lists: products go to 16 bits, sums and norms to 32, the rest follows its operands."""
    x, half = torch.ones(4, 4, device=device), torch.ones(4, 4, device=device, dtype=torch.float16)
    with torch.autocast("cuda"):
        return [
            (x @ x).dtype == torch.float16, half.softmax(-1).dtype == torch.float32, (x + half).dtype == torch.float32,
            F.linear(x, x).dtype == torch.float16, half.exp().dtype == torch.float32,
            half.relu().dtype == torch.float16,
        ]  # fmt: skip


@TOPIC.snippet(expected=lambda: ([65536.0, 65536.0, 32768.0], [True, True, False], True))
def gradient_scaler(device: str) -> object:
    """Scaled losses; a step with an overflow is left out, and the scale falls."""
    model, x, y = make_problem(device)
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cuda")
    scales, moved = [], []
    for step in range(3):
        before = model[0].weight.detach().clone()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y) * (float("inf") if step == 2 else 1.0)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        scales.append(scaler.get_scale())
        moved.append(not torch.equal(before, model[0].weight))
    return scales, moved, scaler.state_dict()["scale"] == 32768.0


@TOPIC.snippet
def averaged_weights(device: str) -> object:
    """An exponential moving average by hand and by ``swa_utils``."""
    model, x, y = make_problem(device)
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    mine = [p.detach().clone() for p in model.parameters()]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for step in range(3):
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        average.update_parameters(model)
        if step:
            torch._foreach_lerp_(mine, [p.detach() for p in model.parameters()], 0.1)
        else:
            torch._foreach_copy_(mine, [p.detach() for p in model.parameters()])
    return [p.detach() for p in average.module.parameters()], mine


@TOPIC.snippet
def optimizer_resumed(device: str) -> object:
    """An optimizer that is saved and loaded goes on as the first."""
    model, x, y = make_problem(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    twin = copy.deepcopy(model)
    again = torch.optim.Adam(twin.parameters(), lr=0.01)
    again.load_state_dict(optimizer.state_dict())
    optimizer.step()
    for mine, other in zip(twin.parameters(), model.parameters(), strict=True):
        mine.grad = other.grad.clone()
    again.step()
    state = again.state[next(twin.parameters())]
    return model[0].weight.detach(), twin[0].weight.detach(), state["exp_avg"], state["step"].item()


@TOPIC.snippet
def frozen_layers(device: str) -> object:
    """Layers without gradients, and weights that two layers share."""
    embedding, head = nn.Embedding(5, 4).to(device), nn.Linear(4, 5, bias=False).to(device)
    head.weight = embedding.weight
    body = nn.Linear(4, 4).to(device).requires_grad_(False)
    F.cross_entropy(
        head(body(embedding(torch.tensor([1, 2], device=device)))), torch.tensor([2, 3], device=device)
    ).backward()
    return embedding.weight.grad, body.weight.grad is None, head.weight is embedding.weight


@TOPIC.snippet
def parametrised_weights(device: str) -> object:
    """Weight norm, pruning and parameters as one vector."""
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2).to(device))
    layer(torch.ones(1, 3, device=device)).sum().backward()
    vector = nn.utils.parameters_to_vector(layer.parameters())
    nn.utils.vector_to_parameters(vector * 2, layer.parameters())
    return vector.detach(), layer.weight.detach(), layer.parametrizations.weight.original0.grad


@TOPIC.snippet
def loop_with_logging(device: str) -> object:
    """A whole loop: batches of a data set, running mean, best loss, early end."""
    model, x, y = make_problem(device)
    data = torch.utils.data.TensorDataset(x.cpu(), y.cpu())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    best, epochs, running = float("inf"), [], torch.zeros((), device=device)
    for _ in range(4):
        for inputs, targets in torch.utils.data.DataLoader(data, batch_size=3):
            loss = F.cross_entropy(model(inputs.to(device)), targets.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += (loss.detach() - running) * 0.1
        accuracy = (model(x).argmax(-1) == y).float().mean().item()
        if running.item() > best:
            break
        best = running.item()
        epochs.append(accuracy)
    return epochs, running


@TOPIC.snippet
def policy_gradient(device: str) -> object:
    """Returns, advantages and the clipped objective of PPO."""
    rewards, values = torch.linspace(-1, 1, 6, device=device), torch.zeros(7, device=device)
    advantages, last = torch.zeros(6, device=device), 0.0
    for t in reversed(range(6)):
        last = rewards[t] + 0.9 * values[t + 1] - values[t] + 0.9 * 0.95 * last
        advantages[t] = last
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    logp = torch.zeros(6, device=device, requires_grad=True)
    ratio = (logp - torch.linspace(-0.5, 0.5, 6, device=device)).exp()
    loss = -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    loss.backward()
    return advantages, loss.detach(), logp.grad, list(itertools.accumulate([1, 2]))
