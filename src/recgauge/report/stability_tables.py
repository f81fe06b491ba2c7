"""How stable the order of models is, as blocks: one row per choice."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recgauge.report.blocks import Block, Row, TableBlock, lines

if TYPE_CHECKING:
    from recgauge.comparison.stability import AxisOrders, Stability

_WORDS = {"relevant from": "threshold", "candidates": "candidate rule", "filters": "filter"}
"""Choices in words, where their name is none."""
BEYOND_NOISE = "!"  # stands after a pair that turns


def winner_text(axis: "AxisOrders") -> str:
    """Return the winner, and who wins under which other options."""
    best, winners = axis.winner(axis.reference), dict[str, list[str]]()
    for option, (model, sure) in axis.other_winners().items():
        winners.setdefault(f"{model}{BEYOND_NOISE if sure else ''}", []).append(option)
    if not winners:
        return f"{best} always"
    rivals = (f"{model} under {', '.join(options)}" for model, options in winners.items())
    return f"{best}, but {'; '.join(rivals)}"


def winner_claim(stability: "Stability") -> str:
    """Return in a sentence whether the winner stays."""
    first = stability.axes[0]
    winner = first.winner(first.reference)
    names = [_WORDS.get(axis.axis, axis.axis) for axis in stability.axes]
    turns = [[sure for _, sure in axis.other_winners().values()] for axis in stability.axes]
    if not any(turns):
        return f"{winner} wins, whichever {' or '.join(names)} is chosen."
    others = " or ".join(name for name, sure in zip(names, turns, strict=True) if sure)
    noise = "" if any(map(any, turns)) else ", within noise"
    return f"{winner} wins; with another {others} another run wins{noise}."


def choice_table(stability: "Stability") -> TableBlock:
    """Return one row per choice."""
    rows: list[Row] = []
    for axis in stability.axes:
        turned, surely = axis.n_turned
        options = f"{axis.reference} and {len(axis.options) - 1} more"
        taus = [tau for tau in map(axis.agreement, axis.options[1:]) if not math.isnan(tau)]
        lowest = f"{min(taus):.2f}" if taus else ""
        rows.append(
            (axis.axis, options, f"{turned} of {axis.n_pairs}", str(surely), lowest, winner_text(axis))
        )
    return TableBlock(
        "The order of models under other choices",
        ("choice", "options", "pairs that turn", "beyond noise", "lowest τ", "winner"),
        tuple(rows),
        words=("options", "winner"),
        note=explanation(stability),
    )


def stability_blocks(stability: "Stability", notes: Sequence[str] = ()) -> list[Block]:
    """Return the table of choices, and notes."""
    return [choice_table(stability), *lines((*notes, *stability.notes), "notes")]


def explanation(stability: "Stability") -> str:
    """Return what the columns mean."""
    alpha = 1 - stability.axes[0].confidence
    return (
        f"A pair turns if two options put it in opposite orders. Beyond noise ({BEYOND_NOISE}): both orders "
        f"are shown by a paired t-test over users, p at most {alpha:.3g} after Holm's correction over all "
        "options and pairs of the choice. τ: Kendall's tau-b between the reference and the option."
    )
