"""How stable the order of models is, as blocks: one row per choice."""

import math
from typing import TYPE_CHECKING

from recgauge.report.blocks import Row, TableBlock

if TYPE_CHECKING:
    from recgauge.comparison.stability import AxisOrders, Stability

BEYOND_NOISE = "!"  # stands after a winner that is swapped


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
    turns = {axis.axis: [sure for _, sure in axis.other_winners().values()] for axis in stability.axes}
    others = " or ".join(name for name, sure in turns.items() if sure)
    if not others:
        return f"{winner} wins, whatever the choice of {' or '.join(turns)}."
    noise = "" if any(map(any, turns.values())) else ", within noise"
    return f"{winner} wins; with another choice of {others} another run wins{noise}."


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
        ("choice", "options", "pairs swapped", "beyond noise", "lowest τ", "winner"),
        tuple(rows),
        words=("options", "winner"),
        note=(
            f"A pair is swapped if two options order its models differently. Beyond noise ({BEYOND_NOISE}): "
            "both orders are shown by a paired t-test over users, p at most "
            f"{1 - stability.axes[0].confidence:.3g} after Holm's correction over all options and pairs of "
            "the choice. τ: Kendall's tau-b between the reference and the option."
        ),
    )
