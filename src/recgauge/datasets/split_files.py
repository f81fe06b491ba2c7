"""A split that somebody published as two files, as a data set that a YAML file declares."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np

from recgauge.data.dataset import Dataset, PublishedParts, PublishedSplits
from recgauge.data.interactions import Interactions
from recgauge.datasets import About
from recgauge.datasets.archives import FileSource
from recgauge.datasets.published_files import PublishedFile, check_digest
from recgauge.datasets.table import join, join_digests
from recgauge.errors import ConfigError, SchemaError, said
from recgauge.files import columns
from recgauge.files.columns import CellFormat, Roles
from recgauge.files.formats import read
from recgauge.files.opening import TableFile
from recgauge.files.rows import Rows, refuse
from recgauge.files.text import TextFormat
from recgauge.utils.checks import Checked, Count, shown
from recgauge.utils.progress import Progress

FileFormat = Literal["text", "user_lines", "count_lines"]
"""A row of columns; a user and its items; the number of items and the items of the user of the line."""
Part = Literal["train", "test"]
Repeats = Literal["keep", "once"]
_COUNTS = ("n_rows", "n_users", "n_items")


@dataclass(frozen=True)
class SplitFile(Checked):
    """One file of a published split: where it is, by what it is recognised, and how it is read.

    Parameters
    ----------
    filename : str
        Its path in mirrors and in the cache folder.
    address : str
        Where it is offered, such as a repository's raw address at a commit.
    size : int
        Bytes.
    sha256 : str
        Hexadecimal digest.
    format : {"text", "user_lines", "count_lines"}
        Columns user, item and more; or on each line a user and its items; or on each line the number of items
        and the items, of the user whose id is the number of the line, from 0.
    header : bool
        Of "text": whether the first line names the columns.
    separator : str, optional
        What separates columns or ids; by default taken from the first line.
    """

    filename: str
    address: str
    size: Count
    sha256: str
    format: FileFormat = "text"
    header: bool = False
    separator: str | None = None

    def __post_init__(self) -> None:
        path = PurePosixPath(self.filename)
        if path.is_absolute() or {"..", ""} & {*path.parts, path.name} or "\\" in self.filename:
            raise ConfigError(
                f"filename must be a path below the mirror's folder, such as papers/mine/train.tsv; got "
                f"{self.filename!r}."
            )
        super().__post_init__()
        check_digest(self.sha256)


@dataclass(frozen=True)
class SplitFiles(FileSource):
    r"""A split, or data, that somebody published as plain files, such as the authors of a paper.

    Parameters
    ----------
    name : str
    train, test : SplitFile or mapping
        The two files. ``test=None``: one file has all rows, and a split is chosen as for other data.
    source, licence : str
        Source and terms of the data, recorded with each run.
    citation : str, optional
        What publications must cite.
    by_hand : str
        How to make the files, as a sentence that goes on, if nobody offers them in this form.
    repeats : {"keep", "once"}
        Of one file: whether a pair in several rows stays in all of them, or in the first alone, as where
        authors hold rows in a matrix of ones. A pair in both files stays in both.
    n_rows, n_users, n_items : int, optional
        What the data set must have; files that are read otherwise are refused.
    item_ids_below : int, optional
        Items are the whole numbers from 0 below this, also those without a row, as where authors hold rows in
        a matrix. By default those with a row.
    archive : str, optional
        A local folder with both files under their names; no other location is tried then.
    mirror : str, optional
        Folder or http(s) address that holds files under their `filename`.
    cache : str, optional
        Folder that keeps downloads; by default the user's own cache folder.
    offline : bool
        Never use the network.

    Raises
    ------
    ConfigError
        If a parameter is not valid.

    Notes
    -----
    Data are implicit: users and items are read, no ratings, which ``dataset=table split=published`` reads.
    The rows are those of the training file, then those of the test file, each in the file's order.
    ``Dataset.published`` has the one split that the files are: choose it with ``split=published``. A pair in
    both files stays in both; the guard `overlap` tells it. A file with another byte is refused, whatever a
    mirror says of it. Where each line is a user and the items, oldest first, there are no times;
    ``split=leave_one_out_last split.ties=row_order`` holds out the last ones.

    Examples
    --------
    >>> import hashlib, pathlib, tempfile
    >>> folder, files = pathlib.Path(tempfile.mkdtemp()), {}
    >>> for part, text in {"train": b"ann,x\nbob,x\nbob,y\n", "test": b"ann,y\n"}.items():
    ...     _ = (folder / f"{part}.csv").write_bytes(text)
    ...     digest = hashlib.sha256(text).hexdigest()
    ...     files[part] = SplitFile(f"{part}.csv", "https://example.org", len(text), digest)
    >>> mine = SplitFiles("mine", **files, source="our paper", licence="MIT", archive=str(folder)).load()
    >>> mine.interactions.counts
    '4 rows, 2 users, 2 items'
    """

    name: str
    train: SplitFile | Mapping[str, Any]
    test: SplitFile | Mapping[str, Any] | None
    source: str
    licence: str
    citation: str | None = None
    by_hand: str = ""
    repeats: Repeats = "keep"
    n_rows: Count | None = None
    n_users: Count | None = None
    n_items: Count | None = None
    item_ids_below: Count | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._split_files  # checks what they are

    @property
    def files(self) -> tuple[PublishedFile, ...]:
        """The training file and the test file, if there is one."""
        return tuple(_published(file, self.by_hand) for file in self._split_files.values())

    @property
    def _split_files(self) -> dict[Part, SplitFile]:
        return _files_of({"train": self.train, "test": self.test})

    @property
    def label(self) -> str:
        """The name."""
        return self.name

    @classmethod
    def about(cls, settings: Mapping[str, Any]) -> About:
        """Return the counts, terms and files that a YAML file declares."""
        files = tuple(_published(file, "") for file in _files_of(settings).values())
        n_rows, n_users, n_items = (settings.get(count) for count in _COUNTS)
        return About(n_rows, n_users, n_items, settings["licence"], files)

    def load(self, progress: Progress | None = None) -> Dataset:
        """Find, verify and read the files.

        Raises
        ------
        MissingDataError
            If no location has a file.
        IntegrityError
            If a file is not what it should be.
        SchemaError
            If a file is not of its format, or does not hold what is declared.
        """
        verified_files = self.fetch_all(progress)
        read_files = [
            self._read(part, file, verified.path)
            for (part, file), verified in zip(self._split_files.items(), verified_files, strict=True)
        ]
        published = None
        if len(read_files) > 1:
            held_out = self._without_repeats(join(read_files[1:]), 0)
            published = PublishedSplits(self.name, {"files": partial(PublishedParts, held_out)})
        rows = self._with_all_items(self._without_repeats(join(read_files), len(read_files[0].lines)))
        for count, n_read in zip(_COUNTS, (len(rows), rows.n_users, rows.n_items), strict=True):
            if (declared := getattr(self, count)) is not None and declared != n_read:
                raise SchemaError(
                    f"{self.name}: {count} must be {declared:,}, got {n_read:,} of "
                    f"{' and '.join(str(part.file) for part in read_files)}. Correct dataset.{count}, or "
                    "format and separator of the files."
                )
        return Dataset(
            name=self.name,
            interactions=rows,
            feedback="implicit",
            relevant_from=None,
            sha256=join_digests([file.sha256 for file in verified_files]),
            provenance="the published files, by their sha256"
            if published is None
            else "the two files of the published split, by their sha256",
            source=self.source,
            licence=self.licence,
            citation=self.citation,
            published=published,
        )

    def _without_repeats(self, rows: Interactions, n_train: int) -> Interactions:
        """Return the rows that count, of which the first `n_train` are those of the training file."""
        if self.repeats == "keep":
            return rows
        of_test = np.arange(len(rows)) >= n_train
        pairs = (of_test.astype(np.int64) * rows.n_users + rows.user) * rows.n_items + rows.item
        return rows.take(np.sort(np.unique(pairs, return_index=True)[1]))

    def _with_all_items(self, rows: Interactions) -> Interactions:
        if self.item_ids_below is None:
            return rows
        ids = np.arange(self.item_ids_below)
        if not np.isin(rows.item_ids, ids).all():
            raise SchemaError(
                f"{self.name}: item_ids_below must be above every item's id, got {self.item_ids_below}; the "
                f"files have {shown(rows.item_ids[~np.isin(rows.item_ids, ids)][0])}."
            )
        return replace(rows, item=rows.item_ids[rows.item], item_ids=ids)

    def _read(self, part: Part, file: SplitFile, path: Path) -> Rows:
        roles = Roles(
            {"user": columns.USERS, "item": columns.ITEMS},
            ("user", "item"),
            option="",
            setting=f"dataset.{part}.{{}}={{}}",
            cells=CellFormat(implausible="keep"),  # files of which every byte is known
        )
        how = TextFormat(file.separator, file.header if file.format == "text" else None)
        rows = read(TableFile(path, group=f"dataset.{part}"), roles, how, form=file.format)
        if rows.problems:
            raise refuse(rows, roles)
        return rows


def _files_of(settings: Mapping[str, Any]) -> dict[Part, SplitFile]:
    """Return the training file and, unless all rows are in that, the test file."""
    parts: tuple[Part, ...] = ("train",) if settings["test"] is None else ("train", "test")
    return {part: _split_file(part, settings[part]) for part in parts}


def _split_file(part: str, setting: SplitFile | Mapping[str, Any]) -> SplitFile:
    """Return a file that is set as such or as a mapping."""
    if isinstance(setting, SplitFile):
        return setting
    try:
        return SplitFile(**setting)
    except (ConfigError, TypeError) as error:
        names = ", ".join(field.name for field in fields(SplitFile))
        problem = said(error).removeprefix("SplitFile.__init__() ").removeprefix("SplitFile: ")
        raise ConfigError(f"SplitFiles: {part}: {problem}. It is a mapping of {names}.") from error


def _published(file: SplitFile, by_hand: str) -> PublishedFile:
    return PublishedFile(file.filename, file.address, file.size, file.sha256.lower(), by_hand=by_hand)
