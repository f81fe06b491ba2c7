"""``recgauge experiments``: lists the experiments; ``--run`` runs all whose data can be had."""

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

from recgauge.app.compose import build_study
from recgauge.app.hydra_checks import checked_hydra
from recgauge.app.main import STOPPED, run_command
from recgauge.app.places import conf_folder, experiments_folder, program
from recgauge.app.settings import register_schema
from recgauge.app.sweep.begin import grid_datasets, grid_jobs, missing_data
from recgauge.app.terminal.printing import output
from recgauge.errors import DataError
from recgauge.studies import read_results
from recgauge.studies.published import VERDICTS, tally
from recgauge.utils.progress import NoProgress


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``experiments``."""
    parser.add_argument("--run", action="store_true", help="run all whose data can be had")


def carry_out(asked: Namespace) -> int:
    """List or run the experiments; return the exit code."""
    return run_experiments() if asked.run else list_experiments()


@dataclass(frozen=True)
class ExperimentFacts:
    """An experiment as its file describes it.

    Parameters
    ----------
    name : str
    question : str
    time : str
        Roughly, such as "Takes about 1 minute."; empty if the file does not say.
    data : dict of str to str or None
        Data set to why it is missing, None if it is there.
    results : str
        The verdicts of the last run, from results.csv; empty if it has not run.
    """

    name: str
    question: str
    time: str
    data: dict[str, str | None]
    results: str

    @property
    def is_runnable(self) -> bool:
        """Whether there are data for one job at least."""
        return not self.data or any(reason is None for reason in self.data.values())


def list_experiments() -> int:
    """Print question, command, data and last results of every experiment; return the exit code."""
    console = output()
    for name in experiment_names():
        facts = describe(name, offline=True)
        console.print(f"\n{name}", style="bold")
        for line in _lines(facts):
            console.print(f"  {line}", soft_wrap=True)
    return 0


def run_experiments() -> int:
    """Run all experiments whose data can be had, each as ``recgauge run experiment=NAME``.

    Returns
    -------
    int
        0 if all that ran did so without a failure; experiments that are left out since their data are missing
        are named at the end and do not count as failures.
    """
    failed, skipped = [], []
    for name in experiment_names():
        facts = describe(name, offline=False)
        if not facts.is_runnable:
            missing = [f"{one}: {reason.splitlines()[0]}" for one, reason in facts.data.items() if reason]
            skipped.append(f"{name}: {'; '.join(missing)}")
            continue
        output().print(f"\nexperiment={name}", style="bold")
        code = _run(name)
        if code == STOPPED:
            return code
        if code:
            failed.append(name)
    console = output()
    console.print(f"\n{len(experiment_names()) - len(failed) - len(skipped)} experiments ran", style="bold")
    for line in skipped:
        console.print(f"skipped  {line}")
    for name in failed:
        console.print(f"failed   {name}")
    return int(bool(failed))


def _run(name: str) -> int:
    """Run one experiment in this process, so that libraries are imported once, and return its exit code."""
    GlobalHydra.instance().clear()
    try:
        return run_command([f"experiment={name}"])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _lines(facts: ExperimentFacts) -> list[str]:
    there = [f"{name} {'present' if reason is None else 'missing'}" for name, reason in facts.data.items()]
    return [
        facts.question,
        f"run      {program()} experiment={facts.name}   {facts.time}",
        f"data     {', '.join(there) or 'none needed'}",
        f"results  {facts.results or 'none yet'}",
    ]


def experiment_names() -> list[str]:
    """Return the names of all experiments."""
    return sorted(path.stem for path in (conf_folder() / "experiment").glob("*.yaml"))


def describe(name: str, *, offline: bool) -> ExperimentFacts:
    """Return what is known of an experiment.

    Parameters
    ----------
    name : str
    offline : bool
        Whether data count as missing that would have to be downloaded; otherwise they are downloaded now.
    """
    question, time = _comments(conf_folder() / "experiment" / f"{name}.yaml")
    register_schema()
    GlobalHydra.instance().clear()
    words = [f"experiment={name}", *(["data.offline=true"] if offline else [])]
    with checked_hydra([]), initialize_config_dir(str(conf_folder()), version_base="1.3"):
        config = compose("config", words, return_hydra_config=True)
        study = build_study(config.study, [])
        data = {} if study is not None and not study.needs_runs else _data(config)
    results = "in the tracking store" if study is None else _results(name)
    return ExperimentFacts(name, question, time, data, results)


def _data(config: DictConfig) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for words, node in grid_datasets(grid_jobs(config)).items():
        chosen = [word.partition("=")[2] for word in words.split() if word.startswith("dataset=")]
        name = chosen[-1] if chosen else config.hydra.runtime.choices["dataset"]
        try:
            found[name] = next(iter(missing_data({words: node}, [], NoProgress()).values()), None)
        except DataError as error:
            found[name] = str(error)
    return found


def _comments(path: Path) -> tuple[str, str]:
    """Return question and time from the comments that the file begins with."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            break
        lines.append(line.removeprefix("# "))
    said = [line for line in lines if not line.startswith(("@package", "python run.py"))]
    times = [line for line in said if line.startswith("Takes ")]
    return " ".join(line for line in said if line not in times), " ".join(times)


def _results(name: str) -> str:
    """Return the tally of the published results, which in a checkout are those of the last run."""
    path = experiments_folder() / name / "results.csv"
    if not path.is_file():
        return ""
    rows = read_results(path)
    given = [row["verdict"] for row in rows if row.get("verdict") in VERDICTS]
    return tally(given) if given else f"{len(rows)} numbers"
