"""The stored lists of a run, judged again in the place of its model: nothing is trained."""

from dataclasses import replace

from recgauge.conventions import Definition
from recgauge.experiment import Experiment
from recgauge.guards import STOPPING, GuardSettings
from recgauge.models.recorded import Recorded
from recgauge.recorded.findings import REFUSED
from recgauge.runs.finished import FinishedRun
from recgauge.runs.record import RunRecord
from recgauge.runs.stored import LISTS


def recorded_experiment(run: FinishedRun, experiment: Experiment) -> Experiment:
    """Return a run's experiment with its lists as recorded ones, and the metrics that follow from them.

    Other metrics need predictions, the scores of all items, lists of users who are not evaluated, the items
    that tie with the ends of the lists, or places in the lists that could hit nothing.
    """
    has_lists = (run.folder / LISTS).is_file() and run.record.ineligible is None
    names = {entry.name for entry in run.record.results} if has_lists else set()
    metrics = {
        name: definition
        for name, definition in experiment.metrics_of("lists").items()
        if name in names and not definition.metric.needs_all_users and not _needs_ends(definition, run.record)
    }
    return replace(
        experiment,
        metrics=metrics,
        model=Recorded(str(run.folder / LISTS), order="rank", keep=REFUSED),
        guards=GuardSettings(STOPPING),  # they have stopped the run or not
    )


def _needs_ends(definition: Definition, record: RunRecord) -> bool:
    """Whether a value depends on what ties with the ends of the lists, which no file has."""
    k = str(max((entry.k for entry in record.results if entry.k is not None), default=0))
    open_ends = record.ties is None or record.ties.share_at_cutoff.get(k) != 0
    return definition.policies.ties in ("expected", "random") and open_ends
