"""Autograd and the functional transforms."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("gradients")


@TOPIC.snippet
def backward(device: str) -> object:
    """Gradients of leaves, added up over two passes."""
    x = torch.arange(1.0, 7.0, device=device).view(2, 3).requires_grad_()
    w = torch.ones(3, device=device, requires_grad=True)
    for _ in range(2):
        ((x * w).sin() @ w).sum().backward()
    return x.grad, w.grad, x.is_leaf, (x * 2).grad_fn is not None


@TOPIC.snippet
def views_and_changes_in_place(device: str) -> object:
    """History through views that were changed."""
    x = torch.randn(4, 3).to(device).requires_grad_()
    y = x * 2
    y[0].mul_(3)
    y[:, 1] = 0
    y.view(-1)[5:].exp_()
    y.square().sum().backward()
    return x.grad, y.detach()


@TOPIC.snippet
def gradients_of_the_host(device: str) -> object:
    """A parameter on the host that is used on the device gets its gradient on the host."""
    weight = torch.ones(3, requires_grad=True)
    x = torch.arange(3.0, device=device)
    loss = (weight.to(device) * x).square().sum()
    loss.backward()
    back = (weight.detach().to(device).requires_grad_() * x).cpu().sum()
    return loss.detach(), weight.grad.device.type, weight.grad.tolist(), back.item()


@TOPIC.snippet
def gradients_asked_for(device: str) -> object:
    """``autograd.grad``, unused inputs and second derivatives."""
    x, unused = (
        torch.tensor([1.0, 2.0], device=device, requires_grad=True),
        torch.ones(1, device=device, requires_grad=True),
    )
    (first,) = torch.autograd.grad(x.pow(3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    seeded = torch.autograd.grad(x * x, [x, unused], torch.tensor([1.0, 10.0], device=device), allow_unused=True)
    return first.detach(), second, seeded[0], seeded[1] is None


class Clamp(torch.autograd.Function):
    """A straight-through estimator: the gradient passes as if nothing was rounded."""

    @staticmethod
    def forward(ctx, x: torch.Tensor, limit: float) -> torch.Tensor:
        """Round within limits."""
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.round().clamp(-limit, limit)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Pass the gradient where nothing was cut off."""
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= ctx.limit), None


@TOPIC.snippet
def custom_function(device: str) -> object:
    """A function with a backward of its own."""
    x = torch.tensor([-3.2, -0.4, 0.6, 1.5], device=device, requires_grad=True)
    y = Clamp.apply(x, 2.0)
    (y * torch.arange(4.0, device=device)).sum().backward()
    return y.detach(), x.grad, y.grad_fn.name()


@TOPIC.snippet
def activation_checkpointing(device: str) -> object:
    """The forward is run again in the backward; gradients are the same."""
    block = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)).to(device)
    x = torch.randn(2, 4).to(device).requires_grad_()
    calls = []
    block[1].register_forward_hook(lambda *_: calls.append(1))
    checkpoint(block, x, use_reentrant=False).sum().backward()
    saved, x.grad = x.grad, None
    checkpoint(block, x, use_reentrant=True).sum().backward()
    return saved, x.grad, block[0].weight.grad, len(calls)


@TOPIC.snippet
def hooks(device: str) -> object:
    """Hooks of modules, tensors and accumulated gradients."""
    seen: list[object] = []
    layer, head = nn.Linear(3, 3).to(device), nn.Linear(3, 1).to(device)
    layer.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 2,))
    layer.register_forward_hook(lambda module, inputs, output: output + 1)
    head.register_full_backward_hook(lambda module, given, taken: seen.append(given[0].shape))
    hidden = layer(torch.randn(2, 3).to(device))
    hidden.register_hook(lambda gradient: gradient * 10)
    layer.weight.register_post_accumulate_grad_hook(lambda parameter: seen.append(parameter.grad.clone()))
    head(hidden).sum().backward()
    return hidden.detach(), layer.bias.grad, seen


@TOPIC.snippet
def saved_tensors_on_the_host(device: str) -> object:
    """Activations kept in host memory between forward and backward."""
    x = torch.randn(4, 4).to(device).requires_grad_()
    moved = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        moved.append(tensor.device.type == device)
        return tensor.cpu()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor.to(device)):
        loss = (x.exp() * x.sin()).sum()
    loss.backward()
    with torch.autograd.graph.save_on_cpu():
        x.square().sum().backward()
    return x.grad, moved


@TOPIC.snippet
def switched_off(device: str) -> object:
    """``no_grad``, ``inference_mode``, ``detach`` and ``requires_grad_(False)``."""
    x = torch.ones(3, device=device, requires_grad=True)
    with torch.no_grad():
        quiet = x * 2
        x.mul_(3)
    with torch.inference_mode():
        inferred = x * 2
        inferred[0] += 1
    try:
        (inferred * x).sum().backward()
        error = ""
    except RuntimeError as raised:
        error = str(raised).splitlines()[0]
    with torch.set_grad_enabled(False):
        off = (x + 1).requires_grad
    return quiet, quiet.requires_grad, inferred.clone(), inferred.is_inference(), error, off, x.detach()


@TOPIC.snippet
def changed_too_early_is_an_error(device: str) -> object:
    """A saved tensor that was changed is noticed, and so is a second backward."""
    x, errors = torch.ones(3, device=device, requires_grad=True), []
    y = x.exp()
    y.add_(1)
    for run in (y.sum().backward, (z := x.sin().sum()).backward, z.backward):
        try:
            run()
        except RuntimeError as error:
            errors.append(str(error).split("[")[0].split(".")[0])
    return errors[0].split(":")[0], len(errors), x.grad


@TOPIC.snippet
def per_sample_gradients(device: str) -> object:
    """``vmap`` over ``grad`` over ``functional_call``."""
    from torch.func import functional_call, grad, vmap

    model = nn.Linear(3, 2).to(device)
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    x, y = torch.randn(5, 3).to(device), torch.tensor([0, 1, 1, 0, 1], device=device)

    def loss(parameters: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(functional_call(model, parameters, (x[None],)), y[None])

    return vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)


@TOPIC.snippet
def mapped_functions(device: str) -> object:
    """``vmap`` over batches, also of two arguments and of a nested map."""
    from torch.func import vmap

    matrices, vectors = torch.randn(4, 3, 3).to(device), torch.randn(4, 3).to(device)
    return [
        vmap(torch.mv)(matrices, vectors), vmap(torch.dot, in_dims=(None, 0))(vectors[0], vectors),
        vmap(vmap(lambda x: x * x + 1))(matrices), vmap(lambda m: m.softmax(-1).sum(0), out_dims=1)(matrices),
    ]  # fmt: skip


@TOPIC.snippet
def jacobians(device: str) -> object:
    """Jacobians, Hessians and directional derivatives."""
    from torch.func import hessian, jacfwd, jacrev, jvp, vjp

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x.prod(), x.square().sum()])

    x = torch.tensor([1.0, 2.0, 3.0], device=device)
    direction = torch.tensor([1.0, 0.0, -1.0], device=device)
    _, pull = vjp(function, x)
    return [
        jacrev(function)(x), jacfwd(function)(x), hessian(lambda x: x.pow(3).sum())(x),
        jvp(function, (x,), (direction,)),
        pull(torch.ones(2, device=device)), torch.autograd.functional.jacobian(function, x),
    ]  # fmt: skip


@TOPIC.snippet
def gradient_penalty(device: str) -> object:
    """A loss that holds the norm of a gradient."""
    critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).to(device)
    x = torch.randn(5, 3).to(device).requires_grad_()
    (gradient,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    penalty = (gradient.norm(dim=1) - 1).square().mean()
    penalty.backward()
    return penalty.detach(), critic[0].weight.grad, critic[2].weight.grad


@TOPIC.snippet
def numeric_check(device: str) -> object:
    """``gradcheck`` in double precision."""
    x = torch.randn(2, 3, dtype=torch.float64).to(device).requires_grad_()
    return torch.autograd.gradcheck(lambda x: (x.sigmoid() * x).sum(1), (x,))


@TOPIC.snippet
def complex_gradients(device: str) -> object:
    """The gradient of a real loss with respect to a complex number."""
    z = torch.tensor([1 + 2j, -0.5j], device=device, requires_grad=True)
    ((z * z.conj()).real.sum() + z.abs().sum()).backward()
    return z.grad


@TOPIC.snippet
def gradients_through_selection(device: str) -> object:
    """Backward of indexing, sorting, gathering, scatters and scans."""
    x = torch.tensor([[3.0, 1.0, 2.0], [0.5, 9.0, 4.0]], device=device, requires_grad=True)
    ordered, places = x.sort(1)
    loss = ordered[:, 0].sum() + x[x > 2].sum() + x.gather(1, places[:, :1]).sum() + x.cumsum(1)[:, 1].sum()
    loss = (
        loss
        + x.topk(2).values.prod()
        + x[torch.tensor([0, 0], device=device)].max()
        + torch.where(x > 1, x * x, 0.0).sum()
    )
    loss = loss + torch.zeros(2, 3, device=device).scatter_add(1, places, x)[0, 0] + x.amax() + x.unfold(1, 2, 1).sum()
    loss.backward()
    return loss.detach(), x.grad
