"""Hydra callback around a multirun: one store before the jobs, one table after them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf


class SweepSummary(Callback):
    """Prepares the tracking store before parallel jobs race for it, and sums up when all have ended."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Open the store once; an address that cannot work stops the sweep before any work is done."""
        from recgauge.app.messages import print_error
        from recgauge.errors import RecgaugeError

        try:
            _tracker(config).prepare()
        except RecgaugeError as error:
            # Hydra turns exceptions of callbacks into warnings, but lets an exit pass
            print_error(str(error))
            raise SystemExit(1) from error

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Print one table over all jobs; the exit code tells whether all of them finished."""
        from recgauge.app.printing import print_sweep

        folder = Path(config.hydra.sweep.dir)
        found = sorted(folder.glob("*/outcome.json"), key=lambda path: int(path.parent.name))
        jobs = _short_labels([_outcome(path) for path in found])
        print_sweep(jobs, address=_tracker(config).address(sweep=folder.as_posix()), folder=folder)
        if any(job.record is None for job in jobs):
            raise SystemExit(1)


def _tracker(config: DictConfig) -> Any:
    from recgauge.app.compose import build
    from recgauge.app.tracking import Tracker

    node = OmegaConf.to_container(config.tracking, resolve=True)
    return build(node, Tracker, "tracking", ("recgauge.",))


def _outcome(path: Path) -> Any:
    from recgauge.records import RunRecord
    from recgauge.report.tables import JobOutcome

    outcome = json.loads(path.read_text(encoding="utf-8"))
    record = None
    if outcome["error"] is None:
        record = RunRecord.from_json((path.parent / "record.json").read_text(encoding="utf-8"))
    return JobOutcome(int(path.parent.name), outcome["label"], record, outcome["error"])


def _short_labels(jobs: list[Any]) -> list[Any]:
    """Leave out of the labels what all jobs share."""
    words = [job.label.split(" ") for job in jobs]
    shared = set.intersection(*map(set, words)) if len(jobs) > 1 else set()
    return [
        replace(job, label=" ".join(word for word in own if word not in shared) or job.label)
        for job, own in zip(jobs, words, strict=True)
    ]
