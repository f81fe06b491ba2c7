"""One zip of finished runs for a paper or a colleague: their folders, digests of all files, and a page."""

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from recgauge.errors import ConfigError
from recgauge.packages.public import FILES, write_public_run
from recgauge.packages.unpacking import RUNS
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import write_checksums
from recgauge.sweeps.places import store_of_user
from recgauge.tracking.finding import find_runs
from recgauge.utils.files import write_files
from recgauge.utils.messages import print_note


def package(
    sources: str | Path | Sequence[str | Path],
    out: str | Path = "package.zip",
    *,
    uri: str | None = None,
    experiment: str = "recgauge",
    search: str = "",
    overwrite: bool = False,
) -> Path:
    """Write finished runs as one zip that others can read and check: ``recgauge verify PACKAGE``.

    Rows of data sets, secrets, names of users and home folders are not in it.

    Parameters
    ----------
    sources : str, path or sequence of them
        Output folders of runs or sweeps, ids of runs, names of MLflow experiments, or ``experiment=NAME``;
        empty: the runs of `experiment`.
    out : str or path
    uri : str, optional
        Tracking store; the user's own if left out.
    experiment : str
        MLflow experiment that is meant where none is named.
    search : str
        Which of an experiment's runs, in MLflow's language.
    overwrite : bool
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        Of the zip.

    Raises
    ------
    RecgaugeError
        If a source is unknown, there is no finished run, or the file exists.

    Examples
    --------
    >>> package("outputs/2026-01-01/12-00-00", "package.zip")  # doctest: +SKIP
    PosixPath('package.zip')
    """
    names = [str(source) for source in ([sources] if isinstance(sources, (str, Path)) else sources)]
    file = Path(out)
    if file.exists() and not overwrite:
        raise ConfigError(f"{file}: is there already; name another file, or overwrite it (--overwrite).")
    store = uri or store_of_user()
    runs, notes = find_runs(names, store, experiment=experiment, where=search, files=FILES, every_choice=True)
    for note in notes:
        print_note(note)
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        folder = Path(temporary)
        _write_folder(runs, folder)
        write_files({file: lambda hidden: _write_zip(folder, hidden)})
    return file


def _write_folder(finished: Sequence[FinishedRun], folder: Path) -> None:
    """Write everything that the zip gets."""
    from recgauge.packages.page import write_pages  # brings matplotlib

    def names(run: FinishedRun) -> tuple[str, str]:
        return run.record.names["dataset"], run.record.names["model"]

    # the order in which a user names the runs changes nothing
    runs = sorted(finished, key=lambda run: (*names(run), run.record.seed, run.record.fingerprint()))
    digits = len(str(len(runs) - 1))
    for number, run in enumerate(runs):
        name = "-".join([f"{number:0{digits}}", *names(run), f"seed{run.record.seed}"])
        target = folder / RUNS / re.sub(r"[^\w.-]+", "_", name)
        target.mkdir(parents=True)
        write_public_run(run.folder, run.record, target)
        write_checksums(sorted(target.iterdir()), target)
    write_pages(folder, folder)
    write_checksums(sorted(path for path in folder.rglob("*") if path.is_file()), folder)


def _write_zip(folder: Path, file: Path) -> None:
    """Write the files of a folder, unpacked: nearly all of them are compressed parquet."""
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
