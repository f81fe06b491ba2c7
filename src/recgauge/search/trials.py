"""The trials of a search, run one after the other; a killed search goes on where it was."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal
from warnings import catch_warnings, simplefilter

from recgauge.errors import ConfigError, FitError, ScoreError, SearchError
from recgauge.search.space import Space, holds
from recgauge.utils.checks import Checked, Count, Natural, Positive
from recgauge.utils.files import exclusive
from recgauge.utils.plain import from_plain
from recgauge.utils.progress import Progress
from recgauge.utils.randomness import stream

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial
    from optuna.trial import Trial as Asked

State = Literal["finished", "pruned", "failed"]
Sampler = Literal["tpe", "random"]
"""How settings are proposed: by a tree-structured Parzen estimator of the earlier trials, or at random."""
Report = Callable[[int, float], None]
"""Tells a trial the value after an epoch; ends the trial if it is to be pruned."""
Measure = Callable[[dict[str, Any], Report], float]
"""Trains with settings and returns the value on validation rows."""


LEAST_TRIALS = 10
"""Fewer say nothing of which settings matter."""
_FIRST_RANDOM, _EACH = 3, 5


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


def trial_sentence(done: Sequence[Trial], of: int | None, *, maximize: bool, metric: str = "") -> str:
    """Say how the last trial ended, of how many if that is known, the best so far, and the time left.

    Examples
    --------
    >>> trials = [Trial(0, {"l2": 3}, "finished", 0.5, 2.0), Trial(1, {"l2": 9}, "finished", 0.25, 4.0)]
    >>> trial_sentence(trials, 20, maximize=True, metric="ndcg_at_10")
    'trial 2 of 20: validation ndcg@10 0.2500 with l2=9; best 0.5000 of trial 1; 4.0 s, about 0:00:54 left'
    """
    *earlier, trial = done
    repeats = [f" (as trial {each.number + 1})" for each in earlier if each.settings == trial.settings][:1]
    ended = f"failed ({trial.reason})"
    if trial.value is not None:
        pruned = "pruned at " * (trial.state == "pruned")
        ended = f"{pruned}validation {metric.replace('_at_', '@')} {trial.value:.4f}"
    so_far = "none finished so far"
    if any(each.state == "finished" for each in done):
        first = best(done, maximize=maximize)
        so_far = f"best {first.value:.4f} of trial {first.number + 1}"
    number = f"{trial.number + 1}" if of is None else f"{trial.number + 1} of {of}"
    left = 0 if of is None else of - len(done)
    usual = median(each.seconds for each in done)  # the first may compile
    time_left = f", about {timedelta(seconds=round(usual * left))} left" if left > 0 else ""
    settings = "".join([trial.words, *repeats])
    return f"trial {number}: {ended} with {settings}; {so_far}; {trial.seconds:.1f} s{time_left}"


class Pruned(Exception):  # noqa: N818 - ends a trial, is no error
    """Ends a trial whose values so far are worse than those of other trials at the same epoch."""


@dataclass(frozen=True)
class Search(Checked):
    """How a model's settings are searched: by which metric, by which sampler, for how long.

    Parameters
    ----------
    metric : str or None
        Result key that decides, such as ``ndcg_at_10``; None: nDCG at 10, or RMSE for models that
        predict ratings, where they are among the run's metrics.
    sampler : {"tpe", "random"}
    trials : int or None
        Trials, failed and pruned ones included; None: as many as fit into `seconds`.
    seconds : float or None
        Seconds of training and evaluating after which no trial begins; None: no bound.
    seed : int
        Each trial draws from a stream of its own made from it, so a search that was stopped and continued
        tries the same settings as one that was not.
    random_trials : int or None
        How many of the first trials of ``tpe`` are random; None: the first three, and then every fifth, so
        that a search of few trials learns, too, and more trials go on with the same search.
    prune : bool
        End trials whose value after an epoch is below the median of the earlier trials at that epoch.

    Raises
    ------
    ConfigError
        If a setting is not valid, or there is no budget.
    """

    metric: str | None = None
    sampler: Sampler = "tpe"
    trials: Count | None = 20
    seconds: Positive | None = None
    seed: Natural = 0
    prune: bool = True
    random_trials: Count | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trials is None and self.seconds is None:
            raise ConfigError("give a budget, tune.trials=20 or tune.seconds=600.")

    def n_random(self, number: int) -> int:
        """Return how many trials there must be for the sampler to learn from them in a trial, from 0 on."""
        if self.random_trials is not None:
            return self.random_trials
        return number + 1 if number < _FIRST_RANDOM or number % _EACH == _EACH - 1 else 1

    def goes_on(self, done: Sequence[Trial]) -> bool:
        """Whether the budget allows another trial."""
        if self.trials is not None and len(done) >= self.trials:
            return False
        return self.seconds is None or sum(trial.seconds for trial in done) < self.seconds

    def within(self, done: Sequence[Trial]) -> tuple[Trial, ...]:
        """Return the first trials, as many as a search with this budget would have begun."""
        n = 0
        while n < len(done) and self.goes_on(done[:n]):
            n += 1
        return tuple(done[:n])

    @property
    def budget(self) -> str:
        """The budget in words."""
        words = [f"{self.trials} trials"] if self.trials is not None else []
        return " or ".join(words + ([f"{self.seconds:g} s"] if self.seconds is not None else []))


def run_search(  # noqa: PLR0913 -- what a search is, and what is shown of it
    search: Search,
    space: Space,
    measure: Measure,
    path: Path,
    *,
    maximize: bool = True,
    first: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    metric: str = "",
    anew: bool = False,
) -> tuple[Trial, ...]:
    """Run the trials that the file does not have yet, and return all of them.

    Parameters
    ----------
    search : Search
    space : Space
        As `parse_space` gives it.
    measure : callable
        Gets a trial's settings and a function that reports values between epochs; returns the final value.
    path : Path
        The file of this search; written after every trial, in one step. A killed trial is not in it and is
        begun again.
    maximize : bool
        Whether a higher value is better.
    first : mapping, optional
        Settings of the first trial, such as the model's defaults, if they lie inside the space.
    progress : Progress, optional
    metric : str
        Result key that decides, for the progress.
    anew : bool
        Whether all trials are run, and replace those of the file.

    Returns
    -------
    tuple of Trial

    Raises
    ------
    SearchError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from recgauge.search.space import parse_space
    >>> from recgauge.search.trials import best
    >>> space = parse_space({"x": {"low": -2.0, "high": 2.0}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     search = Search(trials=30)
    ...     trials = run_search(search, space, lambda s, _: -(s["x"] - 1) ** 2, Path(folder) / "x.json")
    >>> len(trials), abs(best(trials).settings["x"] - 1) < 0.2
    (30, True)
    """
    shown = progress or Progress()
    path.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(path.with_suffix(".lock")):
        done = [] if anew else list(read_trials(path))
        if done:
            goes_on = "going on" if search.goes_on(done) else "nothing is left to do"
            shown.note(f"{len(done)} trials of this search are done; {goes_on}.")
        with shown.step("trials", search.trials, "trials") as advance:
            advance(len(done))
            while search.goes_on(done):
                trial = _run_trial(search, space, measure, done, maximize=maximize, first=first)
                done.append(trial)
                _write_trials(path, done)
                shown.note(trial_sentence(done, search.trials, maximize=maximize, metric=metric))
                advance(1)
    return search.within(done)


def _write_trials(path: Path, trials: Sequence[Trial]) -> None:
    """Replace the file in one step, so that a kill leaves the old one or the new one."""
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump([asdict(trial) for trial in trials], file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def read_trials(path: Path) -> tuple[Trial, ...]:
    """Return the trials of a search's file, none if there is no file.

    Raises
    ------
    SearchError
        If the file cannot be read.
    """
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return tuple(from_plain(Trial, each, "trial") for each in plain)
    except FileNotFoundError:
        return ()
    except Exception as error:
        raise SearchError(
            f"{path} is not the file of a search ({error}). Remove it to begin anew."
        ) from error


def _run_trial(
    search: Search,
    space: Space,
    measure: Measure,
    done: Sequence[Trial],
    *,
    maximize: bool,
    first: Mapping[str, Any] | None,
) -> Trial:
    optuna_trial = _ask(search, space, done, maximize=maximize)
    settings = dict(optuna_trial.params)
    if not done and first is not None and holds(space, first):
        settings = {name: first[name] for name in space}
    by_epoch: dict[str, float] = {}

    def report(epoch: int, value: float) -> None:
        by_epoch[str(epoch)] = value
        optuna_trial.report(value, epoch)
        if search.prune and optuna_trial.should_prune():
            raise Pruned

    begin, number = perf_counter(), len(done)
    try:
        value = float(measure(settings, report))
        return Trial(number, settings, "finished", value, perf_counter() - begin, by_epoch)
    except Pruned:
        last = list(by_epoch.values())[-1]
        return Trial(number, settings, "pruned", last, perf_counter() - begin, by_epoch)
    except (FitError, ScoreError, MemoryError) as error:
        seconds = perf_counter() - begin
        return Trial(number, settings, "failed", None, seconds, by_epoch, str(error) or type(error).__name__)


def _ask(search: Search, space: Space, done: Sequence[Trial], *, maximize: bool) -> "Asked":
    """Let the sampler propose settings; it knows the trials done and draws from this trial's own stream."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    seed = int(stream(search.seed, f"trial {len(done)}").integers(2**31))
    tpe = optuna.samplers.TPESampler(n_startup_trials=search.n_random(len(done)), seed=seed)
    study = optuna.create_study(
        sampler=tpe if search.sampler == "tpe" else optuna.samplers.RandomSampler(seed=seed),
        pruner=optuna.pruners.MedianPruner(),
        direction="maximize" if maximize else "minimize",
    )
    study.add_trials([_frozen(trial, space) for trial in done if trial.state != "failed"])
    return study.ask(space)


def _frozen(trial: Trial, space: Space) -> "FrozenTrial":
    from optuna.trial import TrialState, create_trial

    return create_trial(
        params=trial.settings,
        distributions=space,
        value=trial.value,
        state=TrialState.COMPLETE if trial.state == "finished" else TrialState.PRUNED,
        intermediate_values={int(epoch): value for epoch, value in trial.by_epoch.items()},
    )


def importances(trials: Sequence[Trial], space: Space, *, maximize: bool) -> dict[str, float]:
    """Return how much each setting mattered for the best tenth of the trials, as shares of 1 (PED-ANOVA).

    The largest first. Nothing for fewer than `LEAST_TRIALS` that finished, with one setting, or of a space
    that the library cannot judge.

    References
    ----------
    .. [1] S. Watanabe, A. Bansal, F. Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in
       Arbitrary Subspaces", IJCAI 2023.

    Examples
    --------
    >>> from recgauge.search.space import parse_space
    >>> space = parse_space({"x": {"low": 0.0, "high": 1.0}, "y": {"low": 0.0, "high": 1.0}})
    >>> values = [(i / 19, i * 7 % 20 / 19) for i in range(20)]
    >>> trials = [Trial(i, {"x": x, "y": y}, "finished", x) for i, (x, y) in enumerate(values)]
    >>> shares = importances(trials, space, maximize=True)
    >>> shares["x"] > shares["y"]
    True
    """
    finished = [trial for trial in trials if trial.state == "finished"]
    if len(finished) < LEAST_TRIALS or len(space) < 2:
        return {}
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize" if maximize else "minimize")
    with catch_warnings(), suppress(Exception):
        simplefilter("ignore")  # of settings that are "experimental"
        study.add_trials([_frozen(trial, space) for trial in finished])
        return optuna.importance.get_param_importances(
            study, evaluator=optuna.importance.PedAnovaImportanceEvaluator()
        )
    return {}
