"""A data card in words: tables that terminal and page share, the page, and the files of both."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple, replace
from datetime import UTC, datetime
from pathlib import Path

from recgauge.report.blocks import TableBlock
from recgauge.report.data_card import DataCard, PartCard
from recgauge.report.markdown import escaped, render_markdown

_BOUNDARIES = {"head": "with the item that crosses it", "tail": "without the item that crosses it"}


def card_tables(card: DataCard) -> tuple[TableBlock, ...]:
    """Return the card as tables, most important first; those without content are left out."""
    parts = {"all rows": card.data, **card.parts}
    return tuple(table for table in _tables(card, parts) if table.rows)


def card_markdown(card: DataCard, figures: Mapping[str, str] | None = None) -> str:
    """Return the card as a page in Markdown, with figures by caption and relative path at its end."""
    first, *others = card_tables(card)
    parts = [f"# Data card: {escaped(first.caption)}", render_markdown([replace(first, caption="")])]
    for table in others:
        parts += [f"## {table.caption}", render_markdown([replace(table, caption="")])]
    parts += [f"![{caption}]({path})" for caption, path in (figures or {}).items()]
    return "\n\n".join(parts) + "\n"


def write_card(card: DataCard, folder: Path, figures: Mapping[str, str] | None = None) -> list[Path]:
    """Write data_card.json and data_card.md, with figures as `card_markdown`; return the two files."""
    texts = {"data_card.json": card.to_json(), "data_card.md": card_markdown(card, figures)}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def _tables(card: DataCard, parts: dict[str, PartCard]) -> Iterator[TableBlock]:
    names = tuple(parts)
    yield TableBlock(card.name, (), tuple(_facts(card)), look="facts")
    yield TableBlock("Size", ("", *names), tuple(_size(parts)))
    yield TableBlock("Ratings", ("rating", *names), tuple(_ratings(parts)))
    quantile_names = ("lowest", "25 %", "median", "mean", "75 %", "90 %", "99 %", "highest")
    yield TableBlock("Activity and popularity", ("rows per", *quantile_names), tuple(_spreads(parts)))
    head_names = ("head", "items in head", "of all items", "rows held", "items in tail")
    yield TableBlock("Head and tail", ("of", *head_names), tuple(_heads(parts)))
    yield TableBlock("Test against train", (), tuple(_drift(card)), look="facts")
    dropped = ("", "rows dropped", "users", "items", "rows left")
    yield TableBlock("Dropped by filters and split", dropped, tuple(_steps(card)))


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


def _size(parts: dict[str, PartCard]) -> Iterator[tuple[str, ...]]:
    every = parts.values()
    for kind in ("rows", "users", "items"):
        yield kind, *(f"{getattr(part, f'n_{kind}'):,}" for part in every)
    yield "density", *(percent(part.density, 3) for part in every)
    yield "Gini of item popularity", *(f"{part.gini:.3f}" for part in every)
    ratings, times = [part.ratings for part in every], [part.time for part in every]
    if any(ratings):
        yield "mean rating", *(f"{part.mean:.4f}" if part else "" for part in ratings)
        yield "deviation", *(f"{part.deviation:.4f}" if part else "" for part in ratings)
        yield "relevant rows", *(percent(part.relevant) if part else "" for part in ratings)
    if any(times):
        yield "first (UTC)", *(second_text(part.first) if part else "" for part in times)
        yield "median day", *(part.median_day if part else "" for part in times)
        yield "last (UTC)", *(second_text(part.last) if part else "" for part in times)


def _ratings(parts: dict[str, PartCard]) -> Iterator[tuple[str, ...]]:
    """Give the share of each rating; bins, which differ from part to part, of all rows only."""
    known = [dict(part.ratings.values) if part.ratings else {} for part in parts.values()]
    if any(part.ratings is not None and part.ratings.binned for part in parts.values()):
        known[1:] = [{} for _ in known[1:]]
    for value in sorted(set().union(*known)):
        shares = (percent(one.get(value, 0) / sum(one.values())) if one else "" for one in known)
        yield f"{value:g}", *shares


def _spreads(parts: dict[str, PartCard]) -> Iterator[tuple[str, ...]]:
    for kind in ("user", "item"):
        for name, part in parts.items():
            spread = part.rows_per_user if kind == "user" else part.rows_per_item
            yield f"{kind}, {name}", *(f"{number:,.1f}".removesuffix(".0") for number in astuple(spread))


def _heads(parts: dict[str, PartCard]) -> Iterator[tuple[str, ...]]:
    for name, part in parts.items():
        for head in part.heads:
            what = f"{head.share * 100:.0f} % {_BOUNDARIES[head.boundary]}"
            shares = percent(head.n_head / (head.n_head + head.n_tail)), percent(head.head_rows)
            yield name, what, f"{head.n_head:,}", *shares, f"{head.n_tail:,}"


def _drift(card: DataCard) -> Iterator[tuple[str, ...]]:
    cold, drift = card.cold, card.drift
    if cold is None or drift is None:
        return
    held = card.held_out
    for kind, count, share, rows in (
        ("users", cold.users, cold.users_share, cold.rows_of_users),
        ("items", cold.items, cold.items_share, cold.rows_of_items),
    ):
        told = f"{count:,}, {percent(share)} of the {held} {kind} with {percent(rows)} of the {held} rows"
        yield f"{held} {kind} without training rows", told
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


def _steps(card: DataCard) -> Iterator[tuple[str, ...]]:
    for step in card.steps:
        users, items = step.users[0] - step.users[1], step.items[0] - step.items[1]
        yield step.name, f"{step.dropped_rows:,}", f"{users:,}", f"{items:,}", f"{step.rows[1]:,}"


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


def second_text(second: int) -> str:
    """Return a time as text, such as ``2018-09-24 14:27:30`` (UTC)."""
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S}"
