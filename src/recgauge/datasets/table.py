"""Any table of interactions: CSV, TSV, ``::``, Parquet, JSON lines, RecBole, LightGCN; packed or not."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from recgauge.data.dataset import Dataset, Feedback
from recgauge.data.ids import IdArray
from recgauge.data.interactions import Attribute, Interactions
from recgauge.data.spellings import LEAST_SHARE, spelling_keys
from recgauge.datasets import About, DatasetSource
from recgauge.datasets.prepared import Prepared, digests_of, load_prepared
from recgauge.errors import ConfigError, SchemaError, listed, quantity
from recgauge.files.columns import (
    EVENTS,
    ITEMS,
    TABLE,
    TIMES,
    USERS,
    CellFormat,
    Choice,
    Names,
    Role,
    Roles,
    TimeUnit,
)
from recgauge.files.formats import FORMATS, read, read_cells
from recgauge.files.ids import join_ids
from recgauge.files.limits import Limits
from recgauge.files.opening import Source, TableFile, check_encoding, find_sources
from recgauge.files.plausible import spans
from recgauge.files.rows import Problem, Rows, describe_skipped, lines_at, refuse
from recgauge.files.stored import StoredFile, StoredTable
from recgauge.files.text import TextFormat
from recgauge.utils.checks import Real, check_choice, check_real, shown
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

WEIGHTED: Mapping[Role, Names] = {"user": USERS, "item": ITEMS, "event": EVENTS, "time": TIMES}
OnBadRows = Literal["error", "skip"]


@dataclass(frozen=True)
class Table(DatasetSource):
    r"""A table of interactions in files of your own.

    Parameters
    ----------
    path : str or sequence of str
        Files, or patterns such as ``ratings-*.csv``; plain, gzip, bzip2, xz or zip. Also folders, and
        addresses such as ``s3://bucket/ratings``, with all Parquet files below them in the order of their
        names. Rows keep the order of the files.
    name : str, optional
        Name of the data set; by default the first file's, without its ending, in lower case.
    format : {"text", "parquet", "jsonl", "user_lines", "count_lines", ...}, optional
        By default recognised by the file's ending and first lines. With "user_lines" each line is a user
        followed by items; with "count_lines" the number of items and the items of a user, whose id is the
        number of the line, from 0.
    member : str, optional
        File to read inside zip archives that hold several.
    user, item : str or int, optional
        Name or position (from 0) of the column. By default usual names such as ``userId`` are recognised; a
        text file without a header needs positions.
    rating, time : str, int or False, optional
        Likewise; False leaves the column out.
    header : bool, optional
        Whether the first line names the columns; by default it must name the user and the item as usual or
        as chosen, unless columns are chosen by their positions.
    separator : str, optional
        What separates fields; by default taken from the first line.
    quotes : bool, optional
        Whether fields may be in double quotes; by default with commas and semicolons, or if the first line
        has some.
    encoding : str
        Of text files and JSON lines, such as "utf-16" or "iso-8859-1".
    missing : sequence of str
        Cells that are missing, beside empty ones, such as "NA"; rows with them are left out and counted.
    unused : sequence of str
        Columns that are left out on purpose, where a question would be asked: columns of 0 and 1 where there
        is no rating, and those whose name says label, event, run, model, fold, split or variant.
    keep : sequence of str
        Columns that are read along as text; those that filters and splits name are read by themselves.
    event : str or int, optional
        With `weights`: name or position of the column of events; by default a usual name such as
        ``event_type`` is recognised.
    weights : mapping of str to float, optional
        What a row is worth by its event, such as ``{view: 1, cart: 3, purchase: 5}``, instead of a rating;
        rows of an event that is worth 0 are left out and counted. Every event of the table must be named.
    decimal : {".", ","}
        How numbers are written in text: 1234.5, or 1234,5.
    time_unit : {"s", "ms", "us", "ns", "date"}, optional
        What times count, or that they are ISO 8601 dates (UTC unless they say otherwise); by default
        recognised by the first 100.
    time_format : str, optional
        How dates are written, as of ``strptime``, such as "%d.%m.%Y"; by default ISO 8601 or YYYYMMDD.
    implausible : {"refuse", "keep"}
        Whether ids that are dates, times that are all in 1970 and users or items that are called NA or null,
        or 0 or -1, and have a large share of the rows, are refused.
    feedback : {"explicit", "implicit"}, optional
        By default "explicit" if there is a rating column that is not made of `weights`.
    relevant_from : float, optional
        Lowest rating that makes a held-out item relevant; None means that every row does.
    on_bad_rows : {"error", "skip"}
        Whether rows without user or item, with ratings that are no finite numbers, with impossible times or a
        wrong number of columns are refused, or left out and counted.
    licence : str
        Terms of the data, recorded with each run.
    prepared : bool
        Whether to keep what was read in the cache folder, so that the next load of these files is fast; files
        below 1 MiB are always read.
    cache : str, optional
        The cache folder; by default the user's own.
    limits : Limits or mapping, optional
        The most rows, columns, bytes of a line and bytes of a packed file's content; larger files are refused
        before or while they are read. Of folders and addresses, memory is the limit. Never changes a number.

    Raises
    ------
    ConfigError
        If a parameter is not valid.

    Notes
    -----
    Ids are kept as given: text that is a whole number everywhere becomes numbers, unless that would lose
    something, as with leading zeros. Times keep whole seconds. Blank lines are passed over.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "ratings.csv")
    >>> _ = path.write_text("userId,movieId,rating\n007,b,4.5\n008,a,3\n")
    >>> ratings = Table(str(path)).load().interactions
    >>> ratings.user_ids.tolist(), ratings.item_ids.tolist(), ratings.value.tolist()
    (['007', '008'], ['a', 'b'], [4.5, 3.0])
    """

    path: str | Sequence[str]
    name: str | None = None
    format: str | None = None
    member: str | None = None
    user: Choice = None
    item: Choice = None
    rating: Choice = None
    time: Choice = None
    header: bool | None = None
    separator: str | None = None
    quotes: bool | None = None
    encoding: str = "utf-8"
    missing: Sequence[str] = ()
    unused: Sequence[str] = ()
    keep: Sequence[str] = ()
    event: Choice = None
    weights: Mapping[str, Real] | None = None
    decimal: str = "."
    time_unit: TimeUnit | None = None
    time_format: str | None = None
    implausible: Literal["refuse", "keep"] = "refuse"
    feedback: Feedback | None = None
    relevant_from: Real | None = None
    on_bad_rows: OnBadRows = "error"
    licence: str = "not stated"
    prepared: bool = True
    cache: str | None = None
    limits: Limits | Mapping[str, Any] | None = None

    group: ClassVar[str] = "dataset"  # of its settings, for messages
    skips: ClassVar[bool] = True  # whether users can set `on_bad_rows`

    def __post_init__(self) -> None:
        if not self._paths or not all(isinstance(path, str) and path for path in self._paths):
            raise ConfigError(f"Table: {self.path_name} must name a file or several, got {self.path!r}.")
        super().__post_init__()
        check_choice("Table: format", self.format, (None, *FORMATS))
        if self.separator == "":
            raise ConfigError("Table: separator must be at least one character or null, got an empty text.")
        check_encoding(self.encoding)
        if self.cache is not None and not (isinstance(self.cache, str) and self.cache.strip()):
            raise ConfigError(f"Table: cache must be a folder (or null), got {self.cache!r}.")
        self._check_weights()
        self._roles()
        Limits.of(self.limits)

    def _check_weights(self) -> None:
        if self.weights is None:
            if self.event is not None:
                raise ConfigError(
                    "Table: event names the column of events, which need weights. Set "
                    "'dataset.weights={view: 1, purchase: 5}', or choose rows with filters=[where]."
                )
            return
        if self.rating not in (None, False):
            raise ConfigError(
                "Table: a row has a rating or a weight. Leave out dataset.rating or dataset.weights."
            )
        if not isinstance(self.weights, Mapping):
            raise ConfigError(
                f"Table: weights are a mapping, such as {{view: 1, purchase: 5}}, not {shown(self.weights)}."
            )
        values = [
            check_real(f"Table: weights.{event}", weight, low=0.0, high=inf)
            for event, weight in self.weights.items()
        ]
        if not any(values):
            raise ConfigError("Table: weights must give an event a number above 0, such as {purchase: 1}.")

    @property
    def path_name(self) -> str:
        """The setting that names the files."""
        return "path"

    def with_attributes(self, names: Sequence[str]) -> Self:
        """Return the table with further columns of its rows."""
        return replace(self, keep=tuple(dict.fromkeys([*self.keep, *names])))

    @property
    def label(self) -> str:
        """The name that was given, else that of the first file."""
        first = self._paths[0]
        stem = Path(first.partition("?")[0] if "://" in first else first).name.split(".")[0].lower()
        return self.name or re.sub("[^a-z0-9]+", "_", stem).strip("_") or "table"

    @classmethod
    def about(cls, settings: Mapping[str, Any]) -> About:  # noqa: ARG003 - contract
        """Return whose data they are."""
        return About(terms="your own", origin="your files")

    def find(self, progress: Progress | None = None) -> None:  # noqa: ARG002 - nothing to tell
        """Find the files, and refuse those beyond the limits as far as their beginning tells."""
        self._files()

    def digest(self) -> str:
        """Return the digest of the files' bytes, without reading rows."""
        return join_digests(digests_of(_paths_of(self._files())))

    def load(self, progress: Progress | None = None) -> Dataset:
        """Read and check the files; `progress` is told which columns were taken and which rows left out.

        Raises
        ------
        MissingDataError
            If a file is absent.
        IntegrityError
            If a file cannot be unpacked.
        SchemaError
            If columns cannot be recognised, or a row is bad.
        ConfigError
            If a file is named twice.
        """
        progress = progress or Progress()
        files, name = self._files(), self.label
        prepared, digests = self._prepared(files, progress)
        _note_facts(prepared.facts, files, progress)
        if "time" not in prepared.facts["labels"] and (self.time_format or self.time_unit):
            raise ConfigError(
                f"{name}: there is no time column for dataset.time_format and dataset.time_unit. Set "
                "dataset.time=COLUMN, or leave them out."
            )
        n_bad = prepared.facts["n_bad"]
        return Dataset(
            name=name,
            interactions=prepared.interactions,
            feedback=self._judge_feedback("rating" in prepared.facts["labels"], name, progress),
            relevant_from=self.relevant_from,
            sha256=join_digests(digests),
            provenance="a table of the user's own" + f", {quantity(n_bad, 'bad row')} left out" * (n_bad > 0),
            source="; ".join(map(str, files)),
            licence=self.licence,
        )

    def labels(self) -> dict[Role, str]:
        """Return the name of each role's column, such as ``column 2`` without a header; reads the files."""
        labels: dict[Role, str] = self._prepared(self._files(), Progress())[0].facts["labels"]
        return labels

    def known_roles(self, names: Sequence[str], *, header: bool) -> dict[str, Role]:
        """Return the role of each of these columns that has one, by choice or by its usual name."""
        return {names[at]: role for role, at in self._roles().positions(names, header=header)[0].items()}

    def first_rows(self, n: int, *, header: bool | None = None) -> "pa.Table":
        """Return the first rows of the first file, a column for each of its columns; see `read_cells`.

        `header`: whether the first row names them; None: as it is read.
        """
        import pyarrow as pa

        file = self._files()[0]
        if not isinstance(file, StoredTable):
            if self.format in ("user_lines", "count_lines"):  # lines of one user's items, of any number
                lines = FORMATS[self.format].read(file, Roles({}, needed=()), self._text_format())
                items = [" ".join(own) for own in lines.cells["items"][:n]]
                return pa.table(
                    {lines.labels["user"]: lines.cells["user"].slice(0, n), lines.labels["item"]: items}
                )
            if header is None:
                header = not any(label.startswith("column ") for label in self.labels().values())
            rows = read_cells(file, replace(self._text_format(), header=header), skip=True)
            return pa.table(dict(rows.further)).slice(0, n)
        return next(file.dataset.get_fragments()).head(n)

    def _prepared(self, files: Sequence[Source], progress: Progress) -> tuple[Prepared, Sequence[str]]:
        """Return what reading gives, and the digest of each file."""
        paths, read = _paths_of(files), partial(self._read, files, self.label, progress)
        recipe = self._recipe(paths, files)
        return load_prepared(read, paths, recipe, progress, cache=self.cache, prepared=self.prepared)

    def _files(self) -> tuple[Source, ...]:
        limits, encoding = Limits.of(self.limits), check_encoding(self.encoding)
        usual = TableFile(Path(), self.member, limits, encoding, self.group)
        return find_sources(self._paths, self._roles(), usual, f"{self.group}.{self.path_name}")

    def _read(self, files: Sequence[Source], name: str, progress: Progress) -> Prepared:
        parts: list[Rows] = []
        roles = self._roles()
        with progress.step(f"read {name}", len(files), "files") as advance:
            for file in files:
                rows = read(file, roles, self._text_format(), form=self.format)
                if rows.problems and self.on_bad_rows == "error":
                    raise refuse(rows, roles, may_skip=self.skips)
                parts.append(rows if self.weights is None else weighted(rows, self.weights))
                advance(1)
        bad = [rows for rows in parts if rows.problems and not rows.left_out]
        if bad and not any(len(rows.lines) for rows in parts):
            raise refuse(bad[0], roles)
        joined = join(parts)
        return Prepared(joined, facts=_facts_of(parts, joined))

    def _roles(self) -> Roles:
        try:
            return Roles(
                TABLE if self.weights is None else WEIGHTED,
                choices=self._choices(),
                needed=(("user",), ("item",)) if self.weights is None else (("user",), ("item",), ("event",)),
                option=f"{self.group}.{{}}={{}}",
                setting=f"{self.group}.{{}}={{}}",
                cells=CellFormat.of(self),
            )
        except ConfigError as error:
            raise ConfigError(f"Table: {error}") from error

    def _recipe(self, paths: Sequence[Path | StoredFile], files: Sequence[Source]) -> dict[str, Any]:
        """Return all options that decide what reading gives; names and folders of files do not."""
        return {
            "source": "table",
            "format": self.format,
            "members": [
                [paths.index(file.files[0]), file.member, file.ending]
                if isinstance(file, TableFile)
                else [*map(paths.index, file.files)]
                for file in files
            ],
            "roles": self._choices(),
            "text": asdict(self._text_format()),
            "encoding": check_encoding(self.encoding),
            "cells": asdict(CellFormat.of(self)),
            "weights": self.weights and dict(self.weights),
            "bad": self.on_bad_rows,
        }

    def _text_format(self) -> TextFormat:
        return TextFormat(self.separator, self.header, self.quotes)

    def _judge_feedback(self, has_ratings: bool, name: str, progress: Progress) -> Feedback:
        if self.weights is not None:
            return self.feedback or "implicit"
        if not has_ratings and (self.feedback == "explicit" or self.relevant_from is not None):
            raise SchemaError(
                f"{name}: there is no rating column, so feedback cannot be explicit and relevant_from has "
                "nothing to compare with. Set dataset.rating=COLUMN, or unset dataset.feedback and "
                "dataset.relevant_from."
            )
        feedback = self.feedback or ("explicit" if has_ratings else "implicit")
        if feedback == "explicit" and self.relevant_from is None:
            progress.note(
                f"{name}: every held-out row counts as relevant, whatever its rating; "
                "set dataset.relevant_from=RATING to change that."
            )
        return feedback

    @property
    def _paths(self) -> tuple[str, ...]:
        return tuple(self.path) if isinstance(self.path, (list, tuple)) else (self.path,)  # type: ignore[return-value]

    def _choices(self) -> dict[Role, Choice]:
        choices: dict[Role, Choice] = {"user": self.user, "item": self.item, "time": self.time}
        return choices | ({"rating": self.rating} if self.weights is None else {"event": self.event})


def _paths_of(files: Sequence[Source]) -> list[Path | StoredFile]:
    """Return the files on disk of all sources, each once."""
    return list(dict.fromkeys(path for file in files for path in file.files))


def join_digests(digests: Sequence[str]) -> str:
    """Return the digest of the file, or of the digests of several."""
    return digests[0] if len(digests) == 1 else sha256("\n".join(digests).encode()).hexdigest()


def weighted(rows: Rows, weights: Mapping[str, float]) -> Rows:
    """Return rows whose ratings are the weights of their events, without those that are worth 0.

    Raises
    ------
    SchemaError
        If an event has no weight.
    """
    if rows.events is None:
        raise SchemaError(f"{rows.file}: there is no column of events. Name it with dataset.event=COLUMN.")
    worth = {str(event): float(weight) for event, weight in weights.items()}
    events = Attribute.of(rows.events)
    if unknown := [event for event in events.names.tolist() if event not in worth]:
        row = int(np.argmax(events.names[events.codes] == unknown[0]))
        pairs = ", ".join(f"{event}: {weight:g}" for event, weight in worth.items())
        raise SchemaError(
            f"{rows.where(row)}: the event {shown(unknown[0])} has no weight. Say what each is worth, 0 to "
            f"leave its rows out: 'dataset.weights={{{pairs}, "
            f"{', '.join(f'{event}: 0' for event in unknown[:5])}}}'."
        )
    weight = np.array([worth[event] for event in events.names.tolist()], np.float32)[events.codes]
    lines = lines_at(rows.lines, np.flatnonzero(weight == 0))
    left_out = (*rows.left_out, Problem("the event is worth 0", lines, "")) if len(lines) else rows.left_out
    labels: dict[Role, str] = {role: label for role, label in rows.labels.items() if role != "event"}
    labels["rating"] = f"weight of {rows.labels['event']}"
    weighed = replace(rows, labels=labels, numbers={"rating": weight}, left_out=left_out)
    return weighed.take(weight > 0)


def _facts_of(parts: Sequence[Rows], joined: Interactions) -> dict[str, Any]:
    """Return the columns' labels, and by the number of its file how it was read and what was left out."""
    remarks = [
        [number, describe_skipped(rows)]
        for number, rows in enumerate(parts)
        if rows.problems or rows.left_out
    ]
    understood: dict[str, list[int]] = {}
    for number, rows in enumerate(parts):
        understood.setdefault(rows.understood("rating", "time"), []).append(number)
    remarks_on_ids = [_spellings("user", joined.user_ids), _spellings("item", joined.item_ids)]
    return {
        "labels": dict(parts[0].labels),
        "spellings": list(filter(None, remarks_on_ids)),
        "understood": [[numbers[0], len(numbers), text] for text, numbers in understood.items()],
        "remarks": remarks,
        "n_bad": sum(rows.n_bad for rows in parts),
        "spans": spans(joined.value if "rating" in parts[0].labels else None, joined.timestamp),
    }


def _note_facts(facts: Mapping[str, Any], files: Sequence[Source], progress: Progress) -> None:
    """Say how files were read, so that a wrong guess is seen, and what was left out."""
    for number, remark in facts["remarks"]:
        progress.note(f"{files[number]}: {remark}.")
    span = f"; {facts['spans']}" if facts["spans"] else ""
    for number, n_files, text in facts["understood"]:
        more = f" and {n_files - 1:,} more" if n_files > 1 else ""
        progress.note(f"{files[number].name}{more}: {text}{span}.")
    for remark in facts.get("spellings", ()):
        progress.note(f"{files[0].name}: {remark}.")


def _spellings(name: str, ids: IdArray) -> str:
    """Return how many ids differ from others in their spelling alone; empty if hardly any do."""
    keys = spelling_keys(ids)
    counts = np.zeros(1) if keys is None else np.bincount(keys)
    n_more = int(np.maximum(counts - 1, 0).sum())
    if n_more < max(1, LEAST_SHARE * len(ids)):
        return ""
    pair = " and ".join(map(shown, ids[keys == np.argmax(counts)][:2].tolist()))
    n_ids = f"{n_more:,} of {len(ids):,} {name}s"
    return f"{n_ids} differ from others in spelling alone, as {pair}; they count apart"


def join(parts: Sequence[Rows]) -> Interactions:
    """Return the good rows of all files, in order."""
    for role in ("rating", "time"):
        have = [str(rows.file) for rows in parts if role in rows.labels]
        if 0 < len(have) < len(parts):
            raise SchemaError(
                f"Table: {listed(have)} has a {role} column, other files have none. Choose the columns, "
                f"or set dataset.{role}=false."
            )
    if not any(len(rows.lines) for rows in parts):
        files = listed(rows.file for rows in parts)
        if all(rows.header == "header" and not (rows.problems or rows.left_out) for rows in parts):
            raise SchemaError(f"{files}: has a header and no rows. Name a file with rows.")
        reasons = listed(describe_skipped(rows) for rows in parts)
        raise SchemaError(f"{files}: no row is left; {reasons}. Correct the files or the settings.")
    with ThreadPoolExecutor(2) as threads:
        users = threads.submit(join_ids, [rows.user for rows in parts], "user")
        items = threads.submit(join_ids, [rows.item for rows in parts], "item")
    (of_users, user_ids), (of_items, item_ids) = users.result(), items.result()
    user, item = np.concatenate(of_users), np.concatenate(of_items)
    ratings = [rows.numbers["rating"] for rows in parts if "rating" in rows.numbers]
    times = [rows.time for rows in parts if rows.time is not None]
    kept = {name: np.concatenate([rows.kept[name] for rows in parts]) for name in parts[0].kept}
    return Interactions(
        user,
        item,
        np.concatenate(ratings) if ratings else np.ones(len(user), np.float32),
        np.concatenate(times) if times else None,
        user_ids,
        item_ids,
        {name: Attribute.of(column) for name, column in kept.items()},
    )
