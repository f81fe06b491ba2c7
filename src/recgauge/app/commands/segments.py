"""``recgauge segments RUN...``: who gains and who loses, by groups of users or items."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.app.commands.options import add_allowed, add_sources, named, store_uri
from recgauge.app.commands.run_data import data_of
from recgauge.app.commands.stability import run_folders, table
from recgauge.app.compare.sources import Where
from recgauge.app.compare.writing import check_formats, text_writer, write_files
from recgauge.app.terminal.printing import output, print_table
from recgauge.comparison.groups import (
    activity,
    cut_groups,
    days_in_data,
    held_popularity,
    item_counts,
    taste,
)
from recgauge.comparison.segment_results import Segments
from recgauge.comparison.segments import compare_item_groups, compare_segments
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.limits import Limits
from recgauge.errors import ConfigError, RecgaugeError, SchemaError, listed
from recgauge.report.segment_tables import cells, claims, explanation, header, markdown
from recgauge.studies import label
from recgauge.studies.conditions import Condition, only_condition, reference_key, split_key
from recgauge.studies.user_stories import stories
from recgauge.utils.checks import check_int
from recgauge.utils.files import refuse_irregular

if TYPE_CHECKING:
    import pandas as pd

BUILT_IN = ("activity", "item_popularity", "age", "genre", "items")
FORMATS = (".md", ".csv", ".json")
_DECILES = 10


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``segments``."""
    add_sources(parser)
    known = "activity, item_popularity, age, genre, items, or columns of --users, with commas between"
    parser.add_argument("--by", default="activity", help=f"{known} (default: %(default)s)")
    parser.add_argument("--users", metavar="TABLE", type=Path, help="your table of users: user_id, columns")
    parser.add_argument("--metric", default="", help="(default: ndcg@10, else what there is)")
    parser.add_argument("--groups", type=int, default=4, help="groups of numbers (default: %(default)s)")
    parser.add_argument("--baseline", help="the model others are compared with (default: the first)")
    examples = "users with the largest gain and loss to show"
    parser.add_argument("--examples", type=int, default=0, help=examples)
    parser.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    add_allowed(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, nargs="+", default=[], help=".md, .csv, .json")


def carry_out(asked: Namespace) -> None:
    """Print and write what the command line asks for."""
    wanted = Asked(
        named(asked.by),
        asked.metric,
        asked.users,
        asked.groups,
        asked.baseline,
        asked.examples,
        asked.confidence,
        tuple(asked.allow),
    )
    where = Where(store_uri(asked), asked.experiment, asked.where)
    print_segments(asked.sources, wanted, where=where, out=asked.out)


@dataclass(frozen=True)
class Asked:
    """What is compared.

    Parameters
    ----------
    by : tuple of str
        Attributes: of `BUILT_IN`, or columns of `users`.
    metric : str
        Such as ``ndcg@10``; empty: nDCG at 10, else at the largest cutoff.
    users : Path or None
        A table of the user's own, CSV or parquet: ``user_id`` and further columns.
    groups : int
        Into how many groups numbers are cut.
    baseline : str or None
        The run that others are compared with; None: the first.
    examples : int
        How many users with the largest gain, and as many with the largest loss, are shown in full.
    confidence : float
    packages : tuple of str
        Packages other than recgauge whose data sets, filters and splits may be used.
    """

    by: tuple[str, ...] = ("activity",)
    metric: str = ""
    users: Path | None = None
    groups: int = 4
    baseline: str | None = None
    examples: int = 0
    confidence: float = 0.95
    packages: tuple[str, ...] = ()


def print_segments(sources: Sequence[str], asked: Asked, *, where: Where, out: Sequence[Path]) -> None:
    """Print a table per attribute, then users whose lists changed most, and write files.

    Parameters
    ----------
    sources : sequence of str
        See `find_runs`.
    asked : Asked
    where : Where
    out : sequence of Path
        Files that get the tables: .md, .csv or .json.

    Raises
    ------
    RecgaugeError
        If a source, an attribute, the data or a file cannot be used.
    """
    check_formats(out, FORMATS)
    if not asked.by:
        raise ConfigError(f"--by: names no group; there are {listed(BUILT_IN)}.")
    check_int("--groups", asked.groups, minimum=2)
    check_int("--examples", asked.examples, minimum=0)
    folders, notes = run_folders(sources, where)
    runs = only_condition(folders)
    own = _own_table(asked)
    dataset, split = data_of(runs.first, asked.packages)
    key = reference_key(runs, asked.metric)
    found = [segments_by(by, runs, key, asked, own, dataset, split) for by in asked.by]
    told = stories(runs, key, dataset, split, asked.baseline, asked.examples) if asked.examples else []
    console = output()
    for segments in found:
        columns = header(segments)
        print_table(console, table(cells(segments), columns, [name for name in columns[1:] if name != "run"]))
        for line in [*claims(segments), explanation(segments), *_without(segments)]:
            console.print(line)
        console.print()
    for note in notes:
        console.print(f"note     {note}")
    for story in told:
        console.print(story.title, style="bold")
        console.print(story.history, soft_wrap=True)
        print_table(console, table(story.rows, story.header, ("rank",)))
        console.print()
    texts = [*(markdown(segments) for segments in found), *(story.markdown() for story in told)]
    writers = _writers(found, "\n\n".join(texts))
    for path in write_files({path: writers[path.suffix] for path in out}):
        console.print(f"files    {path}", soft_wrap=True)


def _writers(found: Sequence[Segments], text: str) -> dict[str, Callable[[Path], object]]:
    import pandas as pd

    frame = pd.concat([segments.to_frame() for segments in found], ignore_index=True)
    return {
        ".md": text_writer(text + "\n"),
        ".csv": lambda path: frame.to_csv(path, index=False, lineterminator="\n"),
        ".json": lambda path: frame.to_json(
            path, orient="records", indent=1, force_ascii=False, double_precision=15
        ),
    }


def _without(segments: Segments) -> list[str]:
    kind = "items" if segments.by == "items" else "users"
    return [f"{segments.n_without:,} {kind} have no group"] if segments.n_without else []


def segments_by(
    by: str,
    runs: Condition,
    key: str,
    asked: Asked,
    own: "pd.DataFrame | None",
    dataset: Dataset,
    split: Split,
) -> Segments:
    """Return the runs compared inside the groups of one attribute.

    Raises
    ------
    RecgaugeError
        If there is no such attribute, or the data do not have it.
    """
    if by == "items":
        return _by_items(runs, key, asked, split)
    values = runs.values(key)
    values.index = values.index.map(str)
    groups = _grouped(_attribute(by, runs, own, dataset, split), asked.groups)
    groups.index = groups.index.map(str)
    entry = runs.first.record.result(key)
    return compare_segments(
        values,
        groups,
        by=by,
        metric=label(key),
        baseline=asked.baseline,
        higher_is_better=entry is None or entry.higher_is_better,
        confidence=asked.confidence,
    )


def _attribute(
    by: str, runs: Condition, own: "pd.DataFrame | None", dataset: Dataset, split: Split
) -> "pd.Series":
    """Return a number or a word for every user, by user id."""
    if own is not None and by in own:
        return own[by]
    if by == "activity":
        return activity(split.history)
    if by == "age":
        return days_in_data(split.history).round()
    if by == "item_popularity":
        return held_popularity(split.train, _relevant_rows(runs))
    if by == "genre":
        if dataset.item_features is None:
            raise ConfigError(f"--by genre: {dataset.name} has no genres or other features of items.")
        return taste(split.history, dataset.item_features)
    columns = [] if own is None else [str(name) for name in own.columns]
    near = get_close_matches(by, [*BUILT_IN, *columns], n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    own_hint = "" if own is not None else " A column of your own table needs --users TABLE."
    raise ConfigError(f"--by: there is no {by}.{hint} There are {listed([*BUILT_IN, *columns])}.{own_hint}")


def _grouped(values: "pd.Series", n_groups: int) -> "pd.Series":
    """Return groups: numbers cut where there are many different ones, words as they are."""
    if values.dtype.kind in "iuf" and values.nunique() > n_groups:
        return cut_groups(values, n_groups)
    return values.dropna()


def _relevant_rows(runs: Condition) -> "pd.DataFrame":
    """Return the distinct relevant test rows as columns user and item."""
    rows, lowest = runs.first.test(), runs.first.record.dataset.relevant_from
    kept = rows if lowest is None else rows[rows["rating"] >= lowest]
    return kept.drop_duplicates(["user_id", "item_id"]).rename(columns={"user_id": "user", "item_id": "item"})


def _by_items(runs: Condition, key: str, asked: Asked, split: Split) -> Segments:
    """Return the share of relevant test rows that each run recommends, by popularity of the items."""
    import pandas as pd

    k = split_key(key)[1] or 10
    hits = _relevant_rows(runs)[["user", "item"]]
    pairs = pd.MultiIndex.from_frame(hits)
    for model, run in runs.runs.items():
        lists = run.recommended()
        top = lists[lists["rank"] <= k]
        hits[model] = pairs.isin(pd.MultiIndex.from_frame(top[["user_id", "item_id"]]))
    counts = item_counts(split.train)
    groups = cut_groups(counts.where(counts > 0), _DECILES).cat.add_categories("0")
    groups = groups.fillna("0").cat.reorder_categories(["0", *groups.cat.categories[:-1]])
    metric = f"hit_rate_of_rows@{k}"
    return compare_item_groups(
        hits, groups, by="items", metric=metric, baseline=asked.baseline, confidence=asked.confidence
    )


def _rows_of(path: Path) -> "pd.DataFrame":
    """Read a table of the user's within the limits of other files."""
    import pandas as pd

    refuse_irregular(path, "--users")
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    file = TableFile(path, limits=Limits(adjustable=False))
    file.size()
    with file.open() as stream:
        first = stream.readline()
    file.limits.check_columns(max(map(first.count, (b",", b";", b"\t", b"|", b" "))) + 1, file)
    with file.open() as stream:
        return pd.read_csv(stream, sep=None, engine="python")


def _own_table(asked: Asked) -> "pd.DataFrame | None":
    """Read the user's table of users, by user id."""
    if asked.users is None:
        return None
    try:
        rows = _rows_of(asked.users)
    except RecgaugeError:  # some are OSErrors and ValueErrors, too
        raise
    except (OSError, ValueError) as error:
        raise ConfigError(f"--users: {asked.users} cannot be read as a table: {error}.") from error
    column = next((name for name in ("user_id", "user") if name in rows), None)
    if column is None:
        raise SchemaError(f"--users: {asked.users} needs a column user_id; it has {listed(rows.columns)}.")
    if len(twice := rows[column][rows[column].duplicated()]):
        raise SchemaError(f"--users: {asked.users} has user {twice.iloc[0]} in several rows; keep one.")
    return rows.set_index(column)
