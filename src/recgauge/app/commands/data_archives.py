"""``recgauge data list``, ``fetch`` and ``verify``: archives on this machine."""

from collections.abc import Sequence
from dataclasses import replace

from rich.table import Table

from recgauge.app.commands.data_settings import read_settings, source_of, what_is_known
from recgauge.app.terminal.console import ConsoleProgress, output
from recgauge.app.terminal.printing import print_table
from recgauge.datasets import DatasetSource
from recgauge.datasets.archives import ArchiveSource, find_archive, keep_in_cache, local_copy
from recgauge.datasets.published_files import Locations, VerifiedFile
from recgauge.errors import IntegrityError, MissingDataError
from recgauge.utils.progress import NoProgress

_MIB = 1 << 20


def list_data(overrides: Sequence[str]) -> None:
    """Print every data set, its size and terms, and where its archive is."""
    settings = read_settings("demo", overrides)
    data = settings.data
    locations = Locations(None, data.cache, data.mirror, data.offline)
    table = Table(pad_edge=False, box=None)
    for name in ("dataset", "rows", "users", "items", "MiB"):
        table.add_column(name, justify="left" if name == "dataset" else "right", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("terms")
    for name, about in what_is_known(settings.allowed_targets).items():
        counts = (about.n_rows, about.n_users, about.n_items)
        size, here = "", about.origin
        if about.archive is not None:
            size = f"{about.archive.size / _MIB:.1f}" if about.archive.size else "?"
            found = local_copy(about.archive, locations)
            here = found[0] if found else "no"
        texts = ("?" if count is None else f"{count:,}" for count in counts)
        table.add_row(name, *texts, size, here, about.terms)
    console = output()
    print_table(console, table)
    console.print(f"cache    {locations.cache_folder}", markup=False, soft_wrap=True)
    for mirror in locations.mirrors:
        console.print(f"mirror   {mirror}", markup=False, soft_wrap=True)
    console.print("`recgauge data fetch NAME` gets an archive, `recgauge data card NAME` describes it")


def fetch_data(name: str, overrides: Sequence[str]) -> None:
    """Get an archive into the cache folder, verified, and print where it is.

    Raises
    ------
    DataError
        If no location has it, it is not what it should be, or the cache folder cannot keep it.
    """
    source = source_of(read_settings(name, overrides))
    if not isinstance(source, ArchiveSource):
        _say_there_is_none(name, source)
        return
    progress = ConsoleProgress()
    with progress.stage(f"fetch {name}"):
        file, remark = keep_in_cache(source.fetch(progress), source.locations)
    _tell(name, file, remark)


def verify_data(name: str, overrides: Sequence[str]) -> None:
    """Check the local archive that a run would take, without any network, and print what it is.

    Raises
    ------
    MissingDataError
        If there is none.
    IntegrityError
        If it is not what it should be.
    """
    source = source_of(read_settings(name, overrides))
    if not isinstance(source, ArchiveSource):
        _say_there_is_none(name, source)
        return
    archive, locations = source.published, source.locations
    if local_copy(archive, locations) is None:
        mirrors = "".join(f", nor in the mirror {mirror}" for mirror in locations.mirrors)
        raise MissingDataError(
            f"{name}: {archive.filename} is not in the cache folder {locations.cache_folder}{mirrors}; there "
            f"is nothing to verify. Get it with `recgauge data fetch {name}`."
        )
    try:
        with ConsoleProgress().stage(f"verify {name}"):
            found = find_archive(archive, replace(locations, offline=True), NoProgress())
    except IntegrityError as error:
        again = "" if locations.archive else f" Without it, `recgauge data fetch {name}` downloads it again."
        raise IntegrityError(f"{error}{again}") from error
    _tell(name, found, "")


def _say_there_is_none(name: str, source: DatasetSource) -> None:
    origin = source.about(name).origin
    output().print(f"{name}: there is no archive" + (f" ({origin})" if origin else ""), markup=False)


def _tell(name: str, file: VerifiedFile, remark: str) -> None:
    console = output()
    lines = {
        name: f"{file.path}",
        "verified": file.provenance,
        "sha256": f"{file.sha256}, {file.path.stat().st_size:,} bytes",
        "note": remark,
    }
    for word, text in lines.items():
        if text:
            console.print(f"{word:<{max(8, len(name))}} {text}", markup=False, soft_wrap=True)
