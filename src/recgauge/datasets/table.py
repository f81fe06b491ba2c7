"""Any table of interactions: CSV, TSV, ``::``, parquet, JSON lines, RecBole, LightGCN; packed or not."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from recgauge.data.dataset import Dataset, Feedback
from recgauge.datasets import About, DatasetSource
from recgauge.datasets._keeper import Inputs
from recgauge.datasets._table import FORMATS, Format, TableReader, facts_of, join, tell
from recgauge.datasets._table.columns import Choice, Roles, TextFormat, check_roles
from recgauge.datasets._table.files import TableFile, check_encoding, find_files, join_digests
from recgauge.datasets._table.limits import Limits
from recgauge.datasets._table.rows import TimeUnit, refuse
from recgauge.datasets.prepared import Prepared
from recgauge.errors import ConfigError, SchemaError
from recgauge.utils.checks import check_bool, check_choice, check_real
from recgauge.utils.memory import memory_named
from recgauge.utils.progress import NoProgress, Progress

OnBadRows = Literal["error", "skip"]
_BYTES_TO_JOIN = 40  # of memory per row: the columns as they were read, and as they stay


@dataclass(frozen=True)
class Table(DatasetSource):
    r"""A table of interactions in files of your own.

    Parameters
    ----------
    path : str or sequence of str
        Files, or patterns such as ``ratings-*.csv``; plain, gzip or zip. Rows keep the order of the files.
    name : str, optional
        Name of the data set; by default the first file's, without its ending, in lower case.
    format : {"text", "parquet", "jsonl", "recbole", "user_lines"}, optional
        By default taken from the file's ending (``.parquet``, ``.jsonl``, ``.inter``), else "text". With
        "user_lines" each line is a user followed by items.
    member : str, optional
        File to read inside zip archives that hold several.
    user, item : str or int, optional
        Name or position (from 0) of the column. By default usual names such as ``userId`` are recognised;
        without a header the columns are user, item, rating, time.
    rating, time : str, int or False, optional
        Likewise; False leaves the column out.
    header : bool, optional
        Whether the first line names the columns; by default it does if it holds the names looked for.
    separator : str, optional
        What separates fields; by default taken from the first line.
    quotes : bool, optional
        Whether fields may be in double quotes; by default with commas and semicolons only.
    encoding : str
        Of text files and JSON lines, such as "utf-16" or "iso-8859-1".
    time_unit : {"s", "ms", "us", "ns", "date"}
        What times count, or that they are ISO 8601 dates (UTC unless they say otherwise).
    feedback : {"explicit", "implicit"}, optional
        By default "explicit" if there is a rating column.
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
        before or while they are read. Never changes a number.

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
    format: Format | None = None
    member: str | None = None
    user: Choice = None
    item: Choice = None
    rating: Choice = None
    time: Choice = None
    header: bool | None = None
    separator: str | None = None
    quotes: bool | None = None
    encoding: str = "utf-8"
    time_unit: TimeUnit = "s"
    feedback: Feedback | None = None
    relevant_from: float | None = None
    on_bad_rows: OnBadRows = "error"
    licence: str = "not stated"
    prepared: bool = True
    cache: str | None = None
    limits: Limits | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self._paths or not all(isinstance(path, str) and path for path in self._paths):
            raise ConfigError(f"Table: path must name a file or several, got {self.path!r}.")
        self._check_choices()
        if self.separator == "":
            raise ConfigError("Table: separator must be at least one character or null, got an empty text.")
        if self.relevant_from is not None:
            check_real("Table: relevant_from", self.relevant_from, low=-float("inf"), high=float("inf"))
        check_encoding(self.encoding)
        if self.cache is not None and not (isinstance(self.cache, str) and self.cache.strip()):
            raise ConfigError(f"Table: cache must be a folder (or null), got {self.cache!r}.")
        check_roles(self._roles())
        Limits.of(self.limits)

    def _check_choices(self) -> None:
        for option, value, choices in (
            ("format", self.format, (None, *FORMATS)),
            ("time_unit", self.time_unit, get_args(TimeUnit)),
            ("feedback", self.feedback, (None, *get_args(Feedback))),
            ("on_bad_rows", self.on_bad_rows, get_args(OnBadRows)),
        ):
            check_choice(f"Table: {option}", value, choices)
        for option, flag in (("header", self.header), ("quotes", self.quotes)):
            if flag is not None:
                check_bool(f"Table: {option}", flag)
        check_bool("Table: prepared", self.prepared)

    @property
    def label(self) -> str:
        """The name that was given, else that of the first file."""
        stem = Path(self._paths[0]).name.split(".")[0].lower()
        return self.name or re.sub("[^a-z0-9]+", "_", stem).strip("_") or "table"

    @classmethod
    def about(cls, name: str | None = None) -> About:  # noqa: ARG003 - nothing is known of any
        """Return whose data they are."""
        return About(terms="your own", origin="your files")

    def find(self, progress: Progress | None = None) -> None:  # noqa: ARG002 - nothing to tell
        """Find the files, and refuse those beyond the limits as far as their beginning tells."""
        reader = self._reader()
        for file in self._files():
            reader.check_columns(file)

    def digest(self, progress: Progress | None = None) -> str:  # noqa: ARG002 - nothing to tell
        """Return the digest of the files' bytes, without reading rows."""
        return join_digests(self._inputs(self._files()).digests())

    def load(self, progress: Progress | None = None) -> Dataset:
        """Read and check the files.

        Parameters
        ----------
        progress : Progress, optional
            Notified about the columns that were taken, and about rows that were left out.

        Returns
        -------
        Dataset

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
        progress = progress or NoProgress()
        files = self._files()
        name, source = self.label, "; ".join(map(str, files))
        inputs = self._inputs(files)
        digests = inputs.digests()
        read = partial(self._read, files, name, progress)
        options = self._recipe(inputs.paths, files)
        found = inputs.get(read, digests, options, (name, source), progress)
        tell(found.facts, files, found.interactions, name, progress)
        n_bad = found.facts["n_bad"]
        return Dataset(
            name=name,
            interactions=found.interactions,
            feedback=self._judge_feedback("rating" in found.facts["labels"], name, progress),
            relevant_from=self.relevant_from,
            sha256=join_digests(digests),
            provenance="a table of the user's own" + (f", {n_bad:,} bad rows left out" if n_bad else ""),
            source=source,
            licence=self.licence,
        )

    def _files(self) -> tuple[TableFile, ...]:
        return find_files(self._paths, self.member, Limits.of(self.limits))

    def _inputs(self, files: Sequence[TableFile]) -> Inputs:
        return Inputs((file.path for file in files), self.cache, prepared=self.prepared)

    def _read(self, files: Sequence[TableFile], name: str, progress: Progress) -> Prepared:
        reader, parts = self._reader(), []
        with progress.step(f"read {name}", len(files), "files") as advance:
            for file in files:
                parts.append(reader.read(file))
                if parts[-1].problems and self.on_bad_rows == "error":
                    raise refuse(parts[-1])
                advance(1)
        with memory_named(name, sum(part.user.n_rows for part in parts), _BYTES_TO_JOIN):
            return Prepared(join(parts), facts=facts_of(parts))

    def _reader(self) -> TableReader:
        encoding = check_encoding(self.encoding)
        return TableReader(self.format, self._roles(), self._text_format(), self.time_unit, encoding)

    def _recipe(self, paths: Sequence[Path], files: Sequence[TableFile]) -> dict[str, Any]:
        """Return all options that decide what reading gives; names and folders of files do not."""
        return {
            "source": "table",
            "format": self.format,
            "members": [[paths.index(file.path), file.member, file.ending] for file in files],
            "roles": self._roles(),
            "text": asdict(self._text_format()),
            "encoding": check_encoding(self.encoding),
            "unit": self.time_unit,
            "bad": self.on_bad_rows,
        }

    def _text_format(self) -> TextFormat:
        dates = self.time_unit == "date"
        return TextFormat(self.separator, self.header, self.quotes, dates=dates)

    def _judge_feedback(self, has_ratings: bool, name: str, progress: Progress) -> Feedback:
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

    def _roles(self) -> Roles:
        return {"user": self.user, "item": self.item, "rating": self.rating, "time": self.time}
