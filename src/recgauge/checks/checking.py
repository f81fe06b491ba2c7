"""May a candidate replace a baseline: the public functions, and the two sides that they read and compare."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from recgauge.checks.judge import (
    Outcome,
    Verdict,
    count_ungrouped,
    difference_of,
    judge_number,
    judge_users,
    ungrouped_verdict,
)
from recgauge.checks.looks import Look, climbs, holm_level, others, place_of
from recgauge.checks.rules import CostRule, MetricRule, Rules
from recgauge.comparison.comparing import check_protocols, require_equal_protocols
from recgauge.comparison.reading import read_run
from recgauge.comparison.results import Cost
from recgauge.comparison.run_groups import RunGroup, group
from recgauge.comparison.run_segments import OF_USERS, groups_by
from recgauge.comparison.runs import run_names
from recgauge.comparison.stored_values import StoredValues
from recgauge.comparison.user_tables import UserGroups, UserTable
from recgauge.comparison.user_values import UserValues, meetings_of
from recgauge.data.dataset import Dataset
from recgauge.data.ids import IdArray
from recgauge.data.meeting import Meeting, require_meeting
from recgauge.data.split import Split
from recgauge.errors import ConfigError, did_you_mean, listed
from recgauge.evaluation import Evaluation
from recgauge.metrics.names import Directions, label
from recgauge.report.shown import Shown
from recgauge.runs.finished import FinishedRun, RunValues
from recgauge.runs.stored import RECORD
from recgauge.utils.arrow import to_arrow
from recgauge.utils.checks import DoubleArray
from recgauge.utils.randomness import hash_ids, mix

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.report.blocks import Block

    Source: TypeAlias = (
        "Evaluation | pd.DataFrame | str | Path | RunValues | FinishedRun | Sequence[FinishedRun]"
    )

Load = Callable[[FinishedRun, Sequence[str]], tuple[Dataset, Split]]
_FEW = 30


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The candidate or the baseline.

    Parameters
    ----------
    name : str
    values : tuple of RunValues
        Of each seed and fold.
    metrics : tuple of str
        Every metric that there is, whether it was read or not.
    totals : mapping of str to (float, bool)
        Metrics that are one number for all users: the number, and whether higher is better.
    cost : Cost
    test_sha256 : str
        Digest of the test rows; of values without a record, of the users' ids.
    sha256 : str
        Digest of what was judged: the run's fingerprint, or of the values.
    group : RunGroup or None
        Of finished runs.
    definitions : mapping of str to str
        Of an evaluation's metrics; those of finished runs are in their records.
    stored : StoredValues or None
        Values that need not fit into memory; `values` is empty then.
    """

    name: str
    values: tuple[RunValues, ...]
    metrics: tuple[str, ...]
    totals: Mapping[str, tuple[float, bool]] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    test_sha256: str = ""
    sha256: str = ""
    group: RunGroup | None = None
    definitions: Mapping[str, str] = field(default_factory=dict)
    stored: StoredValues | None = None

    @property
    def of_users(self) -> Collection[str]:
        """The metrics of which there is a value for each user."""
        return self.values[0].values if self.stored is None else self.stored.metrics

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
        In the order of the rules, then of the groups; none if `look` was not released.
    level : float
        What bounds the chance of a false *shown*, and that of a false *worse*: alpha, or less after other
        candidates.
    look : Look
        This check, as later ones count it.
    before : tuple of Look, or None
        Other candidates on the same test rows; None if nobody has counted.
    notes : tuple of str
        What a reader must know.
    warnings : tuple of str
        What a reader must know first.
    """

    candidate: str
    baseline: str
    rules: Rules
    verdicts: tuple[Verdict, ...]
    level: float
    look: Look
    before: tuple[Look, ...] | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """``worse`` if any rule is, else ``undecided`` if any is, else ``shown``."""
        return _outcome(self.verdicts) if self.look.released else "undecided"

    @property
    def passed(self) -> bool:
        """Whether every rule is shown; or undecided, if `Rules.undecided` is ``pass``."""
        return self.outcome == "shown" or (self.outcome == "undecided" and self.rules.undecided == "pass")

    def of(self, outcome: Outcome) -> tuple[Verdict, ...]:
        """Return the verdicts with this outcome."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome == outcome)

    def blocks(self, *, brief: bool = False) -> "list[Block]":  # noqa: ARG002 - always short
        """Return the verdicts as a table, with what they stand on."""
        from recgauge.report.check_tables import check_blocks

        return check_blocks(self)

    def to_markdown(self) -> str:
        """Return a few lines for a pull request, with all verdicts folded away."""
        from recgauge.report.check_tables import check_markdown

        return check_markdown(self)

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
    packages: Sequence[str] = (),
) -> CheckResult:
    """Say of every rule whether the candidate is shown to keep it, shown to break it, or neither.

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
        Earlier checks, of which those on the same test rows count.
    load : callable, optional
        Loads data and split of a finished run, for `segments` by activity, popularity, age and genre.
    packages : sequence of str
        Packages whose classes `load` may use.

    Returns
    -------
    CheckResult

    Raises
    ------
    ConfigError
        If the two cannot be compared, or rules name what there is not.
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
    settings = Rules.of(rules)
    sides = [
        read_side(source, role, keys=settings.keys)
        for source, role in ((candidate, "candidate"), (baseline, "baseline"))
    ]
    table = None if users is None else UserTable.of(users)
    return judge(sides[0], sides[1], settings, users=table, looks=looks, load=load, packages=packages)


def assert_not_worse(
    candidate: "Source",
    baseline: "Source",
    margins: Mapping[str, float | str],
    *,
    confidence: float = 0.95,
    undecided: Literal["fail", "pass"] = "fail",
) -> CheckResult:
    """Fail a test unless a candidate is shown to be not worse than a baseline by more than margins.

    Parameters
    ----------
    candidate, baseline
        As of `check`.
    margins : mapping of str to float or str
        By metric, in its own units or as a share of the baseline's value: ``{"ndcg@10": "2%"}``.
    confidence : float
    undecided : {"fail", "pass"}
        What becomes of metrics that the users cannot decide.

    Returns
    -------
    CheckResult

    Raises
    ------
    AssertionError
        With the verdicts, as `CheckResult.to_markdown` writes them.
    ConfigError, SchemaError
        As of `check`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> old = pd.DataFrame({"user": range(50), "ndcg": np.linspace(0, 1, 50)}).set_index("user")
    >>> assert_not_worse(old + 0.01, old, {"ndcg": "2%"}).passed
    True
    """
    rules = {"not_worse": margins, "confidence": confidence, "undecided": undecided}
    result = check(candidate, baseline, rules)
    if not result.passed:
        raise AssertionError(result.to_markdown())
    return result


def judge(
    candidate: Side,
    baseline: Side,
    rules: Rules,
    *,
    users: UserTable | None = None,
    looks: Sequence[Look] | None = None,
    load: Load | None = None,
    packages: Sequence[str] = (),
) -> CheckResult:
    """Do the same as `check` with two sides that have been read."""
    sides = candidate, baseline
    names = _two_names(candidate.name, baseline.name)
    runs = dict(zip(names, (side.values for side in sides), strict=True))
    _check_sides(rules, sides, runs)
    place = candidate.sha256, baseline.test_sha256
    before = None if looks is None else others(looks, *place)
    number = place_of(looks or (), *place)
    unused = users is not None and not set(rules.attributes) & set(users.columns)
    if users is not None and unused and set(rules.attributes) <= {*OF_USERS}:  # others are refused by name
        raise ConfigError(
            f"--users: no rule compares groups of {users.address}. Name one of its columns under segments "
            f"in the rules, or leave the table out; it has {listed(users.columns) or 'no other column'}."
        )
    of_users = [rule for rule in rules.metrics if all(rule.metric in one.of_users for one in sides)]
    verdicts = [_judge_total(rule, sides, rules.directions) for rule in rules.metrics if rule not in of_users]
    verdicts += [_judge_cost(cost, sides) for cost in rules.cost]
    warnings: list[str] = []
    ungrouped: list[Verdict] = []
    level, notes = rules.alpha, ["The candidate is the baseline itself."] * (place[0] == baseline.sha256)
    if of_users:
        level = rules.alpha if rules.looks == "none" else holm_level(number, before or (), rules.alpha)
        parts, more = _parts(sides, names, runs, [rule.metric for rule in of_users], rules.directions)
        if rules.looks == "ladder" and not _climbs(parts, of_users[0].metric, before or ()):
            look = Look(*place, 1.0, "undecided", number, released=False)
            return CheckResult(*names, rules, (), rules.alpha, look, before, (*notes, *more))
        groups = _groups(candidate, rules, users, load, packages)
        met = [replace(meeting, sides=("candidate", "baseline")) for meeting in meetings_of(parts)]
        met = [require_meeting(meeting) for meeting in met]
        met += _met_groups(groups, users, next(iter(parts)))
        warnings, more = [one.warning for one in met if one.warning], (*more, *(one.sentence for one in met))
        tested = judge_users(parts, of_users, groups, level, rules.correction)
        counts = count_ungrouped(parts, of_users, groups)
        ungrouped, told = _ungrouped(counts, rules)
        more = (*more, *told)
        if (few := min(verdict.n_users for verdict in tested)) < _FEW:
            rough = f"below {_FEW} the level is rough where values are skewed."
            more = (*more, f"{few} users stand behind a verdict: {rough}")
        notes += more
        verdicts += tested
    places = [*(rule.place for rule in rules.metrics), *(cost.place for cost in rules.cost)]
    verdicts.sort(key=lambda verdict: places.index(verdict.rule))  # those of groups stay in their order
    verdicts += ungrouped
    # of later checks on the same rows: the p-value of a pass is the largest of its rules
    broken = any(verdict.outcome == "worse" for verdict in verdicts if not verdict.tested)
    p = 1.0 if broken else max((verdict.p_shown or 0.0 for verdict in verdicts), default=0.0)
    total = next((verdict for verdict in verdicts if verdict.tested and not verdict.segment), None)
    first = ("", 0.0) if total is None or total.candidate is None else (total.metric, total.candidate)
    look = Look(*place, p, _outcome(verdicts), number, *first)
    return CheckResult(*names, rules, tuple(verdicts), level, look, before, tuple(notes), tuple(warnings))


def _met_groups(groups: Mapping[str, UserGroups], users: UserTable | None, part: UserValues) -> list[Meeting]:
    """Count the users of some values who are in the user's own table of them, where rules need it."""
    own = [each for each in groups.values() if users is not None and each.table is users]
    return [require_meeting(each.meeting(part.users)) for each in own[:1]]


def _ungrouped(counts: Mapping[str, tuple[int, int]], rules: Rules) -> tuple[list[Verdict], list[str]]:
    """Return what users without a group do to the verdict, and a note."""
    verdicts, notes = [], []
    for by, (n_without, n_users) in counts.items():
        if n_without:
            told = f"segments.{by}: {n_without:,} of {n_users:,} users are in no group"
            if rules.ungrouped == "pass":
                notes.append(f"{told} and not judged there (ungrouped: pass).")
            else:
                verdicts.append(ungrouped_verdict(by, n_without, n_users))
                notes.append(f"{told}. Give them one, or let them pass with ungrouped: pass in the rules.")
    return verdicts, notes


def _parts(
    sides: Sequence[Side],
    names: Sequence[str],
    runs: Mapping[str, Sequence[RunValues]],
    keys: Sequence[str],
    directions: Directions,
) -> tuple[Iterable[UserValues], tuple[str, ...]]:
    """Return the values of both sides by some metrics, some users at a time or all at once, and notes."""
    first, second = (side.stored for side in sides)
    if first is None or second is None:
        table = UserValues.of(runs, metrics=list(dict.fromkeys(keys)), directions=directions)
        return [table], table.notes
    values = first.named(names[0]) + second.named(names[1])
    require_equal_protocols(list(values.protocols.values()), values.runs, "check", mark=False)
    return values, values.notes


def _outcome(verdicts: Sequence[Verdict]) -> Outcome:
    outcomes = {verdict.outcome for verdict in verdicts}
    return "worse" if "worse" in outcomes else "undecided" if "undecided" in outcomes else "shown"


def _climbs(parts: Iterable[UserValues], metric: str, before: Sequence[Look]) -> bool:
    """Whether the Ladder lets the verdicts of a candidate be read."""
    first = next(iter(parts))
    higher = first.higher_is_better[first.metrics.index(metric)]
    candidate, baseline, difference = difference_of(parts, metric)
    let_out = [look.value for look in before if look.released and look.metric == metric]
    best = (max if higher else min)([baseline, *let_out])
    return climbs(candidate, difference.stderr, best, higher=higher)


def _two_names(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first != second else (f"{first} (candidate)", f"{second} (baseline)")


def _check_sides(rules: Rules, sides: Sequence[Side], runs: Mapping[str, Sequence[RunValues]]) -> None:
    """Refuse rules of metrics that one side has not, and sides that were not measured in the same way."""
    for rule in rules.metrics:
        _check_known(rule, sides)
    for key in rules.keys:
        texts = dict.fromkeys(side.definitions[key] for side in sides if key in side.definitions)
        if len(texts) > 1:
            raise ConfigError(f"check: the two measure {label(key)} differently: {' against '.join(texts)}.")
    check_protocols(runs, rules.keys, "check")


def _check_known(rule: MetricRule, sides: Sequence[Side]) -> None:
    have = [side.metrics for side in sides]
    if lacking := [one.name for one, metrics in zip(sides, have, strict=True) if rule.metric not in metrics]:
        common = [label(key) for key in have[0] if key in have[1]]
        hint = did_you_mean(label(rule.metric), common)
        told = f"Both have {listed(common)}" if common else "The two have no metric in common"
        raise ConfigError(f"{rule.place}: not in {listed(lacking)}. {hint}{told}.")
    of_all = [rule.metric in side.totals for side in sides]
    if any(of_all) and (rule.by or not all(of_all)):
        raise ConfigError(f"{rule.place}: {label(rule.metric)} is one number for all users, not one of each.")


def _groups(
    side: Side, rules: Rules, users: UserTable | None, load: Load | None, packages: Sequence[str]
) -> dict[str, UserGroups]:
    """Return the group of each user by attribute, from a table of users, else from the run's data."""

    @cache
    def data() -> tuple[FinishedRun, Dataset, Split]:
        if side.group is None or load is None:
            raise ConfigError(
                f"segments: {listed(OF_USERS)} need the data of a finished run, and {side.name} is none. "
                "Give a table of users with such a column."
            )
        run = side.group.runs[0]
        return run, *load(run, packages)

    return {by: groups_by(by, rules.groups, users, data, "segments") for by in rules.attributes}


def _judge_total(rule: MetricRule, sides: Sequence[Side], directions: Directions) -> Verdict:
    (first, higher), (second, _) = (one.totals[rule.metric] for one in sides)
    found = directions.higher_is_better([rule.metric], {rule.metric: higher})
    return judge_number(rule, first, second, higher=found[rule.metric])


def _judge_cost(rule: CostRule, sides: Sequence[Side]) -> Verdict:
    taken: list[float | None] = [getattr(side.cost, rule.what) for side in sides]
    needed = taken if rule.bound.relative else taken[:1]
    if None in needed:
        side = sides[needed.index(None)]
        raise ConfigError(f"{rule.place}: nobody knows what {side.name} took; only runs of recgauge say it.")
    known = [float(value) for value in taken if value is not None]
    bound = rule.bound.value * (known[-1] if rule.bound.relative else 1.0)
    outcome: Outcome = "shown" if known[0] <= bound else "worse"
    return Verdict(
        rule.place, str(rule), rule.what, "", outcome, taken[0], taken[1], known[0], None, None, bound, False
    )


def read_side(source: "Source", role: str, name: str = "", keys: Sequence[str] | None = None) -> Side:
    """Read one side of a check: what `recgauge.comparison.read_run` reads, or seeds and folds of one model.

    `role`, ``candidate`` or ``baseline``, is for messages, `name` the model's or the file's if not given; of
    `keys`, metrics are read as far as there are, all if not given.
    """
    if isinstance(source, (str, Path)) and (Path(source) / RECORD).is_file():
        source = FinishedRun.read(Path(source), label=str(source))
    if isinstance(source, FinishedRun):
        return _of_runs([source], role, name, keys)
    if isinstance(source, Sequence) and not isinstance(source, str):
        return _of_runs(source, role, name, keys)
    values = read_run(source)
    totals, definitions = {}, {}
    if isinstance(source, Evaluation):
        definitions = {key: f"{text}; {source.policies}" for key, text in source.definitions().items()}
        totals = {
            one.key: (one.value, one.higher_is_better)
            for one in source.results
            if one.key not in values.values
        }
    name = name or (Path(source).stem if isinstance(source, (str, Path)) else role)
    users, own = _digests([(values.users, values.values)])
    known = (*values.values, *totals)
    return Side(name, (values,), known, totals, test_sha256=users, sha256=own, definitions=definitions)


def _of_runs(runs: Sequence[FinishedRun], role: str, name: str, keys: Sequence[str] | None) -> Side:
    groups = group(runs)
    if len(groups) != 1:
        names = listed(run_names(groups)) if groups else "none"
        raise ConfigError(f"{role}: expected one run, or seeds and folds of one model, got {names}.")
    (run_group,) = groups
    records = run_group.records
    first, *rest = (run.user_metrics() for run in run_group.runs)
    common = [key for key in first if all(key in metrics for metrics in rest)]
    chosen = [key for key in common if keys is None or key in keys]
    totals = {
        entry.key: (mean, entry.higher_is_better)
        for entry in records[0].results
        if entry.key not in common and (mean := run_group.mean(entry.key)) is not None
    }
    tests = dict.fromkeys(record.split.test.sha256 for record in records)
    return Side(
        name or run_group.model,
        tuple(run_group.values(chosen, groups)),
        (*common, *totals),
        totals,
        run_group.cost,
        _digest(tests) if len(tests) > 1 else next(iter(tests)),
        _digest(record.fingerprint() for record in records),
        run_group,
    )


def stored_side(source: str, role: str, rules: Rules) -> Side:
    """Return one side of a check whose values are in Parquet and read some users at a time."""

    def judged(common: Sequence[str]) -> list[str]:
        return [key for key in rules.keys if key in common]

    values = StoredValues.of([source], judged, directions=rules.directions, option=role)
    if len(values.runs) > 1:
        raise ConfigError(
            f"{role}: expected one run, {source} holds {listed(values.runs)}. Name the folder or file of one."
        )
    parts = (
        (part.users, dict(zip(part.metrics, part.values[:, 0], strict=True)))
        for part in values
        if part.metrics
    )
    users, own = _digests(parts)
    run = values.runs[0]
    return Side(run, (), values.common, test_sha256=users, sha256=own, stored=values)


def _digests(parts: Iterable[tuple[IdArray, Mapping[str, DoubleArray]]]) -> tuple[str, str]:
    """Return digests of the users, and of their values, whatever the order of users and parts."""
    import pyarrow as pa

    n, of_users, of_values = 0, np.zeros(2, np.uint64), np.zeros(1, np.uint64)
    for users, values in parts:
        words = hash_ids(pa.chunked_array([to_arrow(users)]), as_text=True)
        n += len(words)
        of_users += np.array([words.sum(), mix(words).sum()])
        for key in sorted(values):
            bits = np.where(np.isnan(values[key]), np.nan, values[key] + 0.0).view(np.uint64)
            of_values += mix(
                mix(words ^ bits) + np.uint64(int(sha256(key.encode()).hexdigest()[:15], 16))
            ).sum()
    digest = _digest([str(n), *map(str, of_users.tolist())])
    return digest, _digest([digest, str(of_values[0])])


def _digest(parts: Any) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()
