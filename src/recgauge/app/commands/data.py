"""``recgauge data``: which data sets there are, where they are, whether they are right, what is in them."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from rich.table import Table

from recgauge.app.compose import build, build_dataset
from recgauge.app.hydra_checks import checked_hydra
from recgauge.app.main import forget_empty_variables
from recgauge.app.settings import conf_folder, register_schema, typed_settings
from recgauge.app.targets import TARGET, allowed_packages, find_class
from recgauge.app.terminal.explain import Choices, explain_config_error, group_options
from recgauge.app.terminal.printing import ConsoleProgress, output, print_table
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split, Step
from recgauge.datasets import About, DatasetSource
from recgauge.datasets.archives import (
    ArchiveSource,
    find_archive,
    keep_in_cache,
    local_place,
)
from recgauge.datasets.published_files import Locations, VerifiedFile
from recgauge.errors import ConfigError, IntegrityError, MissingDataError
from recgauge.filters import Filter, apply_filters
from recgauge.report.data_card import DataCard
from recgauge.report.data_card.build import data_card, split_settings
from recgauge.report.data_card.page import CardTable, card_tables, write_card
from recgauge.runs.settings import RunSettings
from recgauge.splits import Splitter
from recgauge.utils.progress import NoProgress
from recgauge.utils.randomness import stream

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
            here = local_place(about.archive, locations) or "no"
        texts = ("?" if count is None else f"{count:,}" for count in counts)
        table.add_row(name, *texts, size, here, about.terms)
    console = output()
    print_table(console, table)
    console.print(f"cache    {locations.cache_folder}", soft_wrap=True)
    for mirror in locations.mirrors:
        console.print(f"mirror   {mirror}", soft_wrap=True)
    console.print("`recgauge data fetch NAME` gets an archive, `recgauge data card NAME` describes it")


def what_is_known(allowed_targets: Sequence[str]) -> dict[str, About]:
    """Return the facts about each data set with a config file, the smallest first, unknown sizes last.

    Parameters
    ----------
    allowed_targets : sequence of str
        Packages whose classes may be used.

    Raises
    ------
    ConfigError
        If a file names no such class.
    """
    packages, found = allowed_packages(allowed_targets), {}
    for name in group_options("dataset"):
        file = conf_folder() / "dataset" / f"{name}.yaml"
        target, own_name = (OmegaConf.select(OmegaConf.load(file), key) for key in (TARGET, "name"))
        source = find_class(target, str(file), packages)
        found[name] = source.about(own_name) if issubclass(source, DatasetSource) else About()
    known = sorted(found.items(), key=lambda one: (one[1].n_rows is None, one[1].n_rows or 0, one[0]))
    return dict(known)


def fetch_data(name: str, overrides: Sequence[str]) -> None:
    """Get an archive into the cache folder, verified, and print where it is.

    Raises
    ------
    DataError
        If no location has it, it is not what it should be, or the cache folder cannot keep it.
    """
    if (source := _with_archive(name, overrides)) is None:
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
    if (source := _with_archive(name, overrides)) is None:
        return
    archive, locations = source.published, source.locations
    if not local_place(archive, locations):
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


def _with_archive(name: str, overrides: Sequence[str]) -> ArchiveSource | None:
    """Return the data set's source; None, said to the user, if it has no archive."""
    settings = read_settings(name, overrides)
    source = build_dataset(settings.dataset, settings.allowed_targets)
    if isinstance(source, ArchiveSource):
        return source
    origin = source.about(name).origin
    output().print(f"{name}: there is no archive" + (f" ({origin})" if origin else ""))
    return None


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
            console.print(f"{word:<{max(8, len(name))}} {text}", soft_wrap=True)


def print_card(name: str, overrides: Sequence[str], folder: Path | None) -> None:
    """Print a data card, and write it with its figures if a folder is named.

    Parameters
    ----------
    name : str
        The data set.
    overrides : sequence of str
        Settings as of a run; filters are applied if named, a split is made if a word begins with ``split``.
    folder : Path or None
        Gets data_card.json, data_card.md and figures/*.png.

    Raises
    ------
    RecgaugeError
        If a setting, the data or the folder cannot be used.
    """
    settings = read_settings(name, overrides)
    asked = any(word.lstrip("+~").startswith(("split=", "split.")) for word in overrides)
    dataset, split, steps = _load(settings, name, with_split=asked)
    card = data_card(
        dataset,
        split,
        steps=steps,
        split_settings=split_settings(settings.split, settings.seed) if asked else None,
    )
    console = output()
    for table in card_tables(card):
        console.print(f"\n{table.title}", style="bold")
        if any(table.header):
            print_table(console, _drawn(table))
        else:
            width = max(len(row[0]) for row in table.rows)
            for word, text in table.rows:
                console.print(f"{word:<{width}}  {text}", soft_wrap=True)
    if not asked:
        console.print("\nsplit=random (or another split) adds train and test")
    if folder is not None:
        written = _write(card, dataset, split, folder)
        console.print(f"\nfiles    {written}", soft_wrap=True)


def _load(
    settings: RunSettings, name: str, *, with_split: bool
) -> tuple[Dataset, Split | None, tuple[Step, ...]]:
    """Do the first steps of a run: load, filter, split."""
    packages = allowed_packages(settings.allowed_targets)
    source = build_dataset(settings.dataset, settings.allowed_targets)
    nodes = (settings.filters or {}).items()
    kept = [(key, node) for key, node in nodes if node is not None]
    filters = tuple(build(node, Filter, f"filters.{key}", packages) for key, node in kept)
    splitter = build(settings.split, Splitter, "split", packages) if with_split else None
    progress = ConsoleProgress()
    with progress.stage(f"load {name}"):
        loaded = source.load(progress)
    with progress.stage("card"):
        dataset, steps = apply_filters(loaded, filters, seed=settings.seed)
        if splitter is None:
            return dataset, None, steps
        splitter = splitter.for_dataset(dataset)
        rng = stream(settings.seed, "split")
        return dataset, splitter.split(dataset.interactions, rng=rng, steps=steps, overlap=True), steps


def _write(card: DataCard, dataset: Dataset, split: Split | None, folder: Path) -> Path:
    from recgauge.report.figures.card import card_figures
    from recgauge.report.figures.style import save_png

    try:
        folder.mkdir(parents=True, exist_ok=True)
        figures = {}
        for name, figure in card_figures(card, dataset, split):
            figures[name.replace("_", " ")] = f"figures/{name}.png"
            save_png(figure, folder / "figures" / f"{name}.png")
        write_card(card, folder, figures)
    except OSError as error:
        raise MissingDataError(
            f"--out {folder}: cannot be written ({error.strerror or error}). Choose another folder."
        ) from error
    return folder


def _drawn(table: CardTable) -> Table:
    drawn = Table(pad_edge=False, box=None)
    for index, name in enumerate(table.header):
        drawn.add_column(name, justify="right" if index else "left")
    for row in table.rows:
        drawn.add_row(*row)
    return drawn


def read_settings(name: str, overrides: Sequence[str]) -> RunSettings:
    """Compose the settings of a data set.

    Parameters
    ----------
    name : str
        The data set, as in ``dataset=NAME``.
    overrides : sequence of str
        As on the command line of a run: ``split=random``, ``dataset.path=ratings.csv``.

    Raises
    ------
    ConfigError
        If there is no such data set, group, option or setting.
    """
    options = group_options("dataset")
    if name not in options:
        near = get_close_matches(name, options, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise ConfigError(f"{name}: there is no such data set. {hint}Data sets: {', '.join(options)}.")
    forget_empty_variables()
    register_schema()
    words = [f"dataset={name}", *overrides]
    try:
        with checked_hydra(words), initialize_config_dir(str(conf_folder()), version_base="1.3"):
            return typed_settings(compose("config", overrides=words))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain_config_error(error, Choices(words))) from error
