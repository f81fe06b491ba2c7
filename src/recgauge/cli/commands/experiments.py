"""``recgauge experiments``: lists the experiments; ``--run`` runs all whose data and libraries are there."""

from argparse import ArgumentParser, Namespace

from omegaconf import OmegaConf

from recgauge.cli.commands.options import say
from recgauge.cli.explain import first_comment
from recgauge.cli.main import STOPPED, command_line
from recgauge.cli.settings import register_schema
from recgauge.cli.words import CommandLine
from recgauge.errors import MissingDataError, MissingLibraryError
from recgauge.experiments import FOLDER
from recgauge.studies import Study, read_results, results_file
from recgauge.studies.published_table import VERDICTS, tally
from recgauge.sweeps.compose import build_study
from recgauge.sweeps.places import conf_folder, program


def add_experiments_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``experiments``."""
    parser.add_argument("--run", action="store_true", help="run all whose data and libraries are there")


def run_experiments(options: Namespace) -> int:
    """List or run the experiments; return the exit code.

    Examples
    --------
    recgauge experiments
        what there is, and what can run here
    recgauge experiments --run
        run all of these
    """
    if options.run:
        return _run_all()
    for name in experiment_names():
        question, time = question_and_time(name)
        say(f"\n{name}", "bold")
        say(f"  {question}")
        say(f"  run      {program()} experiment={name}   {time}")
        say(f"  results  {_results(name)}")
    say("\nplan=true behind a command says which of its data are here, and runs nothing")
    return 0


def _run_all() -> int:
    """Run all experiments whose data and libraries are there, each as ``recgauge run experiment=NAME``.

    They run in this process, so that libraries are imported once, and write their pages, not a report each.
    Those whose data or libraries are missing are named at the end and do not count as failures. Runs that are
    there already are not repeated.
    """
    fates: dict[str, list[str]] = {"ran": [], "skipped": [], "failed": []}
    reasons: dict[str, str] = {}
    for name in experiment_names():
        code = _run(name, reasons)
        if code == STOPPED:
            return code
        fates["failed" if code and name not in reasons else "skipped" if code else "ran"].append(name)
    say(f"\n{len(fates['ran'])} experiments ran", "bold")
    for name in fates["skipped"]:
        say(f"skipped  {name}: {reasons[name]}")
    for name in fates["failed"]:
        say(f"failed   {name}")
    return int(bool(fates["failed"]))


def _run(name: str, reasons: dict[str, str]) -> int:
    """Run an experiment and return the exit code; note the reason if it cannot begin."""

    def keep_reason(error: Exception) -> None:
        if isinstance(error, (MissingDataError, MissingLibraryError)):
            reasons[name] = str(error).splitlines()[0]

    say(f"\nexperiment={name}", "bold")
    try:
        return command_line(words=[f"experiment={name}", "report=false", "reuse=true"], on_error=keep_reason)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def experiment_names() -> list[str]:
    """Return the names of all experiments."""
    return sorted(path.stem for path in (conf_folder() / "experiment").glob("*.yaml"))


def study_of(name: str) -> Study | None:
    """Return the study of an experiment, None if it has none."""
    register_schema()
    config = CommandLine((f"experiment={name}",)).composed()
    return build_study(config.study and OmegaConf.to_container(config.study, resolve=True), [])


def question_and_time(name: str) -> tuple[str, str]:
    """Return the question and the duration of an experiment, from the first comments of its file."""
    lines = first_comment(conf_folder() / "experiment" / f"{name}.yaml")
    text = [line for line in lines if not line.startswith(("@package", "recgauge run"))]
    times = [line for line in text if line.startswith("Takes ")]
    return " ".join(line for line in text if line not in times), " ".join(times)


def _results(name: str) -> str:
    """Return the tally of the published results, which in a checkout are those of the last run."""
    path = results_file(FOLDER / name)
    if not path.is_file():
        return "in the tracking store"
    rows = read_results(path)
    verdicts = [row["verdict"] for row in rows if row.get("verdict") in VERDICTS]
    return tally(verdicts) if verdicts else f"{len(rows)} numbers"
