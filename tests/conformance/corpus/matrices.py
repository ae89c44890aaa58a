"""Products, decompositions and transforms."""

from __future__ import annotations

import torch

from tests.conformance.corpus.snippet import Topic

TOPIC = Topic("matrices")


@TOPIC.snippet
def products(device: str) -> object:
    """Matrices, vectors and batches of them."""
    left, right = torch.randn(3, 4).to(device), torch.randn(4, 5).to(device)
    batch = torch.randn(2, 4, 3).to(device)
    return [
        left @ right, left.mv(right[:, 0]), left[0].dot(right[:, 1]), batch @ left, torch.bmm(batch, batch.mT),
        torch.outer(left[0], right[0]), torch.addmm(torch.ones(5, device=device), left, right, beta=0.5),
        torch.baddbmm(torch.zeros(2, 4, 4, device=device), batch, batch.mT), torch.matmul(left[0], right),
    ]  # fmt: skip


@TOPIC.snippet
def products_of_half_types(device: str) -> object:
    """16-bit operands give 16-bit results."""
    left, right = torch.randn(16, 32).to(device), torch.randn(32, 8).to(device)
    return [left.to(dtype) @ right.to(dtype) for dtype in (torch.float16, torch.bfloat16, torch.float64)]


@TOPIC.snippet
def einsums(device: str) -> object:
    """Sums in Einstein's notation."""
    query, key = torch.randn(2, 3, 4, 5).to(device), torch.randn(2, 3, 6, 5).to(device)
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key)
    return [
        scores, torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), key),
        torch.einsum("ii->i", torch.eye(3, device=device)),
        torch.einsum("...d,...d->...", query, query), torch.tensordot(query, key, dims=([3], [3])).shape,
    ]  # fmt: skip


@TOPIC.snippet
def batched_experts(device: str) -> object:
    """A mixture of experts: each token visits its two experts, weighted."""
    tokens, experts = torch.randn(6, 4).to(device), torch.randn(3, 4, 4).to(device)
    weights, chosen = torch.randn(6, 3).to(device).softmax(-1).topk(2)
    output = torch.zeros_like(tokens)
    for expert in range(3):
        rows, slots = torch.where(chosen == expert)
        output.index_add_(0, rows, (tokens[rows] @ experts[expert]) * weights[rows, slots, None])
    at_once = ((tokens[:, None, None] @ experts[chosen]).squeeze(-2) * weights[..., None]).sum(1)
    return output, at_once, torch.bincount(chosen.flatten(), minlength=3)


@TOPIC.snippet
def solved_systems(device: str) -> object:
    """Linear systems, inverses, determinants."""
    matrix = torch.randn(4, 4, dtype=torch.float64).to(device)
    matrix = matrix @ matrix.T + 4 * torch.eye(4, dtype=torch.float64, device=device)
    right = torch.ones(4, 2, dtype=torch.float64, device=device)
    lower = torch.linalg.cholesky(matrix)
    return [
        torch.linalg.solve(matrix, right), torch.linalg.inv(matrix), torch.linalg.det(matrix), torch.logdet(matrix),
        lower,
        torch.cholesky_solve(right, lower), torch.linalg.solve_triangular(lower, right, upper=False),
        torch.linalg.matrix_norm(matrix), torch.trace(matrix), torch.linalg.lstsq(matrix, right).solution,
    ]  # fmt: skip


@TOPIC.snippet
def decompositions(device: str) -> object:
    """What was taken apart gives the matrix again."""
    matrix = torch.randn(5, 3, dtype=torch.float64).to(device)
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    orthogonal, upper = torch.linalg.qr(matrix)
    eigenvalues, vectors = torch.linalg.eigh(matrix.T @ matrix)
    return [values, left * values @ right, orthogonal @ upper, eigenvalues, (vectors * eigenvalues) @ vectors.T,
            torch.linalg.matrix_rank(matrix), torch.linalg.pinv(matrix), torch.linalg.svdvals(matrix)]  # fmt: skip


@TOPIC.snippet
def power_iteration(device: str) -> object:
    """The largest eigenvalue, until it stays."""
    matrix = torch.tensor([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]], device=device)
    vector, value = torch.ones(3, device=device), torch.zeros((), device=device)
    for _ in range(100):
        vector = matrix @ vector
        vector /= vector.norm()
        new = vector @ matrix @ vector
        if (new - value).abs() < 1e-6:
            break
        value = new
    return value, vector


@TOPIC.snippet
def fourier_transforms(device: str) -> object:
    """Spectra, and convolution through them."""
    signal = torch.linspace(0, 6.28, 16, device=device).sin()
    kernel = torch.zeros(16, device=device)
    kernel[:3] = torch.tensor([0.25, 0.5, 0.25], device=device)
    spectrum = torch.fft.rfft(signal)
    smoothed = torch.fft.irfft(spectrum * torch.fft.rfft(kernel), n=16)
    image = torch.fft.fft2(signal.view(4, 4))
    return [spectrum.abs(), smoothed, torch.fft.ifft2(image).real, torch.fft.fftfreq(8, device=device),
            torch.fft.fftshift(torch.arange(4, device=device)), torch.fft.fft(signal).imag]  # fmt: skip


@TOPIC.snippet
def distances(device: str) -> object:
    """Nearest neighbours by distance and by cosine."""
    points, centres = torch.randn(8, 3).to(device), torch.randn(2, 3).to(device)
    nearest = torch.cdist(points, centres).argmin(1)
    means = torch.stack([points[nearest == k].mean(0) for k in range(2)])
    return (
        torch.cdist(points, centres),
        nearest,
        means,
        torch.cosine_similarity(points, centres[:1]),
        torch.pdist(points),
    )


@TOPIC.snippet
def low_rank_update(device: str) -> object:
    """A LoRA layer before and after its weights are merged."""
    weight, down, up = (torch.randn(*shape).to(device) for shape in ((6, 5), (2, 5), (6, 2)))
    x = torch.randn(3, 5).to(device)
    apart = x @ weight.T + (x @ down.T) @ up.T * 0.5
    merged = x @ torch.addmm(weight, up, down, alpha=0.5).T
    return apart, merged


@TOPIC.snippet
def newton_schulz(device: str) -> object:
    """Iterations that make a matrix nearly orthogonal, as the Muon optimizer does."""
    matrix = torch.randn(4, 6).to(device)
    x = matrix / matrix.norm()
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x


@TOPIC.snippet
def block_diagonal_and_products(device: str) -> object:
    """Matrices built of matrices."""
    a, b = torch.arange(4.0, device=device).view(2, 2), torch.eye(3, device=device)
    return (
        torch.block_diag(a, b),
        torch.kron(a, b),
        torch.cross(b[0], b[1], dim=0),
        torch.linalg.matrix_power(a, 3),
        a.triu(1),
    )
