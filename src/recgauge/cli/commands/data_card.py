"""``recgauge data card``: what is in a data set."""

from collections.abc import Sequence
from pathlib import Path

from recgauge.cli.commands.run_data import read_settings
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split, Step
from recgauge.errors import MissingDataError
from recgauge.filters import Filter, apply_filters
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.report.data_card import DataCard, card_tables, data_card, write_card
from recgauge.runs.settings import RunSettings
from recgauge.runs.targets import allowed_packages
from recgauge.splits import Splitter
from recgauge.sweeps.compose import build, build_dataset
from recgauge.utils.randomness import stream


def print_card(name: str, overrides: Sequence[str], folder: Path | None) -> None:
    """Print a data card, and write it with its figures if a folder is named."""
    settings = read_settings(name, overrides)
    with_split = any(word.lstrip("+~").startswith(("split=", "split.")) for word in overrides)
    dataset, split, steps = _load(settings, name, with_split=with_split)
    own_settings = {**settings.split, "seed": settings.seed} if with_split else None
    card = data_card(dataset, split, steps=steps, split_settings=own_settings)
    console = output()
    render_terminal(card_tables(card), console)
    if not with_split:
        console.print("\nsplit=random (or another split) adds train and test")
    if folder is not None:
        _write(card, dataset, folder)
        console.print(f"\nfiles    {folder}", soft_wrap=True)


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


def _write(card: DataCard, dataset: Dataset, folder: Path) -> None:
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
