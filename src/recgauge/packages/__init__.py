"""One zip of finished runs for a paper or a colleague: what was run, on what, and what came out."""

import json
import re
import shlex
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copyfile, copyfileobj
from tempfile import TemporaryDirectory
from typing import Literal, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from recgauge._version import __version__
from recgauge.comparison.results import Comparison
from recgauge.errors import ConfigError, RecgaugeError, said
from recgauge.packages.page import package_page
from recgauge.report.comparison_tables import FORMATS, write_comparison
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import HITS, write_checksums
from recgauge.runs.record import JobFacts, RunRecord
from recgauge.runs.stored import LISTS, PER_USER, PREDICTIONS, TEST, read_table
from recgauge.sweeps.artifacts import CONVENTIONS, write_record
from recgauge.sweeps.ending import NAME, compare_finished
from recgauge.sweeps.places import store_of_user
from recgauge.tracking import find_runs
from recgauge.utils.checks import check_choice
from recgauge.utils.files import read_own, write_files
from recgauge.utils.messages import print_note
from recgauge.utils.secrets import without_secrets

FORMAT = 1
ABOUT, PAGE, RUNS = "package.json", "README.md", "runs"
RANKS, PREDICTED = "ranks.parquet", "predicted.parquet"
Lists = Literal["all", "relevant", "none"]

_COPIED = (PER_USER, "data_card.json", "data_card.md", CONVENTIONS, "precision_recall.parquet", "roc.parquet")
_WITH_ROWS = (TEST, PREDICTIONS)
_OPEN = re.compile(r"(MIT|CC0|PDDL|ODC-By|ODbL|public domain|CC[ -]BY(-SA)?)\b(?![ -]?N)", re.IGNORECASE)
"""Licences that let anybody pass rows on; not those "for non-commercial use" or "without derivatives"."""
_PLACES = ("mirror", "cache", "archive")
_HOMES = r"(?:/home/|/Users/|[A-Za-z]:(?:\\+|/)Users(?:\\+|/))[^/\\\s\"'<>|]+"


def package(
    sources: str | Path | Sequence[str | Path],
    out: str | Path = "package.zip",
    *,
    lists: Lists = "all",
    uri: str | None = None,
    experiment: str = "recgauge",
    search: str = "",
    overwrite: bool = False,
) -> Path:
    """Write finished runs as one zip that others can read and check: ``recgauge verify PACKAGE``.

    The same runs give the same bytes. Rows of a data set are in it only if its licence lets anybody pass them
    on; secrets, names of users and home folders are not.

    Parameters
    ----------
    sources : str, path or sequence of them
        Output folders of runs or sweeps, ids of runs, names of MLflow experiments, or ``experiment=NAME``;
        empty: the runs of `experiment`.
    out : str or path
    lists : {"all", "relevant", "none"}
        Whole lists, the ranks of the held-out items in them, or nothing.
    uri : str, optional
        Tracking store; the user's own if left out.
    experiment : str
        MLflow experiment that is meant where none is named.
    search : str
        Which of an experiment's runs, in MLflow's language.
    overwrite : bool
        Whether a file that is there may be replaced.

    Returns
    -------
    Path
        Of the zip.

    Raises
    ------
    RecgaugeError
        If a source is unknown, there is no finished run, or the file is there already.

    Examples
    --------
    >>> package("outputs/2026-01-01/12-00-00", "package.zip")  # doctest: +SKIP
    PosixPath('package.zip')
    """
    check_choice("lists", lists, get_args(Lists))
    named = [str(source) for source in ([sources] if isinstance(sources, (str, Path)) else sources)]
    file = Path(out)
    if file.exists() and not overwrite:
        raise ConfigError(f"{file}: is there already; name another file, or overwrite it (--overwrite).")
    wanted = (LISTS, HITS, *_WITH_ROWS, *_COPIED)
    jobs, notes = find_runs(named, uri or store_of_user(), experiment=experiment, where=search, files=wanted)
    for note in notes:
        print_note(note)
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        folder = Path(temporary)
        _write(folder, jobs, lists)
        write_files({file: lambda hidden: _write_zip(folder, hidden)})
    return file


def _write(folder: Path, jobs: Sequence[FinishedRun], lists: Lists) -> None:
    """Write everything that the zip gets."""
    records = [(job.record, job.folder) for job in jobs]
    # the order in which somebody names the runs changes nothing
    records.sort(key=lambda pair: (*_names(pair[0]), pair[0].seed, pair[0].fingerprint()))
    for number, (record, source) in enumerate(records):
        name = "-".join([f"{number:0{len(str(len(records) - 1))}}", *_names(record), f"seed{record.seed}"])
        target = folder / RUNS / re.sub(r"[^\w.-]+", "_", name)
        target.mkdir(parents=True)
        copy_tables(source, target, record, lists)
        write_record(_public(record), target)
    text = json.dumps({"format": FORMAT, "recgauge": __version__}, indent=1)
    (folder / ABOUT).write_text(text + "\n", encoding="utf-8")
    write_pages(folder, folder)
    for run in (folder / RUNS).iterdir():
        write_checksums(sorted(run.iterdir()), run)
    write_checksums(sorted(path for path in folder.rglob("*") if path.is_file()), folder)


def _names(record: RunRecord) -> tuple[str, str]:
    return record.names["dataset"], record.names["model"]


def may_share_rows(record: RunRecord) -> bool:
    """Whether the licence of a run's data set lets anybody pass its rows on."""
    return _OPEN.match(record.dataset.licence) is not None


def copy_tables(source: Path, target: Path, record: RunRecord, lists: Lists) -> None:
    """Copy the files of a run that may be passed on; of the others, what tells nothing of the rows."""
    names = [*_COPIED, *([LISTS] if lists == "all" else []), *(_WITH_ROWS if may_share_rows(record) else [])]
    for name in names:
        if (source / name).is_file():
            copyfile(source / name, target / name)
    if lists != "none" and not (target / LISTS).is_file() and (ranks := _ranks(source)) is not None:
        pq.write_table(ranks, target / RANKS, compression="zstd")
    if (source / PREDICTIONS).is_file() and not (target / PREDICTIONS).is_file():
        predicted = read_table(source / PREDICTIONS, ["predicted", "impossible"])
        pq.write_table(predicted, target / PREDICTED, compression="zstd")


def _ranks(folder: Path) -> pa.Table | None:
    """Return for each held-out row, in their order, the rank of its item in its user's list; 0: not in it.

    Who has the data set can draw the split again, and so knows which row is which; nobody else does.
    """
    stored = next((folder / name for name in (LISTS, HITS) if (folder / name).is_file()), None)
    if stored is None:
        return None
    pairs = ["user_id", "item_id"]
    rows = read_table(folder / TEST, pairs).to_pandas()
    lists = read_table(stored, [*pairs, "rank"]).to_pandas()
    ranks = {"rank": rows.merge(lists, how="left", on=pairs)["rank"].fillna(0).to_numpy("int32")}
    if stored.name == LISTS:  # hits.parquet does not say how long the lists are
        lengths = rows["user_id"].map(lists.groupby("user_id").size())
        ranks["length"] = lengths.fillna(0).to_numpy("int32")
    return pa.table(ranks)


def _public(record: RunRecord) -> RunRecord:
    """Return a record without what concerns nobody else: secrets, names, stores, folders of this machine."""
    settings = {key: node for key, node in record.settings.items() if key not in ("tracking", "data")}
    dataset = dict(settings.get("dataset") or {})
    dataset |= {name: None for name in _PLACES if name in dataset}
    if isinstance(path := dataset.get("path"), (str, list)):
        dataset["path"] = (
            Path(path).name if isinstance(path, str) else [Path(str(part)).name for part in path]
        )
    job = record.job and JobFacts(
        record.job.name, record.job.started, record.job.ended, experiment=record.job.experiment
    )
    public = replace(
        record,
        settings=without_secrets(settings | {"dataset": dataset}),
        command=_public_words(record),
        job=job,
    )
    return RunRecord.from_json(_without_homes(public.to_json()))


def _public_words(record: RunRecord) -> str:
    """Return the command without words that say where this machine has data and results."""
    places = ("tracking", "data.", "hydra.", *(f"dataset.{name}=" for name in _PLACES))
    try:
        words = shlex.split(record.command)
    except ValueError:
        return ""
    return shlex.join(without_secrets([word for word in words if not word.lstrip("+").startswith(places)]))


def _without_homes(text: str) -> str:
    home = str(Path.home())
    own = rf"{re.escape(home)}(?![\w.-])|" if len(home) > 1 else ""
    return re.sub(own + _HOMES, "~", text)


def runs_in(folder: Path) -> list[FinishedRun]:
    """Return the runs of an unpacked package, by their folders."""
    runs = sorted(path for path in (folder / RUNS).glob("*") if path.is_dir())
    return [FinishedRun.read(run, label=run.name) for run in runs]


def write_pages(folder: Path, target: Path) -> None:
    """Write what follows from the records and values of a package: pages, comparison, settings.

    `verify` writes it again and compares.
    """
    about = json.loads(read_own(folder / ABOUT))
    jobs = runs_in(folder)
    for job in jobs:
        run = target / RUNS / job.folder.name
        run.mkdir(parents=True, exist_ok=True)
        write_record(job.record, run)
    compared, notes = _compared(jobs)
    if compared is not None:
        write_comparison(compared, [target / f"{NAME}{suffix}" for suffix in FORMATS])
    shared = [may_share_rows(job.record) for job in jobs]
    text = package_page(jobs, compared, notes, shared=shared, version=about["recgauge"])
    (target / PAGE).write_text(text, encoding="utf-8")


def _compared(jobs: Sequence[FinishedRun]) -> tuple[Comparison | None, list[str]]:
    try:
        compared = compare_finished(jobs, len(jobs))
    except RecgaugeError as error:
        return None, [f"The runs are not compared: {said(error)}."]
    return compared, [] if compared else [
        "The runs are not compared: no two of them differ in the model alone."
    ]


def _write_zip(folder: Path, file: Path) -> None:
    """Write the files of a folder in the order of their names, at one time, unpacked: always the same bytes.

    Nearly all of them are compressed parquet, and what deflate writes depends on its version.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            member = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            member.external_attr, member.create_system = 0o644 << 16, 3
            with path.open("rb") as source, archive.open(member, "w", force_zip64=True) as target:
                copyfileobj(source, target)
