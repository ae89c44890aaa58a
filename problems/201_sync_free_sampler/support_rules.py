"""The rules for one row, word by word: in float64, with Python's own numbers, as slow as they read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
PAD = -7
"""What rows get that draw nothing, unless a test says otherwise: no token."""
CLEAR = 1e-4
"""A share or a race that is decided by less than this could go the other way in float32."""


@dataclass(frozen=True)
class Row:
    """Parameters of one row, and where it stands; the values are those of ``Batch``."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
    eos: int = -1
    position: int = 0
    finished: bool = False

    @property
    def words(self) -> tuple[str, str]:
        """The parameters that are not at rest, as a learner reads them, in both languages."""
        rest = Row()
        names = ("temperature", "top_k", "top_p", "min_p")
        changed = [f"{name}={getattr(self, name):.6g}" for name in names if getattr(self, name) != getattr(rest, name)]
        return (", ".join(changed) or "no filter", "，".join(changed) or "不过滤")


@dataclass(frozen=True)
class Place:
    """One token in the order of its row."""

    token: int
    logit: float
    probability: float
    """Among what temperature and top_k left."""
    before: float
    """Probability of all tokens in front of it."""
    allowed: bool


def rank_tokens(logits: list[float], row: Row) -> list[Place]:
    """Return the tokens in order, each with what the rules say of it."""
    order = sorted(range(len(logits)), key=lambda token: (-logits[token], token))
    limit = 1 if row.temperature == 0 else row.top_k or len(logits)
    divisor = row.temperature or 1.0
    best = logits[order[0]]
    weights = [
        math.exp((logits[token] - best) / divisor) if at < limit and logits[token] > -math.inf else 0.0
        for at, token in enumerate(order)
    ]
    whole = math.fsum(weights)
    places, before = [], 0.0
    for at, (token, weight) in enumerate(zip(order, weights, strict=True)):
        share = weight / whole if whole else 0.0
        allowed = at < limit and logits[token] > -math.inf
        allowed = allowed and (row.top_p == 1 or before < row.top_p) and weight >= row.min_p
        places.append(Place(token, logits[token], share, before, allowed))
        before += share
    return places


def list_allowed(places: list[Place]) -> list[bool]:
    """Return the mask of a row, token by token."""
    mask = [False] * len(places)
    for place in places:
        mask[place.token] = place.allowed
    return mask


def make_noise(seed: int, position: int, token: int) -> float:
    """Return the noise of one token."""
    start = _mix((seed + GAMMA) & MASK)
    bits = _mix((start + ((position << 32) + token + 1) * GAMMA) & MASK)
    return -math.log(((bits >> 41) + 0.5) * 2.0**-23)


def race(places: list[Place], row: Row) -> tuple[int, float] | None:
    """Return the token that is drawn, and by how much it wins (in logarithms); ``None`` when nothing may be drawn."""
    divisor = row.temperature or 1.0
    best = places[0].logit
    scores = sorted(
        (-((place.logit - best) / divisor - math.log(make_noise(row.seed, row.position, place.token))), place.token)
        for place in places
        if place.allowed
    )
    if not scores:
        return None
    return scores[0][1], scores[1][0] - scores[0][0] if len(scores) > 1 else math.inf


def list_clear(logits: list[list[float]], rows: list[Row]) -> list[int]:
    """Return the rows whose winner is clear: of the others two right answers in float32 may differ."""
    winners = [race(rank_tokens(values, row), row) for values, row in zip(logits, rows, strict=True)]
    return [at for at, winner in enumerate(winners) if winner is not None and winner[1] > CLEAR]


def draw_row(rng: Random, logits: list[float]) -> Row:
    """Return random parameters whose borders lie clearly between two tokens, so that rounding decides nothing."""
    temperature = rng.choice((0.0, 0.5, 0.8, 1.0, 1.5))
    top_k = rng.choice((0, 1, rng.randrange(1, len(logits) + 4), rng.randrange(1, len(logits) + 4)))
    seed = rng.randrange(-(1 << 62), 1 << 62)
    loose = rank_tokens(logits, Row(temperature, top_k))
    wide = [at for at, place in enumerate(loose) if place.probability > 10 * CLEAR]
    top_p = min_p = 1.0
    if wide and rng.random() < 0.7:
        place = loose[rng.choice(wide)]
        top_p = min(place.before + place.probability * rng.uniform(0.3, 0.7), 1.0)
    steps = [at for at in wide[1:] if loose[at].probability < 0.99 * loose[at - 1].probability]
    if steps and rng.random() < 0.5:
        at = rng.choice(steps)
        min_p = (loose[at].probability + loose[at - 1].probability) / 2 / loose[0].probability
    else:
        min_p = 0.0
    return Row(temperature, top_k, top_p, min_p, seed, position=rng.randrange(0, 4096))


def _mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)
