"""One job, and what becomes of its errors; `perform` has the work and is loaded when there is some."""

import traceback
from dataclasses import replace
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.names import typed_words
from recgauge.app.sweep.outcome import read_plan, write_outcome
from recgauge.app.terminal.explain import explain_config_error
from recgauge.app.terminal.messages import explain_os_error, print_error
from recgauge.app.terminal.secrets import without_secrets
from recgauge.errors import RecgaugeError
from recgauge.runs.outcome import JobOutcome


def run_job(cfg: DictConfig) -> None:
    """Run one job; what happened is left in outcome.json for the table at the end of a sweep.

    Raises
    ------
    SystemExit
        If the job failed and is not one of a sweep, which goes on with its other jobs.
    """
    hydra = HydraConfig.get()
    folder = Path(hydra.runtime.output_dir)
    sweeping = hydra.mode == RunMode.MULTIRUN
    outcome = JobOutcome(0, " ".join(without_secrets(typed_words(hydra))), folder=folder)
    if sweeping:
        outcome = replace(outcome, number=hydra.job.num, sweep=read_plan(Path(hydra.sweep.dir)).id)
    try:
        from recgauge.app.perform import perform, prepare

        job = prepare(cfg, hydra)
        outcome = replace(outcome, names=job.names, settings=job.settings)
        outcome = perform(job, outcome)
    except KeyboardInterrupt:
        _leave(replace(outcome, status="stopped", reason="stopped"), folder)
        raise
    except (Exception, SystemExit) as error:
        outcome = replace(outcome, status="failed", reason=_tell(error, folder))
    outcome = _leave(outcome, folder)
    if not sweeping and outcome.status in ("failed", "not tracked"):
        raise SystemExit(1)


def _tell(error: BaseException, folder: Path) -> str:
    """Print what went wrong, once, and return it for the table of the sweep."""
    if isinstance(error, SystemExit):  # would end a sweep without its table, perhaps with exit code 0
        reason = f"a component ended the program with exit code {error.code}; let it raise an error instead."
    elif isinstance(error, RecgaugeError):
        reason = str(error)
    elif isinstance(error, OmegaConfBaseException):
        reason = explain_config_error(error)
    elif isinstance(error, OSError):
        reason = explain_os_error(error, folder)
    else:
        traceback.print_exception(error)
        print_error("this is a bug of recgauge or of a component of yours; the traceback above shows where.")
        return f"{type(error).__name__}: {error}"
    print_error(reason)
    return reason


def _leave(outcome: JobOutcome, folder: Path) -> JobOutcome:
    """Write outcome.json; where that fails, too, as on a full disk, the first error is the one to tell."""
    try:
        write_outcome(outcome, folder)
    except OSError as error:
        if outcome.status != "failed":
            return replace(outcome, status="failed", reason=_tell(error, folder))
    return outcome
