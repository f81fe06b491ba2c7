"""``recgauge data``: which data sets there are, where they are, whether they are right, what is in them."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from recgauge.cli.commands.options import say
from recgauge.cli.commands.run_data import read_settings
from recgauge.cli.explain import group_options
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split, Step
from recgauge.datasets import About, DatasetSource
from recgauge.datasets.archives import FileSource, local_place
from recgauge.datasets.published_files import Locations, VerifiedFile
from recgauge.errors import MissingDataError
from recgauge.filters import Filter, apply_filters
from recgauge.report.blocks import TableBlock
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.report.data_card import DataCard, card_tables, data_card, write_card
from recgauge.runs.settings import RunSettings
from recgauge.runs.targets import TARGET, allowed_packages, find_class
from recgauge.splits import Splitter
from recgauge.sweeps.compose import build, build_dataset
from recgauge.sweeps.places import conf_folder
from recgauge.utils.randomness import stream

_MIB = 1 << 20
_OVERRIDES = "settings as of a run, such as data.mirror=FOLDER or dataset.archive=FILE"
_CARD = "also split=random, filters=[n_core], dataset.path=ratings.csv, seed=1"


def add_data_options(parser: ArgumentParser) -> None:
    """Add ``list``, ``fetch``, ``verify`` and ``card``."""
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for what, text in (
        ("list", "every data set: size, terms, whether its archive is here"),
        ("fetch", "download an archive that is not here, verified"),
        ("verify", "check the archive that is here; exit code 1 if it is wrong"),
        ("card", "what is in a data set: counts, ratings, popularity, time, train against test"),
    ):
        command = commands.add_parser(what, help=text, description=text)
        if what != "list":
            command.add_argument("name", metavar="NAME", help="data set, as `recgauge data list` shows")
        overrides = f"{_OVERRIDES}; {_CARD}" if what == "card" else _OVERRIDES
        command.add_argument("overrides", metavar="KEY=VALUE", nargs="*", default=[], help=overrides)
        if what == "card":
            out = "write data_card.md and figures, too"
            command.add_argument("--out", metavar="FOLDER", type=Path, help=out)


def run_data(options: Namespace) -> None:
    """Do what the command line asks for."""
    if options.what == "list":
        _list(options.overrides)
    elif options.what == "card":
        _card(options.name, options.overrides, options.out)
    elif (source := _with_files(options)) is not None:
        _fetch(options.name, source)


def _list(overrides: Sequence[str]) -> None:
    """Print every data set, its size and terms, and where its archive is."""
    settings = read_settings("demo", overrides)
    data = settings.data
    locations = Locations(None, data.cache, data.mirror, data.offline)
    rows = []
    for name, about in what_is_known(settings.allowed_targets).items():
        counts = (about.n_rows, about.n_users, about.n_items)
        size, here = "", about.origin
        if files := about.files:
            n_bytes = sum(file.size for file in files)
            size = f"{n_bytes / _MIB:.1f}" if n_bytes else "?"
            places = [local_place(file, locations) or "no" for file in files]
            here = places[0] if len(set(places)) == 1 else "in part"
        texts = ("?" if count is None else f"{count:,}" for count in counts)
        rows.append((name, *texts, size, here, about.terms))
    header = ("dataset", "rows", "users", "items", "MiB", "here", "terms")
    render_terminal([TableBlock("", header, tuple(rows), words=("here", "terms"))], output())
    say(f"cache    {locations.cache_folder}")
    for mirror in locations.mirrors:
        say(f"mirror   {mirror}")
    say("`recgauge data fetch NAME` gets an archive, `recgauge data card NAME` describes it")


def what_is_known(allowed_targets: Sequence[str]) -> dict[str, About]:
    """Return the facts about each data set with a config file, the smallest first, unknown sizes last."""
    packages, known = allowed_packages(allowed_targets), {}
    for name in group_options("dataset"):
        file = conf_folder() / "dataset" / f"{name}.yaml"
        settings: Any = OmegaConf.to_container(OmegaConf.load(file))
        source = find_class(settings.get(TARGET), str(file), packages)
        known[name] = source.about_declared(settings) if issubclass(source, DatasetSource) else About()
    return dict(sorted(known.items(), key=lambda item: (item[1].n_rows or inf, item[0])))


def _fetch(name: str, source: FileSource) -> None:
    """Find or download published files, verified, and print what they are."""
    progress = ConsoleProgress()
    with progress.stage(f"find {name}"):
        files = source.fetch_all(progress)
    for file in files:
        _tell(name, file)


def _with_files(options: Namespace) -> FileSource | None:
    """Return the data set's source, which ``verify`` lets take local files only; None if it has no files."""
    name = options.name
    offline = ["data.offline=true"] if options.what == "verify" else []
    settings = read_settings(name, [*options.overrides, *offline])
    source = build_dataset(settings.dataset, settings.allowed_targets)
    if isinstance(source, FileSource):
        return source
    origin = source.about(name).origin
    output().print(f"{name}: there is no archive" + (f" ({origin})" if origin else ""))
    return None


def _tell(name: str, file: VerifiedFile) -> None:
    lines = {name: str(file.path), "verified": file.provenance}
    lines["sha256"] = f"{file.sha256}, {file.path.stat().st_size:,} bytes"
    for word, text in lines.items():
        say(f"{word:<{max(8, len(name))}} {text}")


def _card(name: str, overrides: Sequence[str], folder: Path | None) -> None:
    """Print a data card, and write it with its figures if a folder is named."""
    settings = read_settings(name, overrides)
    with_split = any(word.lstrip("+~").startswith(("split=", "split.")) for word in overrides)
    dataset, split, steps = _load(settings, name, with_split=with_split)
    own_settings = {**settings.split, "seed": settings.seed} if with_split else None
    card = data_card(dataset, split, steps=steps, split_settings=own_settings)
    render_terminal(card_tables(card), output())
    if not with_split:
        say("\nsplit=random (or another split) adds train and test")
    if folder is not None:
        _write_card(card, dataset, folder)
        say(f"\nfiles    {folder}")


def _load(
    settings: RunSettings, name: str, *, with_split: bool
) -> tuple[Dataset, Split | None, tuple[Step, ...]]:
    """Do the first steps of a run: load, filter, split."""
    packages = allowed_packages(settings.allowed_targets)
    source = build_dataset(settings.dataset, settings.allowed_targets)
    nodes = {f"filters.{key}": node for key, node in (settings.filters or {}).items() if node is not None}
    filters = tuple(build(node, Filter, path, packages) for path, node in nodes.items())
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


def _write_card(card: DataCard, dataset: Dataset, folder: Path) -> None:
    from recgauge.report.figures.data import data_figures
    from recgauge.report.figures.style import save_png

    try:
        folder.mkdir(parents=True, exist_ok=True)
        figures = {}
        for name, figure in data_figures(dataset.interactions, dataset, dataset.name):
            figures[name.replace("_", " ")] = f"figures/{name}.png"
            save_png(figure, folder / "figures" / f"{name}.png")
        write_card(card, folder, figures)
    except OSError as error:
        raise MissingDataError(
            f"--out {folder}: cannot be written ({error.strerror or error}). Choose another folder."
        ) from error
