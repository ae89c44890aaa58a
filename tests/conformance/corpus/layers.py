"""Modules of ``torch.nn``."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("layers")


@TOPIC.snippet
def perceptron(device: str) -> object:
    """Linear layers and activations."""
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3), nn.Softmax(-1)).to(device)
    return model(torch.randn(2, 4).to(device)).detach(), [p.device.type == device for p in model.parameters()]


@TOPIC.snippet
def parameters_move(device: str) -> object:
    """``.to`` keeps parameters parameters, buffers buffers, and the module itself."""
    module = nn.BatchNorm1d(3)
    moved = module.to(device)
    half = nn.Linear(2, 2).to(device).half()
    return [
        moved is module, isinstance(module.weight, nn.Parameter), module.weight.is_leaf, module.running_mean,
        half.weight.dtype == torch.float16, half.bias.requires_grad, module.weight.detach(), module.num_batches_tracked,
    ]  # fmt: skip


@TOPIC.snippet
def embeddings(device: str) -> object:
    """Tables of tokens and positions, with a padding row."""
    tokens, positions = nn.Embedding(10, 4, padding_idx=0).to(device), nn.Embedding(6, 4).to(device)
    ids = torch.tensor([[1, 2, 0], [3, 1, 1]], device=device)
    hidden = tokens(ids) + positions(torch.arange(3, device=device))
    hidden.sum().backward()
    return hidden.detach(), tokens.weight.grad, positions.weight.grad


@TOPIC.snippet
def normalisations(device: str) -> object:
    """LayerNorm, RMSNorm, GroupNorm and InstanceNorm, in two dtypes."""
    x = torch.randn(2, 6, 8).to(device)
    results = [
        module.to(device)(x) for module in (nn.LayerNorm(8), nn.RMSNorm(8), nn.GroupNorm(3, 6), nn.InstanceNorm1d(6))
    ]
    half = [nn.LayerNorm(8).to(device).bfloat16()(x.bfloat16()), F.rms_norm(x.half(), (8,))]
    return [result.detach() for result in results + half]


@TOPIC.snippet
def norms_in_inference_mode(device: str) -> object:
    """Composite modules under ``inference_mode``."""
    norm, linear = nn.LayerNorm(8).to(device), nn.Linear(8, 8).to(device)
    with torch.inference_mode():
        x = torch.linspace(0, 1, 16, device=device).view(2, 8)
        y = linear(norm(x))
        y += 1
        return y, y.is_inference(), F.silu(y), F.rms_norm(y, (8,)), y.reshape(4, 4).softmax(-1)


@TOPIC.snippet
def batch_norm(device: str) -> object:
    """Statistics of training, used in evaluation."""
    norm = nn.BatchNorm2d(3).to(device)
    x = torch.randn(4, 3, 5, 5).to(device)
    trained = norm(x)
    norm.eval()
    return trained.detach(), norm(x).detach(), norm.running_mean, norm.running_var, norm.num_batches_tracked


@TOPIC.snippet
def convolutions(device: str) -> object:
    """Convolutions in one and two dimensions, transposed and grouped."""
    line, image = torch.randn(2, 4, 9).to(device), torch.randn(1, 4, 6, 6).to(device)
    return [
        nn.Conv1d(4, 6, 3, padding=1).to(device)(line).detach(),
        nn.Conv1d(4, 4, 4, groups=4, bias=False).to(device)(F.pad(line, (3, 0))).detach(),
        nn.Conv2d(4, 2, 3, stride=2).to(device)(image).detach(),
        nn.ConvTranspose2d(4, 2, 2, stride=2).to(device)(image).detach(),
        F.conv2d(image, torch.ones(1, 4, 1, 1, device=device)),
    ]


@TOPIC.snippet
def pools_and_resizing(device: str) -> object:
    """Pooling, interpolation and padding."""
    image = torch.arange(32.0, device=device).view(1, 2, 4, 4)
    return [
        F.max_pool2d(image, 2), F.avg_pool2d(image, 2), F.adaptive_avg_pool2d(image, 1),
        F.max_pool2d(image, 2, return_indices=True)[1],
        F.interpolate(image, scale_factor=2), F.interpolate(image, size=(3, 3), mode="bilinear"),
        F.pad(image, (1, 1, 1, 1), mode="reflect"),
        F.unfold(image, 2, stride=2), F.pixel_shuffle(image.view(1, 8, 2, 2), 2),
    ]  # fmt: skip


@TOPIC.snippet
def recurrent(device: str) -> object:
    """LSTM and GRU, step by step and whole."""
    lstm, gru = nn.LSTM(4, 5, num_layers=2, batch_first=True).to(device), nn.GRU(4, 3, bidirectional=True).to(device)
    x = torch.randn(2, 6, 4).to(device)
    output, (hidden, cell) = lstm(x)
    state, steps = None, []
    for t in range(6):
        step, state = lstm(x[:, t : t + 1], state)
        steps.append(step)
    sequence, last = gru(x.transpose(0, 1))
    return [v.detach() for v in (output, hidden, cell, torch.cat(steps, 1), sequence, last)]


@TOPIC.snippet
def packed_sequences(device: str) -> object:
    """Sequences of unlike length through an LSTM."""
    lstm = nn.LSTM(3, 4, batch_first=True).to(device)
    x = torch.randn(3, 5, 3).to(device)
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 2, 3]), batch_first=True, enforce_sorted=False)
    output, (hidden, _) = lstm(packed)
    padded, lengths = nn.utils.rnn.pad_packed_sequence(output, batch_first=True)
    output.data.sum().backward()
    return padded.detach(), hidden.detach(), lengths.tolist(), packed.batch_sizes.tolist(), lstm.weight_hh_l0.grad


@TOPIC.snippet
def recurrent_cells(device: str) -> object:
    """A cell in a Python loop, with gradients."""
    cell, head = nn.GRUCell(3, 4).to(device), nn.Linear(4, 1).to(device)
    x, hidden = torch.randn(5, 2, 3).to(device), torch.zeros(2, 4, device=device)
    for step in x:
        hidden = cell(step, hidden)
    head(hidden).mean().backward()
    return hidden.detach(), cell.weight_hh.grad, head.bias.grad


@TOPIC.snippet
def multihead_attention(device: str) -> object:
    """The module, with weights, with a mask and on its fast path."""
    attention = nn.MultiheadAttention(16, 4, batch_first=True).to(device).eval()
    x = torch.randn(2, 5, 16).to(device)
    mask = nn.Transformer.generate_square_subsequent_mask(5, device=device)
    output, weights = attention(x, x, x, attn_mask=mask, is_causal=True, need_weights=True)
    with torch.inference_mode():
        fast, _ = attention(x, x, x, need_weights=False)
    padded, _ = attention(x, x, x, key_padding_mask=torch.tensor([[0, 0, 0, 0, 1]] * 2, device=device).bool())
    return output.detach(), weights.detach(), fast, padded.detach()


@TOPIC.snippet
def transformer_layers(device: str) -> object:
    """Encoder and decoder layers, evaluated and trained."""
    encoder = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, norm_first=True).to(device)
    decoder = nn.TransformerDecoderLayer(16, 2, 32, dropout=0.0, batch_first=True).to(device)
    source, target = torch.randn(2, 4, 16).to(device), torch.randn(2, 3, 16).to(device)
    memory = encoder(source)
    output = decoder(target, memory)
    output.square().mean().backward()
    with torch.no_grad():
        fast = encoder.eval()(source)
    return memory.detach(), output.detach(), encoder.linear1.weight.grad, fast


@TOPIC.snippet
def losses(device: str) -> object:
    """Losses with their reductions, weights and ignored targets."""
    logits, target = torch.randn(4, 5).to(device), torch.tensor([0, 2, -100, 4], device=device)
    x, y = torch.randn(6).to(device), torch.linspace(0, 1, 6, device=device)
    return [
        F.cross_entropy(logits, target), F.cross_entropy(logits, target, reduction="none", label_smoothing=0.1),
        F.nll_loss(logits.log_softmax(-1), target, ignore_index=-100), F.mse_loss(x, y),
        F.l1_loss(x, y, reduction="sum"),
        F.binary_cross_entropy_with_logits(x, y), F.kl_div(x.log_softmax(0), y.softmax(0), reduction="sum"),
        F.smooth_l1_loss(x, y), F.huber_loss(x, y),
        F.cosine_embedding_loss(logits, logits, torch.ones(4, device=device)),
        F.ctc_loss(logits.view(4, 1, 5).log_softmax(-1), torch.tensor([[1, 2]], device=device), (4,), (2,)),
    ]  # fmt: skip


@TOPIC.snippet
def activations(device: str) -> object:
    """Activations, gated ones too."""
    x = torch.linspace(-3, 3, 12, device=device).view(2, 6)
    gate, up = x.chunk(2, dim=-1)
    return [
        F.relu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(gate) * up, F.glu(x), F.leaky_relu(x), F.elu(x),
        F.mish(x),
        F.softplus(x), F.hardswish(x), F.log_softmax(x, -1), F.softmin(x, 0),
        F.prelu(x, torch.tensor([0.2], device=device)),
        F.relu(x).square(), F.normalize(x), F.tanhshrink(x),
    ]  # fmt: skip


@TOPIC.snippet(is_random=True)
def dropout(device: str) -> object:
    """What is dropped is zero, what stays is scaled, in evaluation nothing changes."""
    layer, x = nn.Dropout(0.25), torch.ones(4096, device=device)
    dropped = layer(x)
    kept = dropped[dropped != 0]
    grown = torch.ones(64, device=device, requires_grad=True)
    result = F.dropout(grown, 0.5)
    result.sum().backward()
    return dropped, torch.equal(kept, torch.full_like(kept, 1 / 0.75)), 0.6 < len(kept) / 4096 < 0.9, [
        torch.equal(layer.eval()(x), x), torch.equal(grown.grad, result.detach()),
        F.dropout2d(x.view(4, 4, 16, 16)).shape,
    ]  # fmt: skip


@TOPIC.snippet
def initialisers(device: str) -> object:
    """Weights set in place by ``torch.nn.init``."""
    weight = torch.empty(6, 6, device=device)
    shapes = [
        nn.init.xavier_uniform_(weight).shape,
        nn.init.kaiming_normal_(weight).shape,
        nn.init.trunc_normal_(weight).shape,
    ]
    nn.init.orthogonal_(weight)
    return (
        shapes,
        weight @ weight.T,
        nn.init.eye_(weight).clone(),
        nn.init.constant_(weight, 2.0).clone(),
        nn.init.zeros_(weight),
    )
