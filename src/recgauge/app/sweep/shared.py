"""What several jobs of a process need before their models are trained, loaded and split once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from recgauge.experiment import Experiment, Prepared, prepare
from recgauge.models import Recommender
from recgauge.utils.progress import Progress, Timings


@dataclass
class _Kept:
    """The rows of the job that runs now, kept if a later job needs the same."""

    key: str = ""
    later: bool = False
    ready: Prepared | None = None


_kept = _Kept()


@contextmanager
def while_needed(key: str, *, needed_later: bool) -> Iterator[None]:
    """Say that a job runs now, what its rows are known by, and whether a later job has the same.

    Parameters
    ----------
    key : str
        Equal for jobs whose data, split and candidates are the same.
    needed_later : bool
        Otherwise they are dropped when the job ends.
    """
    if key != _kept.key:
        _kept.ready = None
    _kept.key, _kept.later = key, needed_later
    try:
        yield
    finally:
        if not needed_later:
            _kept.key, _kept.ready = "", None


def prepared(experiment: Experiment, progress: Progress) -> tuple[Prepared, dict[str, float]]:
    """Load, filter, split and guard the data of an experiment, or take what an earlier job has left.

    Returns
    -------
    ready : Prepared
    seconds : dict of str to float
        Of the stages that were needed.
    """
    ready = _kept.ready if _kept.key else None
    wants_lists = bool(experiment.list_metrics) and isinstance(experiment.model, Recommender)
    if ready is not None and (ready.task is not None or not wants_lists):
        return ready, {}
    timings = Timings(progress)
    ready = prepare(experiment, timings)
    if _kept.key and _kept.later:
        _kept.ready = ready
    return ready, timings.seconds
