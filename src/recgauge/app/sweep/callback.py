"""Hydra callback around a multirun; loaded with the program, so it loads what it needs when it is used."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

if TYPE_CHECKING:
    from recgauge.app.sweep.outcome import SweepPlan


class SweepSummary(Callback):
    """Prepares the tracking store before parallel jobs race for it, and sums up when all have ended."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Open the store and look at the data; what cannot work stops the sweep before any work is done."""
        from recgauge.app.sweep.begin import begin
        from recgauge.app.terminal.messages import print_error
        from recgauge.errors import RecgaugeError

        try:
            _running[:] = [(config, begin(config))]
        except (RecgaugeError, OSError) as error:
            # Hydra turns exceptions of callbacks into warnings, but lets an exit pass
            print_error(str(error))
            raise SystemExit(1) from error

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """Take secrets out of the file that Hydra has just written about the sweep."""
        from recgauge.app.terminal.secrets import without_secrets

        file = Path(config.hydra.sweep.dir) / "multirun.yaml"
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            if (clean := without_secrets(text)) != text:
                file.write_text(clean, encoding="utf-8")

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Print one table over all jobs; the exit code says whether all of them finished."""
        del config
        if not conclude_sweep():
            raise SystemExit(1)


_running: "list[tuple[DictConfig, SweepPlan]]" = []
"""The sweep of this process, if there is one: Hydra calls a callback at its end, not at an interruption."""


def interrupted_sweep() -> bool:
    """Whether this process has begun a sweep and not yet reported its end."""
    return bool(_running)


def conclude_sweep(*, stopped: bool = False) -> bool:
    """Print and store the results of this process's sweep; return whether all of it went well.

    Parameters
    ----------
    stopped : bool
        Whether the sweep was interrupted; the finished jobs are reported in any case.
    """
    from recgauge.app.sweep.end import end
    from recgauge.app.terminal.messages import print_error

    if not _running:
        return True
    config, plan = _running.pop()
    try:
        return end(config, plan, stopped=stopped)
    except KeyboardInterrupt:
        raise
    except Exception as error:  # Hydra would turn it into a warning, and the exit code into 0
        print_error(f"the sweep cannot be summed up: {type(error).__name__}: {error}")
        return False
