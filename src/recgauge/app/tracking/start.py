"""What a tracker is told of a run before the run does anything."""

from getpass import getuser
from typing import Any

from recgauge.app.tracking.summaries import flat_params
from recgauge.app.tracking.tracker import RunStart
from recgauge.utils.files import user_number

UNTRACKED = (
    "tracking",
    "data",
    "allowed_targets",
    "experiment",
    "debug",
    "figures",
    "artifacts",
    "study",
    "reuse",
    "force",
)


def run_start(
    settings: dict[str, Any],
    names: dict[str, str],
    command: str,
    environment: dict[str, Any],
    sweep: str | None,
    experiment: str | None = None,
) -> RunStart:
    """Return name, params and tags of a run.

    Parameters
    ----------
    settings : dict
        The resolved configuration.
    names : dict of str to str
        The chosen option of each group.
    command : str
        Gives the run again.
    environment : dict
        Versions and commit.
    sweep : str or None
        The sweep's output folder, for jobs of a sweep.
    experiment : str or None
        The chosen experiment, whose runs are found by a tag of its own.
    """
    kept = {key: value for key, value in settings.items() if key not in UNTRACKED}
    params = {**flat_params(kept), **names, "seed": str(settings["seed"])}
    params = {key: value for key, value in params.items() if not key.endswith("_target_")}
    tags = {f"recgauge.{group}": name for group, name in names.items()}
    tags |= {
        "recgauge.seed": str(settings["seed"]),
        "recgauge.version": environment["recgauge"],
        "recgauge.command": command,
        "recgauge.python": environment["python"],
        "mlflow.source.name": command.split(" ")[-1 if " " not in command else 1],
        "mlflow.source.type": "LOCAL",
        "mlflow.user": user_name(),
    }
    tags |= {f"recgauge.{name}": version for name, version in environment["packages"].items() if version}
    if environment["git_commit"]:
        tags["recgauge.git_dirty"] = str(environment["git_dirty"]).lower()
        tags["mlflow.source.git.commit"] = environment["git_commit"]
    if sweep is not None:
        tags["recgauge.sweep"] = sweep
    if experiment is not None:
        tags[experiment_tag(experiment)] = "true"
    # runs that a list of runs must not show as equal: what the lists are made from is part of the name
    among = "" if names["candidates"] == "all" else f" {names['candidates']}"
    return RunStart(f"{names['model']} {names['dataset']}{among}", params, tags)


def user_name() -> str:
    """Return the user's name; the number where the system has none, as in containers."""
    try:
        return getuser()
    except (ImportError, KeyError, OSError):  # which one depends on Python's version and the system
        return str(user_number())


def experiment_tag(experiment: str) -> str:
    """Return the tag of an experiment's runs; one each, since experiments may share a run."""
    return f"recgauge.experiment.{experiment}"
