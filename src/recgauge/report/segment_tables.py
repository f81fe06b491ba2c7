"""Tables of who gains and who loses: one row per group of users or items."""

import math
from dataclasses import dataclass

from recgauge.comparison.segment_results import ALL, SegmentPair, SegmentRow, Segments
from recgauge.report import markdown_table

Row = dict[str, str | int | float | bool | None]
HIT = "*"
"""Stands before a relevant item of a list."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An item of a list: its title, else its id; and whether it is relevant."""

    text: str
    hit: bool = False

    def __str__(self) -> str:
        return f"{HIT} {self.text}" if self.hit else self.text


@dataclass(frozen=True, slots=True)
class Story:
    """One user's lists by two runs.

    Parameters
    ----------
    title : str
        The user and both values.
    history : str
        What the user had in training, latest first where times are known, else best rated first.
    header : tuple of str
        Rank, then the runs.
    ranks : tuple of tuple of Listed
        The item at each rank in each list.
    """

    title: str
    history: str
    header: tuple[str, ...]
    ranks: tuple[tuple[Listed, ...], ...]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Rank and items as texts, hits marked."""
        return tuple((str(rank), *map(str, items)) for rank, items in enumerate(self.ranks, 1))

    def markdown(self) -> str:
        """Return the story as a section."""
        return f"### {self.title}\n\n{self.history}\n\n{markdown_table(self.rows, self.header)}"


def segment_rows(segments: Segments) -> list[Row]:
    """Return one row per group and run, not rounded; the baseline's rows have no difference."""
    pairs = {(pair.segment, pair.a): pair for pair in segments.pairs}
    return [_row(segments, row, pairs.get((row.segment, row.run))) for row in segments.rows]


def _row(segments: Segments, row: SegmentRow, pair: SegmentPair | None) -> Row:
    found: Row = {
        "by": segments.by,
        "metric": segments.metric,
        "segment": row.segment,
        "n_users": row.n_users,
        "n_rows": row.n_rows,
        "run": row.run,
        "mean": row.mean,
        "low": _known(row.low),
        "high": _known(row.high),
        "baseline": segments.runs[0],
    }
    names = ("difference", "low", "high", "p_adjusted", "differs", "better", "equal", "worse")
    for name in names:
        value = None if pair is None else getattr(pair, name)
        found[f"difference_{name}" if name in ("low", "high") else name] = _known(value)
    return found


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def header(segments: Segments) -> list[str]:
    """Return the columns of the table with one row per group and run."""
    counted = ["users"] if _of_users(segments) else ["users", "test rows"]
    own = [segments.by, *counted, "run", f"{segments.metric.replace('_at_', '@')}"]
    return (
        own if len(segments.runs) == 1 else [*own, f"difference from {segments.runs[0]}", "better", "worse"]
    )


def cells(segments: Segments) -> list[list[str]]:
    """Return the cells of the table; see `header`. Name and counts of a group are in its first row."""
    pairs = {(pair.segment, pair.a): pair for pair in segments.pairs}
    table, before = [], ""
    for row in segments.rows:
        counted = [f"{row.n_users:,}"] if _of_users(segments) else [f"{row.n_users:,}", f"{row.n_rows:,}"]
        group = [row.segment, *counted] if row.segment != before else [""] * (1 + len(counted))
        half = (row.high - row.low) / 2
        mean = f"{row.mean:.4f}" + ("" if math.isnan(half) else f" ± {_short(half)}")
        change = [] if len(segments.runs) == 1 else _change(pairs.get((row.segment, row.run)))
        table.append([*group, row.run, mean, *change])
        before = row.segment
    return table


def _change(pair: SegmentPair | None) -> list[str]:
    if pair is None:
        return ["", "", ""]
    bounds = "" if math.isnan(pair.low) else f" [{pair.low:+.4f}, {pair.high:+.4f}]"
    return [
        f"{pair.difference:+.4f}{bounds}{'*' if pair.differs else ''}",
        f"{pair.better:.0%}",
        f"{pair.worse:.0%}",
    ]


def _short(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def _of_users(segments: Segments) -> bool:
    return all(row.n_users == row.n_rows for row in segments.rows)


def claims(segments: Segments) -> list[str]:
    """Return for each run who gains and who loses against the baseline, by rule from the numbers.

    Examples
    --------
    >>> from recgauge.comparison.segments import compare_segments
    >>> values = {"old": [0.1, 0.2, 0.1, 0.2, 0.9, 0.8], "new": [0.6, 0.7, 0.61, 0.7, 0.9, 0.8]}
    >>> import pandas as pd
    >>> groups = {0: "few", 1: "few", 2: "few", 3: "few", 4: "many", 5: "many"}
    >>> claims(compare_segments(pd.DataFrame(values), groups, by="activity"))
    ['activity: new against old: gains in few (+0.5025); no difference shown in many.']
    """
    return [_claim(segments, run) for run in segments.runs[1:]]


def _claim(segments: Segments, run: str) -> str:
    pairs = [pair for pair in segments.pairs if pair.a == run and pair.segment != ALL]

    def told(some: list[SegmentPair]) -> str:
        return ", ".join(f"{pair.segment} ({pair.difference:+.4f})" for pair in some)

    differing = [pair for pair in pairs if pair.differs]
    gains = [pair for pair in differing if (pair.difference > 0) == segments.higher_is_better]
    losses = [pair for pair in differing if pair not in gains]
    level = [pair for pair in pairs if not pair.differs]
    parts = [f"{word} in {told(some)}" for word, some in (("gains", gains), ("loses", losses)) if some]
    if level:
        parts.append(f"no difference shown in {', '.join(pair.segment for pair in level)}")
    p = segments.uneven.get(run)
    if p is not None and p <= round(1 - segments.confidence, 12):
        parts.append(f"the difference is not the same in all groups (p {_p_text(p)})")
    return f"{segments.by}: {run} against {segments.runs[0]}: {'; '.join(parts)}."


def _p_text(p: float) -> str:
    return "< .0001" if p < 0.0001 else f"= {p:.4f}".replace("0.", ".", 1)


def explanation(segments: Segments) -> str:
    """Return what the columns mean."""
    told = f"± half of the {segments.confidence * 100:.4g} % interval over users"
    if len(segments.runs) == 1:
        return f"{told}."
    return (
        f"{told}; [interval of the difference]; * adjusted p at most {1 - segments.confidence:.3g} (paired "
        "t-test over users, Holm over all groups and runs of this table); better, worse: shares of users."
    )


def markdown(segments: Segments) -> str:
    """Return the sentences, the table and what its columns mean."""
    columns = header(segments)
    right = [name for name in columns[1:] if name != "run"]
    parts = [
        "\n".join(f"- {claim}" for claim in claims(segments)),
        markdown_table(cells(segments), columns, right),
        explanation(segments),
    ]
    return "\n\n".join(part for part in parts if part)
