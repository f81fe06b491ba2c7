"""May a candidate replace a baseline: the public functions, and the two sides that they read and compare."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recgauge.checks.decision import Outcome
from recgauge.checks.looks import Look, count_candidates
from recgauge.checks.rules import Rule, Rules
from recgauge.checks.verdicts import Verdict, judge_number, judge_users, outcome_of
from recgauge.comparison.measured_alike import check_protocols
from recgauge.comparison.reading import read_run
from recgauge.comparison.results import Cost
from recgauge.comparison.run_groups import RunGroup, group
from recgauge.comparison.run_segments import OF_USERS, groups_by
from recgauge.comparison.runs import run_names
from recgauge.comparison.user_tables import UserGroups, UserTable
from recgauge.comparison.user_values import UserValues, meetings_of
from recgauge.data.dataset import Dataset
from recgauge.data.meeting import Meeting, require_meeting
from recgauge.data.split import Split
from recgauge.errors import ConfigError, did_you_mean, listed
from recgauge.metrics.names import Directions, label
from recgauge.report.shown import Shown
from recgauge.runs.finished import FinishedRun, RunValues
from recgauge.runs.stored import RECORD

if TYPE_CHECKING:
    from recgauge.comparison.reading import Source as RunSource
    from recgauge.report.blocks import Block

    Source: TypeAlias = "Side | RunSource | Sequence[FinishedRun]"

Load = Callable[[FinishedRun], tuple[Dataset, Split]]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The candidate or the baseline.

    Parameters
    ----------
    name : str
    values : tuple of RunValues
        Of each seed and fold.
    totals : mapping of str to (float, bool)
        Metrics that are one number for all users: the number, and whether higher is better.
    cost : Cost
    test_sha256 : str
        Digest of the test rows; of values without a record, of the users' ids.
    sha256 : str
        Digest of what was judged: the run's fingerprint, or of the values.
    group : RunGroup or None
        Of finished runs.
    """

    name: str
    values: tuple[RunValues, ...]
    totals: Mapping[str, tuple[float, bool]] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    test_sha256: str = ""
    sha256: str = ""
    group: RunGroup | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that there is."""
        return (*self.values[0].values, *self.totals)

    @property
    def run_id(self) -> str | None:
        """The id of the stored run, None of values, of an untracked run or of several."""
        runs = () if self.group is None else self.group.runs
        return runs[0].run_id if len(runs) == 1 else None


@dataclass(frozen=True, slots=True)
class CheckResult(Shown):
    """What became of every rule.

    Parameters
    ----------
    candidate, baseline : str
        Names.
    rules : Rules
    verdicts : tuple of Verdict
        In the order of the rules, then of the groups.
    look : Look
        This check, as later ones count it.
    candidates_before : int or None
        How many other candidates were judged on the same test rows; None without a list of them.
    notes : tuple of str
        What a reader must know.
    warnings : tuple of str
        What a reader must know first.
    """

    candidate: str
    baseline: str
    rules: Rules
    verdicts: tuple[Verdict, ...]
    look: Look
    candidates_before: int | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """``worse`` if any rule is, else ``undecided`` if any is, else ``shown``."""
        return outcome_of(self.verdicts)

    @property
    def passed(self) -> bool:
        """Whether every rule is shown; or undecided, if `Rules.undecided` is ``pass``."""
        return self.outcome == "shown" or (self.outcome == "undecided" and self.rules.undecided == "pass")

    def blocks(self, *, brief: bool = False) -> "list[Block]":  # noqa: ARG002 - always short
        """Return the verdicts as a table, with what they stand on."""
        from recgauge.report.check_tables import check_blocks

        return check_blocks(self)

    def to_json(self) -> str:
        """Return everything as JSON, not rounded."""
        from recgauge.report.check_tables import check_json

        return check_json(self)

    def to_junit(self) -> str:
        """Return a test suite in JUnit's XML, a case for each rule and group."""
        from recgauge.report.check_tables import check_junit

        return check_junit(self)


def check(
    candidate: "Source",
    baseline: "Source",
    rules: "Rules | Mapping[str, Any] | str | Path",
    *,
    users: Any = None,
    looks: Sequence[Look] | None = None,
    load: Load | None = None,
) -> CheckResult:
    """Judge for each rule whether the candidate is shown to keep it, shown to break it, or neither.

    Parameters
    ----------
    candidate, baseline : Evaluation, data frame, path, RunValues, FinishedRun, or sequence of FinishedRun
        What `recgauge.compare` takes as a run: an evaluation, a table with a row per user and a column per
        metric or its file, or the output folder of a run; or finished runs of `recgauge.tracking.find_runs`.
    rules : Rules, mapping, or path of a YAML file
        See `Rules`.
    users : data frame, series or path, optional
        A row per user, and columns that `segments` name; see `recgauge.comparison.UserTable.of`.
    looks : sequence of Look, optional
        Earlier checks: those of other candidates on the same test rows are counted.
    load : callable, optional
        Loads data and split of a finished run, for `segments` by activity, popularity, age and genre.

    Returns
    -------
    CheckResult

    Raises
    ------
    ConfigError
        If the two cannot be compared, or rules name an unknown metric or attribute.
    SchemaError
        If a table is not what `read_run` describes.

    Notes
    -----
    Student's one-sided tests over users, paired; where a value is compared with a number, its skewness is
    removed by Hall's transformation. They are corrected over all rules and groups by Hochberg's method: all
    rules are shown exactly if each of them is at level alpha (an intersection-union test, which needs no
    correction, whatever the rules' dependence), and otherwise the chance of any false *shown*, and that of
    any false *worse*, is bounded by alpha.

    References
    ----------
    R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24(4), 1982.
    P. Hall, "On the removal of skewness by transformation", Journal of the Royal Statistical Society B 54(1),
    1992.
    Y. Hochberg, "A sharper Bonferroni procedure for multiple tests of significance", Biometrika 75(4), 1988.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> old = pd.DataFrame({"ndcg": rng.random(400)}, index=pd.Index(range(400), name="user"))
    >>> new = old + 0.1 * rng.random((400, 1))
    >>> result = check(new, old, {"not_worse": {"ndcg": "1%"}, "better_by": {"ndcg": 0.2}})
    >>> result.passed, [(verdict.rule, verdict.outcome) for verdict in result.verdicts]
    (False, [('not_worse.ndcg', 'shown'), ('better_by.ndcg', 'worse')])
    """
    rules = Rules.of(rules)
    users = None if users is None else UserTable.of(users)
    sides = read_side(candidate, "candidate"), read_side(baseline, "baseline")
    roles = (" (candidate)", " (baseline)") if sides[0].name == sides[1].name else ("", "")
    names = sides[0].name + roles[0], sides[1].name + roles[1]
    runs = {name: side.values for name, side in zip(names, sides, strict=True)}
    _check_sides(rules, sides, runs)
    if users is not None and not rules.attributes:
        raise ConfigError(
            f"--users: no rule compares groups of {users.table.subject}. Name one of its columns under "
            "segments in the rules, or leave the table out."
        )
    tested = [rule for rule in rules.rules if all(rule.metric in side.values[0].values for side in sides)]
    verdicts = [_judge_number(rule, sides, rules.directions) for rule in rules.rules if rule not in tested]
    warnings: list[str] = []
    same = sides[0].sha256 == sides[1].sha256
    notes = ["The candidate is the baseline itself."] if same else []
    if tested:
        metrics = list(dict.fromkeys(rule.metric for rule in tested))
        values = UserValues.of(runs, metrics=metrics, directions=rules.directions)
        groups = _groups(sides[0], rules, users, load)
        meetings = _meetings(values, groups, users)
        verdicts += judge_users(values, tested, groups, rules.alpha)
        warnings += [meeting.warning for meeting in meetings if meeting.warning]
        notes += [*values.notes, *(meeting.sentence for meeting in meetings)]
    order = [rule.path for rule in rules.rules]
    verdicts.sort(key=lambda verdict: order.index(verdict.rule))  # of groups, they keep their order
    look = Look(sides[0].sha256, sides[1].test_sha256, outcome_of(verdicts))
    n_before = None if looks is None else count_candidates(looks, look.candidate, look.test_sha256)
    return CheckResult(*names, rules, tuple(verdicts), look, n_before, tuple(notes), tuple(warnings))


def _meetings(values: UserValues, groups: Mapping[str, UserGroups], users: UserTable | None) -> list[Meeting]:
    """Count the users that both runs have, and those of the user's own table; refuse next to none."""
    meetings = [replace(meeting, sides=("candidate", "baseline")) for meeting in meetings_of([values])]
    own = [each for by, each in groups.items() if users is not None and by in users.columns]
    meetings += [each.meeting(values.users) for each in own[:1]]
    return [require_meeting(meeting) for meeting in meetings]


def _check_sides(rules: Rules, sides: Sequence[Side], runs: Mapping[str, Sequence[RunValues]]) -> None:
    """Refuse rules of metrics that one side has not, and sides that were not measured in the same way."""
    candidate, baseline = sides
    for rule in (rule for rule in rules.rules if rule.kind != "cost"):
        if lacking := [side.name for side in sides if rule.metric not in side.metrics]:
            common = [label(key) for key in candidate.metrics if key in baseline.metrics]
            hint = did_you_mean(label(rule.metric), common)
            remedy = f"Both have {listed(common)}" if common else "The two have no metric in common"
            raise ConfigError(f"{rule.path}: not in {listed(lacking)}. {hint}{remedy}.")
        are_totals = [rule.metric in side.totals for side in sides]
        if any(are_totals) and (rule.by or not all(are_totals)):
            metric = label(rule.metric)
            raise ConfigError(f"{rule.path}: {metric} is one number for all users, not one of each.")
    check_protocols(runs, rules.keys, "check")


def _groups(side: Side, rules: Rules, users: UserTable | None, load: Load | None) -> dict[str, UserGroups]:
    """Return the group of each user by attribute, from a table of users, else from the run's data."""

    @cache
    def data() -> tuple[FinishedRun, Dataset, Split]:
        if side.group is None or load is None:
            raise ConfigError(
                f"segments: {listed(OF_USERS)} need the data of a finished run, and {side.name} is none. "
                "Give a table of users with such a column."
            )
        run = side.group.runs[0]
        return run, *load(run)

    return {by: groups_by(by, rules.groups, users, data, "segments") for by in rules.attributes}


def _judge_number(rule: Rule, sides: Sequence[Side], directions: Directions) -> Verdict:
    """Judge a cost, or a metric that is one number for all users."""
    if rule.kind != "cost":
        (candidate, higher), (baseline, _) = (side.totals[rule.metric] for side in sides)
        higher = directions.higher_is_better([rule.metric], {rule.metric: higher})[rule.metric]
        return judge_number(rule, candidate, baseline, higher=higher)
    costs: list[float | None] = [getattr(side.cost, rule.metric) for side in sides]
    for side, cost in zip(sides, costs, strict=True):
        if cost is None and (rule.relative or side is sides[0]):
            raise ConfigError(
                f"{rule.path}: nobody knows what {side.name} took; only runs of recgauge say it. Give its "
                "output folder, or leave the rule out."
            )
    return judge_number(rule, float(costs[0] or 0.0), costs[1], higher=False)


def read_side(source: "Source", role: str) -> Side:
    """Read one side of a check: what `recgauge.comparison.read_run` reads, or seeds and folds of one model.

    `role`, ``candidate`` or ``baseline``, is for messages; the name is the model's or the file's.
    """
    if isinstance(source, Side):
        return source
    if isinstance(source, (str, Path)) and (Path(source) / RECORD).is_file():
        source = FinishedRun.read(Path(source), label=str(source))
    if isinstance(source, FinishedRun):
        return _of_runs([source], role)
    if isinstance(source, Sequence) and not isinstance(source, str):
        return _of_runs(source, role)
    values = read_run(source)
    name = Path(source).stem if isinstance(source, (str, Path)) else role
    users, own = _digests(values)
    return Side(name, (values,), test_sha256=users, sha256=own)


def _of_runs(runs: Sequence[FinishedRun], role: str) -> Side:
    groups = group(runs)
    if len(groups) != 1:
        names = listed(run_names(groups)) if groups else "none"
        raise ConfigError(f"{role}: expected one run, or seeds and folds of one model, got {names}.")
    (run_group,) = groups
    records = run_group.records
    first, *rest = (run.user_metrics() for run in run_group.runs)
    common = [key for key in first if all(key in metrics for metrics in rest)]
    totals = {
        entry.key: (mean, entry.higher_is_better)
        for entry in records[0].results
        if entry.key not in common and (mean := run_group.mean(entry.key)) is not None
    }
    tests = dict.fromkeys(record.split.test.sha256 for record in records)
    return Side(
        records[0].names["model"],  # a gate takes a tuned model by the same name
        tuple(run_group.values(common, groups)),
        totals,
        run_group.cost,
        _digest(tests) if len(tests) > 1 else next(iter(tests)),
        _digest(record.fingerprint() for record in records),
        run_group,
    )


def _digests(run: RunValues) -> tuple[str, str]:
    """Return digests of the users, and of their values, whatever the order of users."""
    users = np.asarray(run.users).astype(str)
    order = np.argsort(users)
    of_users = _digest(users[order])
    values = (f"{key} {(run.values[key][order] + 0.0).tolist()}" for key in sorted(run.values))
    return of_users, _digest([of_users, *values])


def _digest(parts: Any) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()
