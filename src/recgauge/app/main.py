"""``python run.py``: what Hydra calls for a command, a job and a sweep, and what becomes of errors."""

import os
import shlex
import signal
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import hydra.version
from hydra._internal.utils import _run_hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError  # type: ignore[import-untyped]

from recgauge.app.hydra_checks import NOT_COMPOSED, checked_hydra, parse_words
from recgauge.app.names import check_repeats, typed_words
from recgauge.app.places import (
    conf_folder,
    forget_empty_variables,
    give_libraries_a_home,
    on_machine,
    program,
)
from recgauge.app.settings import register_schema, typed_settings
from recgauge.app.sweep.outcome import SweepPlan, is_settled, read_plan, write_outcome
from recgauge.app.terminal.explain import Choices, check_words, explain_config_error, explain_os_error
from recgauge.app.terminal.messages import prepare_streams, print_error
from recgauge.app.terminal.secrets import private_output, without_secrets
from recgauge.errors import ConfigError, MissingDataError, RecgaugeError, message
from recgauge.runs.outcome import JobOutcome
from recgauge.utils import collecting
from recgauge.utils.memory import explain_memory_error

STOPPED = 130  # what shells return for a command that was interrupted


def run_command(words: Sequence[str]) -> int:
    """Run what the words of a command line ask for and return the exit code.

    Errors that the user can fix are printed as one message on standard error; others keep their traceback.
    """
    prepare_streams()
    try:
        with private_output(words):
            return _run_command(words)
    except KeyboardInterrupt:  # before anything has begun, or while its end is told
        print_error("stopped.")
        return STOPPED


def _run_command(words: Sequence[str]) -> int:
    _told.clear()
    register_schema()
    # Hydra would print its own errors and cut ours; with this set it raises, and we print
    wants_traceback = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"
    forget_empty_variables()
    give_libraries_a_home()
    # schedulers end a job this way; it must be marked as killed like one that Ctrl-C ends
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    choices = Choices()
    try:
        check_words(words)
        asked, parser = parse_words(words)
        choices = Choices(asked.overrides, asked.config_dir)
        _planning[:] = [asked.plan]
        with checked_hydra(asked.overrides):
            hydra.version.setbase("1.3")
            _run_hydra(asked, parser, run_job, config_path=str(conf_folder()), config_name="config")
    except KeyboardInterrupt as stop:
        return _stopped(stop, words)
    except Exception as error:
        reason = _explain(error, Path("outputs"), choices)
        if reason is None or (
            wants_traceback and isinstance(error, (HydraException, OmegaConfBaseException))
        ):
            raise
        print_error(reason)
        return 1
    return 0


def _explain(error: BaseException, folder: Path, choices: Choices | None = None) -> str | None:
    """Return the message of an error that the user can fix, None of a bug."""
    if isinstance(error, MissingDataError):
        return f"{on_machine()}{error}"
    if isinstance(error, RecgaugeError):
        return str(error)
    if isinstance(error, (HydraException, OmegaConfBaseException)):
        return explain_config_error(error, choices)
    if isinstance(error, YAMLError):
        return f"a file of settings cannot be read: {' '.join(str(error).split())}."
    if isinstance(error, MemoryError):
        return explain_memory_error(error)
    return explain_os_error(error, folder) if isinstance(error, OSError) else None


def _stopped(stop: KeyboardInterrupt, words: Sequence[str]) -> int:
    """Report how the run and its sweep ended; a second interruption stops this report, too."""
    told = "; ".join(["stopped", *getattr(stop, "__notes__", ())])
    print_error(f"{told}. Finished runs are kept.")
    with suppress(KeyboardInterrupt):
        if _running:
            _conclude_sweep(stopped=True)
            again = shlex.join([*words, *([] if "reuse=true" in words else ["reuse=true"])])
            print_error(f"to go on with the sweep: {program()} {again}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is left ends by itself, within seconds
    return STOPPED


def run_job(cfg: DictConfig) -> None:
    """Run one job; what happened is left in outcome.json for the table at the end of a sweep.

    Raises
    ------
    SystemExit
        If the job failed and is not one of a sweep, which goes on with its other jobs.
    """
    known = HydraConfig.get()
    folder, words = Path(known.runtime.output_dir), typed_words(known)
    sweep = Path(known.sweep.dir) if known.mode == RunMode.MULTIRUN else None
    outcome = JobOutcome(0, " ".join(without_secrets(words)), folder=folder)
    if sweep is not None:
        plan = read_plan(sweep)
        if is_settled(folder, plan):  # launchers of others start all jobs
            return
        outcome = replace(outcome, number=known.job.num, sweep=plan.id)
    try:
        from recgauge.app.job import prepare
        from recgauge.app.perform import perform

        if NOT_COMPOSED in cfg:
            raise ConfigError(str(cfg[NOT_COMPOSED]))
        check_repeats(words)
        job = prepare(typed_settings(cfg), words, dict(known.runtime.choices), folder=folder, sweep=sweep)
        outcome = replace(outcome, names=job.names, settings=job.settings)
        collecting.go_on()
        outcome = perform(job, outcome)
    except KeyboardInterrupt:
        _leave(replace(outcome, status="stopped", reason="stopped"), folder)
        raise
    except BaseException as error:  # whatever a component raises, a sweep goes on
        outcome = replace(outcome, status="failed", reason=_tell(error, folder))
    outcome = _leave(outcome, folder)
    if sweep is None and outcome.status in ("failed", "not tracked", "not saved"):
        raise SystemExit(1)


def _tell(error: BaseException, folder: Path) -> str:
    """Print what went wrong, once, and return it for the table of the sweep."""
    reason = _explain(error, folder)
    if isinstance(error, SystemExit):  # would end a sweep without its table, perhaps with exit code 0
        reason = f"a component ended the program with exit code {error.code}; let it raise an error instead."
    if reason is None:
        traceback.print_exception(error)
        print_error("this is a bug of recgauge or of a component of yours; the traceback above shows where.")
        return message(f"{type(error).__name__}: {error}")
    if reason not in _told:
        print_error(reason)
        _told.add(reason)
    return reason


_told: set[str] = set()
"""What this command's jobs have said: many jobs of a sweep may fail for one reason."""


def _leave(outcome: JobOutcome, folder: Path) -> JobOutcome:
    """Write outcome.json; where that fails, too, as on a full disk, the first error is the one to tell."""
    try:
        write_outcome(outcome, folder)
    except OSError as error:
        if outcome.status != "failed":
            return replace(outcome, status="failed", reason=_tell(error, folder))
    return outcome


class SweepSummary(Callback):
    """Prepares the tracking store before parallel jobs race for it, and sums up when all have ended."""

    def on_run_start(self, config: DictConfig, **_: Any) -> None:
        """End here if only the plan is wanted."""
        if any(_planning):
            _show_plan(config, sweep=False)

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Open the store and look at the data; what cannot work stops the sweep before any work is done."""
        collecting.go_on()  # composing leaves garbage, most of a megabyte for each job
        if any(_planning):
            _show_plan(config, sweep=True)
        from recgauge.app.sweep.begin import begin

        try:
            _running[:] = [(config, begin(config))]
        except Exception as error:
            # Hydra turns exceptions of callbacks into warnings, but lets an exit pass
            _tell(error, Path(config.hydra.sweep.dir))
            raise SystemExit(1) from error

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """Take secrets out of the file that Hydra has just written about the sweep."""
        file = Path(config.hydra.sweep.dir) / "multirun.yaml"
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            if (clean := without_secrets(text)) != text:
                file.write_text(clean, encoding="utf-8")

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Print one table over all jobs; the exit code says whether all of them finished."""
        del config
        if not _conclude_sweep():
            raise SystemExit(1)


_planning: list[bool] = []
"""Whether the command asks for its plan alone."""


def _show_plan(config: DictConfig, *, sweep: bool) -> NoReturn:
    from recgauge.app.sweep.showing import show_plan

    try:
        raise SystemExit(0 if show_plan(config, sweep=sweep) else 1)
    except Exception as error:
        _tell(error, Path("outputs"))
        raise SystemExit(1) from error


_running: list[tuple[DictConfig, SweepPlan]] = []
"""The sweep of this process, if there is one: Hydra calls a callback at its end, not at an interruption."""


def _conclude_sweep(*, stopped: bool = False) -> bool:
    """Print and store the results of this process's sweep; return whether all of it went well."""
    from recgauge.app.sweep.end import end

    if not _running:
        return True
    try:
        return end(*_running.pop(), stopped=stopped)
    except Exception as error:  # Hydra would turn it into a warning, and the exit code into 0
        print_error(f"the sweep cannot be summed up: {type(error).__name__}: {error}")
        return False
