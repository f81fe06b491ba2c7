"""A trial of a search, and the best of several."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from recgauge.errors import SearchError

State = Literal["finished", "pruned", "failed"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting of the model and what it gave on validation rows.

    Parameters
    ----------
    number : int
        From 0.
    settings : dict of str to Any
    state : {"finished", "pruned", "failed"}
    value : float or None
        None if the training failed; of the last epoch if it was pruned.
    seconds : float
        Wall-clock seconds of training and evaluating.
    by_epoch : dict of str to float
        Epoch to value, of models that were looked at between epochs.
    reason : str
        Why it failed.
    """

    number: int
    settings: dict[str, Any]
    state: State
    value: float | None = None
    seconds: float = 0.0
    by_epoch: dict[str, float] = field(default_factory=dict)
    reason: str = ""

    @property
    def words(self) -> str:
        """The settings in words."""
        return ", ".join(
            f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in self.settings.items()
        )


def best(trials: Sequence[Trial], *, maximize: bool = True) -> Trial:
    """Return the finished trial with the best value, the earliest of equal ones.

    Raises
    ------
    SearchError
        If no trial finished.
    """
    finished = [trial for trial in trials if trial.state == "finished"]
    if not finished:
        reasons = "; ".join(dict.fromkeys(trial.reason for trial in trials if trial.reason))
        raise SearchError(f"tune: none of {len(trials)} trials finished ({reasons or 'all were pruned'}).")
    sign = 1.0 if maximize else -1.0
    return max(finished, key=lambda trial: (sign * float(trial.value or 0.0), -trial.number))


def told(done: Sequence[Trial], *, maximize: bool, metric: str = "", n_trials: int | None = None) -> str:
    """Say how the last trial ended, which one is the best so far, and how long the others will take.

    Examples
    --------
    >>> trials = [Trial(0, {"l2": 3}, "finished", 0.5, 2.0), Trial(1, {"l2": 9}, "finished", 0.25, 4.0)]
    >>> told(trials, maximize=True, metric="ndcg_at_10", n_trials=4)
    'trial 2 of 4: ndcg@10 0.2500 with l2=9; best 0.5000 of trial 1; 4.0 s, about 6 s left'
    """
    trial, ended = done[-1], ""
    if trial.state == "failed":
        ended = f"failed ({trial.reason})"
    elif trial.value is not None:
        pruned = "" if trial.state == "finished" else "pruned at "
        ended = f"{pruned}{metric.replace('_at_', '@')} {trial.value:.4f}".replace("  ", " ").lstrip()
    so_far = "none finished so far"
    if any(each.state == "finished" for each in done):
        first = best(done, maximize=maximize)
        so_far = f"best {first.value:.4f} of trial {first.number + 1}"
    of_all, left = "", ""
    if n_trials is not None:
        of_all = f" of {n_trials}"
        seconds = (n_trials - len(done)) * sum(each.seconds for each in done) / len(done)
        left = f", about {seconds:.0f} s left" if n_trials > len(done) else ""
    return (
        f"trial {trial.number + 1}{of_all}: {ended} with {trial.words}; {so_far}; {trial.seconds:.1f} s{left}"
    )
