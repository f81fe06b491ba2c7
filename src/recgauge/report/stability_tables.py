"""How stable the order of models is, as blocks: one row per choice, and one per option."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recgauge.report.blocks import Block, Row, TableBlock, lines

if TYPE_CHECKING:
    from recgauge.comparison.stability import AxisOrders, Stability

BEYOND_NOISE = "!"  # stands after a turn


def turned_text(axis: "AxisOrders", what: str = "") -> str:
    """Return how many pairs turn, such as ``3 of 10 turn``."""
    n = len(axis.turns())
    return f"{n} of {axis.n_pairs} {what}{'turns' if n == 1 else 'turn'}"


def winner_text(axis: "AxisOrders") -> str:
    """Return the winner, and who wins under which other options."""
    others = axis.other_winners()
    best = axis.winner(axis.reference)
    if not others:
        return f"{best} always"
    found: dict[str, list[str]] = {}
    for option, (model, sure) in others.items():
        found.setdefault(f"{model}{BEYOND_NOISE if sure else ''}", []).append(option)
    told = "; ".join(f"{model} under {', '.join(options)}" for model, options in found.items())
    return f"{best}, but {told}"


def claims(stability: "Stability") -> list[str]:
    """Return one sentence per choice, made by rule from the numbers."""
    return [_claim(axis) for axis in stability.axes]


def _claim(axis: "AxisOrders") -> str:
    turns = axis.turns()
    sure = sum(turn.beyond_noise for turn in turns)
    told = "no pair of models turns"
    if turns:
        noise = f"{sure} of them beyond noise" if sure else "none of them beyond noise"
        told = f"{turned_text(axis, 'pairs of models ')}, {noise}"
    if not np.ptp(axis.values, axis=0).any() and axis.axis == "seed":
        return f"seed: changes nothing, so {len(axis.options)} of them say nothing of chance."
    others = axis.other_winners()
    if not others:
        best = axis.winner(axis.reference)
        return f"{axis.axis}: {told}; {best} wins under all {len(axis.options)} options."
    noise = "" if any(sure for _, sure in others.values()) else "within noise: "
    return f"{axis.axis}: {told}; the winner changes ({noise}{winner_text(axis)})."


def choice_table(stability: "Stability") -> TableBlock:
    """Return one row per choice."""
    rows: list[Row] = []
    for axis in stability.axes:
        turns = axis.turns()
        taus = [axis.agreement(option) for option in axis.options[1:]]
        lowest = [
            min((pair[i] for pair in taus if not math.isnan(pair[i])), default=math.nan) for i in (0, 1)
        ]
        options = f"{axis.reference} and {len(axis.options) - 1} more"
        sure = str(sum(turn.beyond_noise for turn in turns))
        turned = f"{len(turns)} of {axis.n_pairs}"
        rows.append((axis.axis, options, turned, sure, *map(_tau, lowest), winner_text(axis)))
    return TableBlock(
        "The order of models under other choices",
        ("choice", "options", "pairs that turn", "beyond noise", "lowest τ", "lowest weighted τ", "winner"),
        tuple(rows),
        words=("options", "winner"),
        note=explanation(stability),
    )


def option_table(stability: "Stability", *, turning: bool = False) -> TableBlock:
    """Return one row per order of models; if requested, of the orders in which a pair turns alone.

    Options of a choice that give the same order share a row, which has the lowest agreement among them.
    """
    rows: list[Row] = []
    for axis in stability.axes:
        groups: dict[tuple[str, str], list[str]] = {}
        for option in axis.options:
            groups.setdefault((axis.order_text(option), axis.turns_text(option)), []).append(option)
        for (order, turned), options in groups.items():
            if turning and not turned:
                continue
            taus = [axis.agreement(option) for option in options]
            lowest = (min(pair[i] for pair in taus) for i in (0, 1))
            users = [axis.n_users[axis.options.index(option)] for option in options]
            counted = dict.fromkeys(f"{n:,}" for n in (min(users), max(users)))
            rows.append((axis.axis, ", ".join(options), "–".join(counted), order, *map(_tau, lowest), turned))
    return TableBlock(
        "The order under each option",
        ("choice", "option", "users", "order", "τ", "weighted τ", "what turns"),
        tuple(rows),
        words=("option", "order", "what turns"),
    )


def stability_blocks(
    stability: "Stability", notes: Sequence[str] = (), *, brief: bool = False
) -> list[Block]:
    """Return claims, the table of choices, that of their options (of those that turn a pair), and notes."""
    options = option_table(stability, turning=brief)
    return [
        *lines(claims(stability)),
        choice_table(stability),
        *([options] if options.rows else []),
        *lines((*notes, *stability.notes), "notes"),
    ]


def explanation(stability: "Stability") -> str:
    """Return what the columns mean."""
    alpha = 1 - stability.axes[0].confidence
    return (
        f"A pair turns if two options put it in opposite orders. Beyond noise ({BEYOND_NOISE}): both orders "
        f"are shown by a paired t-test over users, p at most {alpha:.3g} after Holm's correction over all "
        "options and pairs of the choice. τ: Kendall's tau-b between the reference and the option; weighted "
        "τ (Vigna 2015) counts exchanges at the top more."
    )


def _tau(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"
