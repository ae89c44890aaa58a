"""A row's tokens as a table."""

from __future__ import annotations

from support_rules import Place

Pair = tuple[str, str]
AROUND = 4
"""Lines of a table before and after the one in question."""


def draw_table(places: list[Place], mask: list[bool], at: int) -> Pair:
    """Return the tokens around rank ``at`` as a table, in both languages.

    Args:
        places: the row in order, as the rules have it.
        mask: the solution's answer, token by token.
        at: the rank in question.
    """
    chosen = range(max(at - AROUND, 0), min(at + AROUND + 1, len(places)))
    rows = []
    for rank in chosen:
        place = places[rank]
        sign = "  <--" if place.allowed != mask[place.token] else ""
        rows.append(
            f"{rank:>5}{place.token:>7}{place.logit:>10.4g}{place.probability:>9.5f}{place.before:>9.5f}"
            f"{_sign(place.allowed):>10}{_sign(mask[place.token]):>6}{sign}"
        )
    heads = (
        " rank  token     logit        p   before  expected yours",
        " 名次  token     logit        p   之前和      应为  你的",
    )
    feet = (
        "p: softmax over what top_k left; before: the sum of p in front",
        "p：在 top_k 留下的范围内做 softmax；之前和：前面各 p 之和",
    )
    return ("\n".join([heads[0], *rows, feet[0]]), "\n".join([heads[1], *rows, feet[1]]))


def _sign(allowed: bool) -> str:
    return "yes" if allowed else "-"
