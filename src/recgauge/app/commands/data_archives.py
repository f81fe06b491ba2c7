"""``recgauge data list``, ``fetch`` and ``verify``: archives on this machine."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rich.table import Table

from recgauge.app.commands.data_registry import entries, entry, place_of
from recgauge.app.commands.data_settings import read_settings, source_of
from recgauge.app.terminal.console import ConsoleProgress, output
from recgauge.app.terminal.printing import print_table
from recgauge.datasets._fetch.places import Places
from recgauge.datasets._fetch.storage import explain_storage
from recgauge.datasets._fetch.verify import VerifiedFile
from recgauge.errors import IntegrityError, MissingDataError
from recgauge.utils.files import exclusive
from recgauge.utils.progress import NoProgress

_MIB = 1 << 20


def list_data(overrides: Sequence[str]) -> None:
    """Print every data set, its size and terms, and where its archive lies."""
    data = read_settings("demo", overrides).data
    places = Places(None, data.cache, data.mirror, data.offline)
    table = Table(pad_edge=False, box=None)
    for name in ("dataset", "rows", "users", "items", "MiB"):
        table.add_column(name, justify="left" if name == "dataset" else "right", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("terms")
    for one in entries():
        counts = ("?" if count is None else f"{count:,}" for count in one.counts)
        size = "" if one.file is None else f"{one.file.size / _MIB:.1f}" if one.file.size else "?"
        here = None if one.file is None else place_of(one.file, places)
        where = here[0] if here else {"demo": "generated", "table": "dataset.path"}.get(one.name, "no")
        table.add_row(one.name, *counts, size, where, one.terms)
    console = output()
    print_table(console, table)
    console.print(f"cache    {places.cache_folder}", markup=False, soft_wrap=True)
    for mirror in places.mirrors:
        console.print(f"mirror   {mirror}", markup=False, soft_wrap=True)
    console.print("`recgauge data fetch NAME` gets an archive, `recgauge data card NAME` describes it")


def fetch_data(name: str, overrides: Sequence[str]) -> None:
    """Get an archive into the cache folder, verified, and print where it lies.

    Raises
    ------
    DataError
        If no place has it, it is not what it should be, or the cache folder cannot keep it.
    """
    source = source_of(read_settings(name, overrides))
    if not hasattr(source, "fetch"):
        output().print(f"{name}: {_needs_no_archive(name)}", markup=False)
        return
    progress = ConsoleProgress()
    with progress.stage(f"fetch {name}"):
        file = source.fetch(progress)
        file, remark = _keep(file, _places(source))
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
    source: Any = source_of(read_settings(name, overrides))
    if not hasattr(source, "fetch"):
        output().print(f"{name}: {_needs_no_archive(name)}", markup=False)
        return
    file, places = entry(name).file, _places(source)
    if file is not None and place_of(file, places) is None:
        mirrors = "".join(f", nor in the mirror {mirror}" for mirror in places.mirrors)
        raise MissingDataError(
            f"{name}: {file.filename} is not in the cache folder {places.cache_folder}{mirrors}; there is "
            f"nothing to verify. Get it with `recgauge data fetch {name}`."
        )
    try:
        with ConsoleProgress().stage(f"verify {name}"):
            found = replace(source, offline=True).fetch(NoProgress())
    except IntegrityError as error:
        again = "" if places.archive else f" Without it, `recgauge data fetch {name}` gets it anew."
        raise IntegrityError(f"{error}{again}") from error
    _tell(name, found, "")


def _needs_no_archive(name: str) -> str:
    if name == "demo":
        return "is generated on the spot; there is no archive."
    return "is read from files of your own (dataset.path=FILE); there is no archive."


def _places(source: Any) -> Places:
    return Places(source.archive, source.cache, source.mirror, source.offline, source.sha256)


def _keep(file: VerifiedFile, places: Places) -> tuple[VerifiedFile, str]:
    """Copy an archive from a mirror folder into the cache, if it can be verified there, too."""
    target = places.cache_folder / file.path.name
    if places.archive is not None:
        return file, "the archive that you named; nothing was copied"
    if file.path == target:
        return file, ""
    if file.provenance.startswith("not the publisher's"):
        return (
            file,
            "left where it is, since only the mirror's list of digests or your pin vouches for it",
        )
    hidden = target.with_name(f".{target.name}.copy")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(target.with_name(f".{target.name}.lock"), lambda: None):
            shutil.copyfile(file.path, hidden)
            hidden.replace(target)
    except OSError as error:
        with suppress(OSError):
            hidden.unlink()
        raise explain_storage(error, target, file.path.stat().st_size, 0) from error
    return replace(file, path=target), f"copied from {file.path}"


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
