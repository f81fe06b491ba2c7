"""The data card as tables of words, and as a page in Markdown."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import astuple, replace

import numpy as np

from recgauge.data.card import DataCard, PartCard
from recgauge.report.blocks import TableBlock, escaped, render_markdown
from recgauge.report.run_tables import steps_table

_BOUNDARIES = {"head": "with the item that crosses it", "tail": "without the item that crosses it"}


def card_markdown(card: DataCard, figures: Mapping[str, str] | None = None) -> str:
    """Return the card as a page in Markdown, with figures by caption and relative path at its end."""
    parts = []
    for place, table in enumerate(card_tables(card)):
        head = f"## {table.caption}" if place else f"# Data card: {escaped(table.caption)}"
        parts += [head, render_markdown([replace(table, caption="")])]
    parts += [f"![{caption}]({path})" for caption, path in (figures or {}).items()]
    return "\n\n".join(parts) + "\n"


_SIZES: Mapping[str, Callable[[PartCard], str]] = {
    "rows": lambda part: f"{part.n_rows:,}",
    "users": lambda part: f"{part.n_users:,}",
    "items": lambda part: f"{part.n_items:,}",
    "density": lambda part: percent(part.density, 3),
    "Gini of item popularity": lambda part: f"{part.gini:.3f}",
    "mean rating": lambda part: f"{part.ratings.mean:.4f}" if part.ratings else "",
    "deviation": lambda part: f"{part.ratings.deviation:.4f}" if part.ratings else "",
    "relevant rows": lambda part: percent(part.ratings.relevant) if part.ratings else "",
    "first (UTC)": lambda part: (
        f"{np.datetime64(part.time.first, 's')}".replace("T", " ") if part.time else ""
    ),
    "median day": lambda part: part.time.median_day if part.time else "",
    "last (UTC)": lambda part: _moment(part.time.last) if part.time else "",
}
"""Facts of all rows and of each part; a fact that is empty for all of them is left out."""


def card_tables(card: DataCard) -> tuple[TableBlock, ...]:
    """Return the card as tables, most important first; those without content are left out."""
    parts = {"all rows": card.data, **card.parts}
    sizes = {name: [tell(part) for part in parts.values()] for name, tell in _SIZES.items()}
    spreads, held = [], []
    for kind in ("user", "item"):
        for name, part in parts.items():
            numbers = astuple(part.rows_per_user if kind == "user" else part.rows_per_item)
            texts = (f"{number:,.1f}".removesuffix(".0") for number in numbers)
            spreads.append((f"{kind}, {name}", *texts))
    for name, part in parts.items():
        for head in part.heads:
            share = f"{head.share * 100:.0f} % {_BOUNDARIES[head.boundary]}"
            shares = percent(head.n_head / (head.n_head + head.n_tail)), percent(head.head_rows)
            held.append((name, share, f"{head.n_head:,}", *shares, f"{head.n_tail:,}"))
    quantiles = ("lowest", "25 %", "median", "mean", "75 %", "90 %", "99 %", "highest")
    heads = ("of", "head", "items in head", "of all items", "rows held", "items in tail")
    tables = (
        TableBlock(card.name, (), tuple(_facts(card)), look="facts"),
        TableBlock(
            "Size", ("", *parts), tuple((name, *texts) for name, texts in sizes.items() if any(texts))
        ),
        TableBlock("Ratings", ("rating", *parts), tuple(_rating_shares(parts.values()))),
        TableBlock("Activity and popularity", ("rows per", *quantiles), tuple(spreads)),
        TableBlock("Head and tail", heads, tuple(held)),
        TableBlock("Test against train", (), tuple(_differences(card)), look="facts"),
        *steps_table(card.steps, "Filters and split"),
    )
    return tuple(table for table in tables if table.rows)


def _facts(card: DataCard) -> Iterator[tuple[str, ...]]:
    relevant = "every row" if card.relevant_from is None else f"a rating of {card.relevant_from:g} or more"
    yield "feedback", f"{card.feedback}; relevant when held out: {relevant}"
    yield "source", card.source
    yield "provenance", card.provenance
    yield "terms", card.licence
    if card.citation:
        yield "cite", card.citation
    yield "sha256 of the source", card.sha256
    yield "sha256 of the rows", card.data.sha256
    if card.split:
        settings = ", ".join(f"{key} {value}" for key, value in card.split_settings.items())
        yield "split", f"{card.split}: {settings}" if settings else card.split
    for name, part in card.parts.items():
        yield f"sha256 of {name}", part.sha256


def _rating_shares(parts: Collection[PartCard]) -> Iterator[tuple[str, ...]]:
    """Give the share of each rating; bins, which differ from part to part, of all rows only."""
    counts = [dict(part.ratings.values) if part.ratings else {} for part in parts]
    if any(part.ratings is not None and part.ratings.binned for part in parts):
        counts[1:] = [{} for _ in counts[1:]]
    for value in sorted(set().union(*counts)):
        shares = (percent(part.get(value, 0) / sum(part.values())) if part else "" for part in counts)
        yield f"{value:g}", *shares


def _differences(card: DataCard) -> Iterator[tuple[str, ...]]:
    cold, drift = card.cold, card.drift
    if cold is None or drift is None:
        return
    held = "test" if "test" in card.parts else "validation"
    for kind, count, share, rows in (
        ("users", cold.users, cold.users_share, cold.rows_of_users),
        ("items", cold.items, cold.items_share, cold.rows_of_items),
    ):
        text = f"{count:,}, {percent(share)} of the {held} {kind} with {percent(rows)} of the {held} rows"
        yield f"{held} {kind} without training rows", text
    if drift.ratings is not None:
        yield "ratings that differ", f"{percent(drift.ratings)} would have to change for equal distributions"
    other = percent(drift.popularity)
    yield "popularity that differs", f"{other} of the rows fall on other tenths of the items"
    in_train, in_test = f"{drift.popularity_of_train:,.1f}", f"{drift.popularity_of_test:,.1f}"
    average = f"{in_train} training rows on average in train, {in_test} in {held}"
    yield "popularity of a row's item", average
    if drift.test_after_train is not None and drift.train_after_first_test is not None:
        yield f"{held} rows later than all of train", percent(drift.test_after_train)
        yield f"training rows later than the first of {held}", percent(drift.train_after_first_test)


def _moment(seconds: int) -> str:
    return str(np.datetime64(seconds, "s")).replace("T", " ")


def percent(share: float, decimals: int = 1) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent(0.0631), percent(0.04, 3)
    ('6.3 %', '4.000 %')
    >>> percent(0.0001), percent(0.9999), percent(0.0), percent(1.0)
    ('< 0.1 %', '> 99.9 %', '0.0 %', '100.0 %')
    """
    least = 10.0**-decimals
    if 0 < share * 100 < least / 2:
        return f"< {least:g} %"
    if 100 - least / 2 <= share * 100 < 100:
        return f"> {100 - least:g} %"
    return f"{share * 100:.{decimals}f} %"
