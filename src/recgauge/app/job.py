"""One job: from configuration to stored and printed results."""

import json
import traceback
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.messages import print_error
from recgauge.app.settings import RunSettings
from recgauge.errors import ConfigError, RecgaugeError


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
    except OSError as disk:
        error = f"{disk}. Is the disk full, or the output folder {folder} not writable? See hydra.run.dir."
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
    from recgauge.app.names import check_repeats, chosen_names, run_again
    from recgauge.app.printing import print_run
    from recgauge.app.run_card import draw_run, write_run_card
    from recgauge.app.start import run_start
    from recgauge.app.tracking import Tracker
    from recgauge.experiment import run_experiment
    from recgauge.records import RunRecord

    check_repeats(job)
    settings = _settings(cfg)
    names = chosen_names(job, settings)
    command = run_again(job, sweeping=sweeping)
    plain = cast("dict[str, Any]", OmegaConf.to_container(cfg, resolve=True))
    tracker = build(settings.tracking, Tracker, "tracking", ("recgauge.",))
    facts = environment()
    sweep = Path(job.sweep.dir).as_posix() if sweeping else None
    with tracker.start(run_start(plain, names, command, facts, sweep)) as log:
        result = run_experiment(compose(settings), ConsoleProgress())
        record = RunRecord.from_result(
            result, names=names, seed=settings.seed, command=command, settings=plain, environment=facts
        )
        files = write_tables(result, folder) + write_run_card(result, record, folder)
        if settings.figures:
            files += draw_run(result, names, record.seconds, folder)
        if settings.conventions_table:
            files += write_convention_table(result, settings.cutoffs, folder)
        files += write_record(record, OmegaConf.to_yaml(cfg, resolve=True), folder)
        record.seconds["tracking"] = log.finish(record, files)
    print_run(record, address=tracker.address(), run_id=log.run_id, folder=folder, brief=sweeping)


def _settings(cfg: DictConfig) -> RunSettings:
    known = [field.name for field in fields(RunSettings)]
    if unknown := [str(key) for key in cfg if key not in known]:
        raise ConfigError(f"{', '.join(unknown)}: there is no such setting. Settings: {', '.join(known)}.")
    settings = OmegaConf.to_object(cfg)
    if not isinstance(settings, RunSettings):
        raise ConfigError("conf/config.yaml: the defaults list must begin with run_schema.")
    return settings
