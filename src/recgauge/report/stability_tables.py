"""How stable the order of models is, as blocks: one row per choice, and one per option."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recgauge.report.blocks import Block, Row, TableBlock, lines

if TYPE_CHECKING:
    from recgauge.comparison.stability import AxisOrders, Stability

BEYOND_NOISE = "!"  # stands after a turn


def turned_text(axis: "AxisOrders", noun: str = "") -> str:
    """Return how many pairs turn, such as ``3 of 10 turn``."""
    n = len(axis.turns())
    return f"{n} of {axis.n_pairs} {noun}{'turns' if n == 1 else 'turn'}"


def winner_text(axis: "AxisOrders") -> str:
    """Return the winner, and who wins under which other options."""
    best, winners = axis.winner(axis.reference), dict[str, list[str]]()
    for option, (model, sure) in axis.other_winners().items():
        winners.setdefault(f"{model}{BEYOND_NOISE if sure else ''}", []).append(option)
    if not winners:
        return f"{best} always"
    rivals = (f"{model} under {', '.join(options)}" for model, options in winners.items())
    return f"{best}, but {'; '.join(rivals)}"


def claims(stability: "Stability") -> list[str]:
    """Return one sentence per choice, made by rule from the numbers."""
    return [_claim(axis) for axis in stability.axes]


def _claim(axis: "AxisOrders") -> str:
    if not np.ptp(axis.values, axis=0).any() and axis.axis == "seed":
        return f"seed: changes nothing, so {len(axis.options)} of them say nothing of chance."
    turns, rivals = axis.turns(), axis.other_winners()
    n_sure = sum(turn.beyond_noise for turn in turns)
    order = f"{turned_text(axis, 'pairs of models ')}, {n_sure or 'none'} of them beyond noise"
    order = order if turns else "no pair of models turns"
    noise = "" if any(sure for _, sure in rivals.values()) else "within noise: "
    winner = f"the winner changes ({noise}{winner_text(axis)})"
    best = f"{axis.winner(axis.reference)} wins under all {len(axis.options)} options"
    return f"{axis.axis}: {order}; {winner if rivals else best}."


def choice_table(stability: "Stability") -> TableBlock:
    """Return one row per choice."""
    rows: list[Row] = []
    for axis in stability.axes:
        turns = axis.turns()
        taus = [axis.agreement(option) for option in axis.options[1:]]
        lowest = [
            min((tau for tau in column if not math.isnan(tau)), default=math.nan)
            for column in zip(*taus, strict=True)
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
            n_users = dict.fromkeys(f"{n:,}" for n in (min(users), max(users)))
            rows.append((axis.axis, ", ".join(options), "–".join(n_users), order, *map(_tau, lowest), turned))
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
