"""``recgauge experiments``: lists the experiments; ``--run`` runs all whose data and libraries are there."""

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

import recgauge
from recgauge.cli.main import STOPPED, command_line, main
from recgauge.cli.settings import register_schema
from recgauge.cli.words import Words
from recgauge.errors import DataError, MissingDataError, MissingLibraryError
from recgauge.report.console import output
from recgauge.runs.environment import environment
from recgauge.runs.folder import file_digest
from recgauge.studies import Study, read_results
from recgauge.studies.published_table import VERDICTS, tally
from recgauge.sweeps.compose import build_dataset, build_study
from recgauge.sweeps.places import conf_folder, experiment_folder, experiments_folder, program, work_folder
from recgauge.utils.progress import NoProgress


def add_experiments_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``experiments``."""
    parser.add_argument("--run", action="store_true", help="run all whose data and libraries are there")


def run_experiments(options: Namespace) -> int:
    """List or run the experiments; return the exit code."""
    if options.run:
        return _run_all()
    console = output()
    for name in experiment_names():
        facts = describe(name)
        there = [f"{data} {'missing' if reason else 'present'}" for data, reason in facts.data.items()]
        console.print(f"\n{name}", style="bold")
        for line in (
            facts.question,
            f"run      {program()} experiment={name}   {facts.time}",
            f"data     {', '.join(there) or 'none needed'}",
            f"results  {facts.results or 'none yet'}",
        ):
            console.print(f"  {line}", soft_wrap=True)
    return 0


@dataclass(frozen=True)
class ExperimentFacts:
    """An experiment as its file describes it."""

    question: str
    time: str
    data: dict[str, str | None]  # why each data set is missing, None if it is there
    results: str


def _run_all() -> int:
    """Run all experiments whose data and libraries are there, each as ``recgauge run experiment=NAME``.

    They run in this process, so that libraries are imported once, and write their pages, not a report each.
    Those whose data or libraries are missing are named at the end and do not count as failures. One that has
    ended here, and nothing that it follows from has changed since, is not begun.
    """
    fates: dict[str, list[str]] = {"ran": [], "unchanged": [], "skipped": [], "failed": []}
    reasons: dict[str, str] = {}
    for name in experiment_names():
        ended = work_folder() / "outputs" / ".experiments" / name
        if ended.exists() and ended.read_text(encoding="utf-8") == _inputs(name):
            fates["unchanged"].append(name)
            continue
        code = _run(name, reasons)
        if code == STOPPED:
            return code
        if not code:
            ended.parent.mkdir(parents=True, exist_ok=True)
            ended.write_text(_inputs(name), encoding="utf-8")
        fates["failed" if code and name not in reasons else "skipped" if code else "ran"].append(name)
    _print(fates, reasons)
    return int(bool(fates["failed"]))


def _run(name: str, reasons: dict[str, str]) -> int:
    """Run an experiment and return the exit code; note the reason if it cannot begin."""
    output().print(f"\nexperiment={name}", style="bold")
    try:
        return command_line(partial(_begin, name, reasons), [f"experiment={name}", "report=false"])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _begin(name: str, reasons: dict[str, str], *config: DictConfig) -> None:
    try:
        main(*config)
    except (MissingDataError, MissingLibraryError) as error:
        reasons[name] = str(error).splitlines()[0].removesuffix(" Tried:")
        raise


def _print(fates: dict[str, list[str]], reasons: dict[str, str]) -> None:
    console = output()
    console.print(f"\n{len(fates['ran'])} experiments ran", style="bold")
    if fates["unchanged"]:
        how = f"{program()} experiment=NAME runs one again"
        names = ", ".join(fates["unchanged"])
        console.print(f"unchanged since they ended ({how}): {names}", soft_wrap=True)
    for name in fates["skipped"]:
        console.print(f"skipped  {name}: {reasons[name]}", soft_wrap=True)
    for name in fates["failed"]:
        console.print(f"failed   {name}")


def _inputs(name: str) -> str:
    """Return a digest of what an experiment follows from and leaves: code, settings, versions, store, page.

    Not of its data: each file has a digest of its own, which settings name.
    """
    facts = {key: fact for key, fact in environment().items() if not key.startswith("git_")}
    folders = Path(recgauge.__file__).parent, conf_folder(), experiment_folder(name)
    files = sorted({file for folder in folders for file in folder.rglob("*.*") if file.is_file()})
    known = [f"{file} {file_digest(file)}" for file in files if "__pycache__" not in file.parts]
    store = os.environ.get("MLFLOW_TRACKING_URI")
    return sha256(json.dumps([facts, store, known]).encode()).hexdigest()


def experiment_names() -> list[str]:
    """Return the names of all experiments."""
    return sorted(path.stem for path in (conf_folder() / "experiment").glob("*.yaml"))


def describe(name: str) -> ExperimentFacts:
    """Return what is known of an experiment; data that would have to be downloaded are missing."""
    question, time = question_and_time(name)
    register_schema()
    words = [f"experiment={name}", "data.offline=true"]
    config = Words({}, tuple(words)).composed()
    study = _study(config)
    data = {} if study is not None and not study.needs_runs else _data(config, name, words)
    results = "in the tracking store" if study is None else _results(name)
    return ExperimentFacts(question, time, data, results)


def study_of(name: str) -> Study | None:
    """Return the study of an experiment, None if it has none."""
    register_schema()
    return _study(Words({}, (f"experiment={name}",)).composed())


def _study(config: DictConfig) -> Study | None:
    node = None if config.study is None else OmegaConf.to_container(config.study, resolve=True)
    return build_study(node, [])


def _data(config: DictConfig, name: str, words: Sequence[str]) -> dict[str, str | None]:
    """Return why each data set of an experiment's jobs is missing, None if it is there."""
    params: Any = OmegaConf.to_container(config.hydra.sweeper.get("params") or OmegaConf.create({}))
    choosing = ("data", f"+experiment/{name}")  # files of an experiment may choose a data set
    about = [f"{key}={value}" for key, value in params.items() if str(key).startswith(choosing)]
    swept = OverridesParser.create().parse_overrides(about)
    choices = [
        [f"{word.get_key_element()}={value}" for value in word.sweep_string_iterator()]
        if word.is_sweep_override()
        else [str(word.input_line)]
        for word in swept
    ]
    first = [options[0] for options in choices]
    alone = [[*first[:n], one, *first[n + 1 :]] for n, options in enumerate(choices) for one in options]
    reasons: dict[str, str | None] = {}
    for some in alone or [first]:  # one choice at a time: a data set is chosen by one of them
        chosen = Words({}, (*words, *some)).composed()
        dataset = chosen.hydra.runtime.choices["dataset"]
        if dataset in reasons:
            continue
        node = OmegaConf.to_container(chosen.dataset, resolve=True)
        try:
            build_dataset(node, []).find(NoProgress())
            reasons[dataset] = None
        except DataError as error:
            reasons[dataset] = str(error)
    return reasons


def question_and_time(name: str) -> tuple[str, str]:
    """Return what an experiment asks and how long it takes, from the comments that its file begins with."""
    lines = []
    file = conf_folder() / "experiment" / f"{name}.yaml"
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            break
        lines.append(line.removeprefix("# "))
    said = [line for line in lines if not line.startswith(("@package", "recgauge run"))]
    times = [line for line in said if line.startswith("Takes ")]
    return " ".join(line for line in said if line not in times), " ".join(times)


def _results(name: str) -> str:
    """Return the tally of the published results, which in a checkout are those of the last run."""
    path = experiments_folder() / name / "results.csv"
    if not path.is_file():
        return ""
    rows = read_results(path)
    verdicts = [row["verdict"] for row in rows if row.get("verdict") in VERDICTS]
    return tally(verdicts) if verdicts else f"{len(rows)} numbers"
