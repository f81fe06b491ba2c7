"""The data and the split of a finished run, made again from its settings."""

from collections.abc import Sequence
from dataclasses import fields, replace

from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.errors import ConfigError, IntegrityError, SchemaError
from recgauge.experiment import Experiment, prepare
from recgauge.runs.finished import FinishedRun
from recgauge.runs.settings import DataSettings, RunSettings, Use, part
from recgauge.runs.targets import TARGET
from recgauge.sweeps.compose import compose, compose_plan
from recgauge.utils.plain import from_plain
from recgauge.utils.progress import Progress, Timings


def local_settings(
    run: FinishedRun, uses: Sequence[Use], data: DataSettings, packages: Sequence[str] = ()
) -> RunSettings:
    """Return the settings of a finished run that have these uses, with the places of data on this machine.

    `packages` are those whose classes may be built beside recgauge's.
    """
    settings = part(run.record.settings, *uses)
    settings.pop("tracking", None)  # of the machine where it ran
    dataset = settings.get("dataset") or {}
    local = {entry.name: getattr(data, entry.name) for entry in fields(data) if entry.name in dataset}
    settings |= {"dataset": dataset | local, "allowed_targets": list(packages)}
    try:
        typed: RunSettings = from_plain(RunSettings, settings, "settings")
    except SchemaError as error:
        raise ConfigError(f"{run.folder}: its settings are not those of this version ({error}).") from error
    return typed


def data_of(run: FinishedRun, settings: RunSettings, progress: Progress) -> tuple[Dataset, Split]:
    """Load, filter and split the data of a run again by its `local_settings` of rows and guards.

    Nothing but test rows is stored with a run: training rows are the publisher's data, may not be passed on,
    and come back in seconds.

    Raises
    ------
    IntegrityError
        If the rows are not those of the run.
    """
    ready = prepare(compose_plan(settings), Timings(progress))
    record = run.record
    digests = {"data": (ready.dataset.sha256, record.dataset.sha256)}
    for name in ("train", "test"):
        digests[f"{name} rows"] = (getattr(ready.split, name).sha256(), getattr(record.split, name).sha256)
    for rows, (now, then) in digests.items():
        if now != then:
            raise IntegrityError(
                f"{run.folder}: the {rows} of its settings are not those of the run (sha256 {now[:12]}, "
                f"recorded {then[:12]}), so results would be wrong. Run it again with the data that are here."
            )
    return ready.dataset, ready.split


def untrained_experiment(settings: RunSettings) -> Experiment:
    """Return a run's experiment for lists that are there already, by its settings of rows and metrics."""
    # Bias both ranks and rates, so no metric is left out
    untrained = replace(settings, model={TARGET: "recgauge.models.Bias"}, sanity=False)
    return compose(untrained, leave_out=True, tell=lambda _: None)
