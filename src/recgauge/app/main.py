"""``python run.py``: one job from configuration to stored and printed results."""

import json
import os
import shlex
import sys
import traceback
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.explain import explain_config_error
from recgauge.app.settings import RunSettings, conf_folder, register_schema
from recgauge.errors import ConfigError, RecgaugeError

NAMED_GROUPS = ("dataset", "filters", "split", "candidates", "model", "metrics", "conventions")


def run_command() -> int:
    """Run what the command line asks for and return the exit code.

    Errors that are the user's to mend come as one message on standard error; ours keep their traceback.
    """
    register_schema()
    # Hydra would print its own errors and cut ours; with this set it raises, and we print
    wants_traceback = os.environ.get("HYDRA_FULL_ERROR") == "1"
    _forget_empty_variables()
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        hydra.main(version_base="1.3", config_path=str(conf_folder()), config_name="config")(run_job)()
    except (HydraException, OmegaConfBaseException) as error:
        if wants_traceback:
            raise
        print_error(explain_config_error(error))
        return 1
    except RecgaugeError as error:
        print_error(str(error))
        return 1
    except KeyboardInterrupt:
        print_error("stopped by Ctrl-C; finished runs are kept.")
        return 130
    return 0


def _forget_empty_variables() -> None:
    """Let a variable that is set to nothing mean the same as one that is not set."""
    for name in ("RECGAUGE_MIRROR", "RECGAUGE_CACHE", "RECGAUGE_OFFLINE", "MLFLOW_TRACKING_URI"):
        if os.environ.get(name) == "":
            del os.environ[name]


def print_error(message: str) -> None:
    """Print one message on standard error."""
    print(f"error: {message}", file=sys.stderr)  # noqa: T201 - the command line's own output


def run_job(cfg: DictConfig) -> None:
    """Run one job; what happened is left in outcome.json for the table at the end of a sweep.

    Raises
    ------
    SystemExit
        If the job failed and is not one of a sweep, which goes on with its other jobs.
    """
    job = HydraConfig.get()
    folder = Path(job.runtime.output_dir)
    sweeping = job.mode == RunMode.MULTIRUN
    error = None
    try:
        _run(cfg, job, folder, sweeping)
    except (RecgaugeError, OmegaConfBaseException) as known:
        error = str(known)
        print_error(error)
    except Exception as bug:
        error = f"{type(bug).__name__}: {bug}"
        traceback.print_exc()
        print_error("this is a bug of recgauge or of a component of yours; the traceback above shows where.")
    outcome = {"label": " ".join(job.overrides.task), "error": error}
    (folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    if error is not None and not sweeping:
        raise SystemExit(1)


def _run(cfg: DictConfig, job: Any, folder: Path, sweeping: bool) -> None:
    from recgauge.app.artifacts import write_convention_table, write_record, write_tables
    from recgauge.app.compose import build, compose
    from recgauge.app.console import ConsoleProgress
    from recgauge.app.environment import environment
    from recgauge.app.printing import print_run
    from recgauge.app.start import run_start
    from recgauge.app.tracking import Tracker
    from recgauge.experiment import run_experiment
    from recgauge.records import RunRecord

    settings = _settings(cfg)
    names = {group: choice_name(job.runtime.choices.get(group)) for group in NAMED_GROUPS}
    command = "python run.py " + shlex.join(job.overrides.task)
    plain = cast("dict[str, Any]", OmegaConf.to_container(cfg, resolve=True))
    tracker = build(settings.tracking, Tracker, "tracking", ("recgauge.",))
    facts = environment()
    sweep = Path(job.sweep.dir).as_posix() if sweeping else None
    with tracker.start(run_start(plain, names, command, facts, sweep)) as log:
        result = run_experiment(compose(settings), ConsoleProgress())
        record = RunRecord.from_result(
            result, names=names, seed=settings.seed, command=command, settings=plain, environment=facts
        )
        write_tables(result, folder)
        if settings.conventions_table:
            write_convention_table(result, settings.cutoffs, folder)
        write_record(record, OmegaConf.to_yaml(cfg, resolve=True), folder)
        record.seconds["tracking"] = log.finish(record, folder)
    print_run(record, address=tracker.address(), run_id=log.run_id, folder=folder, brief=sweeping)


def _settings(cfg: DictConfig) -> RunSettings:
    known = [field.name for field in fields(RunSettings)]
    if unknown := [str(key) for key in cfg if key not in known]:
        raise ConfigError(f"{', '.join(unknown)}: there is no such setting. Settings: {', '.join(known)}.")
    settings = OmegaConf.to_object(cfg)
    if not isinstance(settings, RunSettings):
        raise ConfigError("conf/config.yaml: the defaults list must begin with run_schema.")
    return settings


def choice_name(choice: Any) -> str:
    """Return the name of a chosen option; several options are joined by ``+``."""
    if choice is None:
        return "none"
    return choice if isinstance(choice, str) else "+".join(map(str, choice)) or "none"
