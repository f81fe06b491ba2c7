"""Tables of how stable the order of models is: one row per choice, and one per option."""

import math
from itertools import pairwise

from recgauge.comparison.orders import AxisOrders, Stability, Turn
from recgauge.report import markdown_table

Row = dict[str, str | int | float | bool | None]
HEADER = ("choice", "options", "pairs that turn", "beyond noise", "lowest τ", "lowest weighted τ", "winner")
OPTION_HEADER = ("choice", "option", "users", "order", "τ", "weighted τ", "what turns")
OPTION_RIGHT = ("users", "τ", "weighted τ")
BEYOND_NOISE = "!"


def option_rows(stability: Stability) -> list[Row]:
    """Return one row per choice and option, not rounded.

    ``pairs_turned`` counts the pairs that the option has in another order than the reference,
    ``beyond_noise`` those of them that the option shows significantly, and another option the reverse.
    """
    return [_option_row(axis, option) for axis in stability.axes for option in axis.options]


def _option_row(axis: AxisOrders, option: str) -> Row:
    tau, weighted = axis.agreement(option)
    turns = [turn for turn in axis.turns() if option in turn.options]
    row: Row = {
        "choice": axis.axis,
        "option": option,
        "is_reference": option == axis.reference,
        "n_users": axis.n_users[axis.options.index(option)],
        "order": order_text(axis, option),
        "winner": axis.winner(option),
        "kendall_tau_b": None if math.isnan(tau) else tau,
        "weighted_tau": None if math.isnan(weighted) else weighted,
        "pairs": axis.n_pairs,
        "pairs_turned": len(turns),
        "beyond_noise": sum(is_shown(turn, option) for turn in turns),
        "turned": turns_text(axis, option),
    }
    values = axis.values[axis.options.index(option)]
    return row | {f"value_{model}": float(v) for model, v in zip(axis.models, values, strict=True)}


def is_shown(turn: Turn, option: str) -> bool:
    """Whether a turn is beyond noise and this option is one that shows it."""
    return turn.beyond_noise and option in turn.shown_by


def order_text(axis: AxisOrders, option: str) -> str:
    """Return the order of the models, such as ``svd > ease = item_knn``."""
    goodness = dict(zip(axis.models, axis.goodness[axis.options.index(option)], strict=True))
    order = axis.order(option)
    words = [order[0]]
    for before, model in pairwise(order):
        words += ["=" if goodness[before] == goodness[model] else ">", model]
    return " ".join(words)


def turns_text(axis: AxisOrders, option: str) -> str:
    """Return which pairs an option turns, those beyond noise marked: ``svd above ease!``."""
    turns = [turn for turn in axis.turns() if option in turn.options]
    return "; ".join(
        f"{turn.worse} above {turn.better}{BEYOND_NOISE if is_shown(turn, option) else ''}" for turn in turns
    )


def turned_text(axis: AxisOrders, what: str = "") -> str:
    """Return how many pairs turn, such as ``3 of 10 turn``."""
    n = len(axis.turns())
    return f"{n} of {axis.n_pairs} {what}{'turns' if n == 1 else 'turn'}"


def winner_text(axis: AxisOrders) -> str:
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


def summary_rows(stability: Stability) -> list[list[str]]:
    """Return the cells of a table with one row per choice; see `HEADER`."""
    rows = []
    for axis in stability.axes:
        turns = axis.turns()
        taus = [axis.agreement(option) for option in axis.options[1:]]
        lowest = [
            min((pair[i] for pair in taus if not math.isnan(pair[i])), default=math.nan) for i in (0, 1)
        ]
        rows.append(
            [
                axis.axis,
                f"{axis.reference} and {len(axis.options) - 1} more",
                f"{len(turns)} of {axis.n_pairs}",
                str(sum(turn.beyond_noise for turn in turns)),
                *map(_tau, lowest),
                winner_text(axis),
            ]
        )
    return rows


def option_cells(stability: Stability) -> list[list[str]]:
    """Return the cells of a table with one row per order of models; see `OPTION_HEADER`.

    Options of a choice that give the same order share a row, which has the lowest agreement among them.
    """
    cells = []
    for axis in stability.axes:
        groups: dict[tuple[str, str], list[str]] = {}
        for option in axis.options:
            groups.setdefault((order_text(axis, option), turns_text(axis, option)), []).append(option)
        for (order, turned), options in groups.items():
            taus = [axis.agreement(option) for option in options]
            lowest = (min(pair[i] for pair in taus) for i in (0, 1))
            users = [axis.n_users[axis.options.index(option)] for option in options]
            counted = dict.fromkeys(f"{n:,}" for n in (min(users), max(users)))
            named = [axis.axis, ", ".join(options), "–".join(counted)]
            cells.append([*named, order, *map(_tau, lowest), turned])
    return cells


def claims(stability: Stability) -> list[str]:
    """Return one sentence per choice, made by rule from the numbers.

    Examples
    --------
    >>> from recgauge.comparison.stability import compare_orders
    >>> values = {"a": [1.0, 0.8, 0.9], "b": [0.1, 0.2, 0.1]}
    >>> claims(compare_orders({"cutoff": {"1": values, "5": values}}))
    ['cutoff: no pair of models turns; a wins under all 2 options.']
    """
    return [_claim(axis) for axis in stability.axes]


def _claim(axis: AxisOrders) -> str:
    turns = axis.turns()
    sure = sum(turn.beyond_noise for turn in turns)
    told = "no pair of models turns"
    if turns:
        noise = f"{sure} of them beyond noise" if sure else "none of them beyond noise"
        told = f"{turned_text(axis, 'pairs of models ')}, {noise}"
    others = axis.other_winners()
    if not others:
        return (
            f"{axis.axis}: {told}; {axis.winner(axis.reference)} wins under all {len(axis.options)} options."
        )
    shown = any(sure for _, sure in others.values())
    return (
        f"{axis.axis}: {told}; the winner changes ({'' if shown else 'within noise: '}{winner_text(axis)})."
    )


def markdown(stability: Stability) -> str:
    """Return the claims, the table of choices, that of their options, and the notes."""
    parts = [
        "\n".join(f"- {claim}" for claim in claims(stability)),
        markdown_table(summary_rows(stability), HEADER, HEADER[2:6]),
        explanation(stability),
        markdown_table(option_cells(stability), OPTION_HEADER, OPTION_RIGHT),
    ]
    if stability.notes:
        parts.append("\n".join(f"- {note}" for note in stability.notes))
    return "\n\n".join(parts)


def explanation(stability: Stability) -> str:
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


def shorten(text: str, longest: int) -> str:
    """Return a text that is at most so long, its end replaced by an ellipsis.

    Examples
    --------
    >>> shorten("standard, trec, ranx", 12)
    'standard, t…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
