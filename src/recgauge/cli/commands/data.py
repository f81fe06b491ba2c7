"""``recgauge data``: which data sets there are, where they are, whether they are right, what is in them."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from recgauge.cli.commands.look import look_at
from recgauge.cli.commands.options import say, write_out
from recgauge.cli.explain import group_options
from recgauge.cli.run_data import read_settings
from recgauge.data.card import DataCard, data_card
from recgauge.data.dataset import Dataset
from recgauge.datasets import About, DatasetSource
from recgauge.datasets.archives import FileSource, local_place
from recgauge.datasets.published_files import Locations
from recgauge.errors import ConfigError, did_you_mean
from recgauge.filters import apply_filters
from recgauge.report.blocks import TableBlock
from recgauge.report.card_tables import card_markdown, card_tables
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.runs.targets import TARGET, allowed_packages, find_class
from recgauge.sweeps.compose import build_dataset, compose_plan
from recgauge.sweeps.places import conf_folder
from recgauge.utils.files import text_writer
from recgauge.utils.randomness import stream

_MIB = 1 << 20
_LOOK = """dataset.user=COLUMN, likewise item, rating and time, positions from 0 without a header;
dataset.header=false; 'dataset.separator=";"'; dataset.encoding=cp1252; 'dataset.decimal=","' (as 1,5);
'dataset.time_format="%%d.%%m.%%Y"'; 'dataset.missing=[NA]'; 'dataset.unused=[COLUMN]'; see docs/data.md"""
_OVERRIDES = "settings as of a run, such as data.mirror=FOLDER or dataset.archive=FILE"
_CARD = "also split=random, 'filters=[n_core]', dataset.path=ratings.csv, seed=1"

_EXAMPLES = {
    "look": "shop.csv dataset.time=Date 'dataset.time_format=\"%d.%m.%Y\"'",
    "fetch": "ml_100k data.cache=FOLDER",
    "verify": "ml_100k",
    "card": "ml_100k split=random_per_user",
}


def add_data_options(parser: ArgumentParser) -> None:
    """Add ``list``, ``fetch``, ``verify``, ``look`` and ``card``."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="WHAT")
    for action, text in (
        ("list", "every data set: size, terms, whether its archive is here"),
        ("fetch", "download an archive that is not here, verified"),
        ("verify", "check the archive that is here; exit code 1 if it is wrong"),
        ("look", "the first rows of a file of yours, what each column is taken for, and the command to copy"),
        ("card", "what is in a data set: counts, ratings, popularity, time, train against test"),
    ):
        command = commands.add_parser(action, help=text, description=text)
        if action != "list":
            is_file = action == "look"
            name = "a file, pattern or folder" if is_file else "data set, as `recgauge data list` shows"
            command.add_argument("name", metavar="FILE" if is_file else "NAME", help=name)
        overrides = {"card": f"{_OVERRIDES}; {_CARD}", "look": _LOOK}.get(action, _OVERRIDES)
        if action in _EXAMPLES:
            command.epilog = f"example: recgauge data {action} {_EXAMPLES[action]}"
        command.add_argument("overrides", metavar="KEY=VALUE", nargs="*", default=[], help=overrides)
        parser.set_defaults(actions=[*commands.choices])
        if action == "card":
            out = "write data_card.md and figures, too"
            command.add_argument("--out", metavar="FOLDER", type=Path, help=out)


def run_data(options: Namespace) -> int:
    """Do what the command line asks for, and return the exit code.

    Examples
    --------
    recgauge data look ratings.csv
        what your file is taken for, and the command to copy
    recgauge data card ml_100k split=random_per_user
        what is in a data set
    """
    if options.action == "list":
        _list(options.overrides)
    elif options.action == "look":
        return look_at(options.name, options.overrides)
    elif options.action == "card":
        _card(options.name, options.overrides, options.out)
    else:
        _fetch(options)
    return 0


def _list(overrides: Sequence[str]) -> None:
    """Print every data set, its size and terms, and where its archive is."""
    settings = read_settings("demo", overrides)
    data = settings.data
    locations = Locations(cache=data.cache, mirror=data.mirror, offline=data.offline)
    rows = []
    for name, about in dataset_facts(settings.allowed_targets).items():
        counts = (about.n_rows, about.n_users, about.n_items)
        size, here = "", about.origin
        if files := about.files:
            n_bytes = sum(file.size for file in files)
            size = f"{n_bytes / _MIB:.1f}" if n_bytes else "?"
            origins = {local_place(file, locations) or "no" for file in files}
            here = origins.pop() if len(origins) == 1 else "in part"
        texts = ("?" if count is None else f"{count:,}" for count in counts)
        rows.append((name, *texts, size, here, about.terms))
    header = ("dataset", "rows", "users", "items", "MiB", "here", "terms")
    render_terminal([TableBlock("", header, tuple(rows), words=("here", "terms"))], output())
    say(f"cache    {locations.cache_folder}")
    if locations.mirror is not None:
        say(f"mirror   {locations.mirror}")
    say("`recgauge data fetch NAME` gets an archive, `recgauge data card NAME` describes it")


def dataset_facts(allowed_targets: Sequence[str]) -> dict[str, About]:
    """Return the facts about each data set with a config file, the smallest first, unknown sizes last."""
    packages, about_of = allowed_packages(allowed_targets), {}
    for name in group_options("dataset"):
        file = conf_folder() / "dataset" / f"{name}.yaml"
        settings: Any = OmegaConf.to_container(OmegaConf.load(file))
        source = find_class(settings.get(TARGET), str(file), packages)
        about_of[name] = source.about(settings) if issubclass(source, DatasetSource) else About()
    return dict(sorted(about_of.items(), key=lambda item: (item[1].n_rows or inf, item[0])))


def _fetch(options: Namespace) -> None:
    """Find or download published files, verified, and print what they are; ``verify`` takes local ones."""
    name, progress = options.name, ConsoleProgress()
    if name not in (names := group_options("dataset")):
        hint = did_you_mean(name, names)
        raise ConfigError(f"{name}: there is no such data set. {hint}`recgauge data list` shows all.")
    offline = ["data.offline=true"] if options.action == "verify" else []
    settings = read_settings(name, [*options.overrides, *offline])
    source = build_dataset(settings.dataset, settings.allowed_targets)
    if not isinstance(source, FileSource):
        origin = source.about(settings.dataset).origin
        say(f"{name}: there is no archive" + (f" ({origin})" if origin else ""))
        return
    with progress.stage(f"find {name}"):
        files = source.fetch_all(progress)
    for file in files:
        digest = f"{file.sha256}, {file.path.stat().st_size:,} bytes"
        for word, text in {name: file.path, "verified": file.provenance, "sha256": digest}.items():
            say(f"{word:<{max(8, len(name))}} {text}")


def _card(name: str, overrides: Sequence[str], folder: Path | None) -> None:
    """Do the first steps of a run, print the data card, and write it with figures if a folder is named."""
    settings, progress = read_settings(name, overrides), ConsoleProgress()
    plan = compose_plan(settings)
    split = split_settings = None
    with progress.stage(f"load {name}"):
        loaded = plan.dataset.load(progress)
    with progress.stage("card"):
        dataset, steps = apply_filters(loaded, plan.filters, seed=plan.seed)
        rows, rng = dataset.interactions, stream(plan.seed, "split")
        if any(word.lstrip("+~").startswith(("split=", "split.")) for word in overrides):
            split = plan.splitter.for_dataset(dataset).split(rows, rng=rng, steps=steps, overlap=True)
            split_settings = {**settings.split, "seed": plan.seed}
        card = data_card(dataset, split, steps=steps, split_settings=split_settings)
    render_terminal(card_tables(card), output())
    if split is None:
        say("\nsplit=random (or another split) adds train and test")
    if folder is not None:
        _write_card(card, dataset, folder)


def _write_card(card: DataCard, dataset: Dataset, folder: Path) -> None:
    from recgauge.report.figures.run import plot_long_tail
    from recgauge.report.figures.style import save_png

    figure = plot_long_tail(dataset.interactions.item_counts(), title=f"Long tail of {dataset.name}")
    file = "figures/long_tail.png"
    texts = {"data_card.json": card.to_json(), "data_card.md": card_markdown(card, {"long tail": file})}
    write_out(
        {folder / name: text_writer(text) for name, text in texts.items()}
        | {folder / file: partial(save_png, figure)}
    )
