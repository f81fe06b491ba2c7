"""Which runs and metrics are compared: runs that differ in the model alone, each with a name of its own."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

from recgauge.errors import ConfigError, listed
from recgauge.report.run_tables import MARK
from recgauge.report.series import Series
from recgauge.report.sweep_tables import headline_keys
from recgauge.runs import HEADLINE
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.protocol import differences, protocol
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import counted_settings, flat_settings
from recgauge.runs.stored import user_columns

MOST_METRICS = 4  # that are compared unless the user names some


def records_of(series: Series) -> list[RunRecord]:
    """Return the records of a run, one for each seed and fold."""
    return [job.record for job in series.jobs if job.record is not None]


def chosen_metrics(entries: Sequence[Series], asked: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return the keys of the metrics to compare, and notes."""
    jobs = [job for series in entries for job in series.jobs]
    keys = {job.label: _with_user_values(job) for job in jobs}
    common = [key for key in keys[jobs[0].label] if all(key in some for some in keys.values())]
    if asked:
        return [_key(name, common, keys) for name in asked], []
    records = [record for series in entries for record in records_of(series)]
    shown = [key for key in headline_keys(records) if key in common]
    if not shown:
        cutoffs = {job.label: _cutoffs(job) for job in jobs}
        have = "; ".join(f"{label}: {text}" for label, text in list(cutoffs.items())[:4])
        raise ConfigError(
            "the runs have no metric in common with a value for each user. Run them with the same metrics "
            f"and cutoffs. They have: {have}."
        )
    shown.sort(key=_importance)
    left = len(common) - len(shown[:MOST_METRICS])
    told = [f"{left} more metrics are in all runs: choose with --metrics"] if left else []
    return shown[:MOST_METRICS], told


def _importance(key: str) -> int:
    name = key.partition("_at_")[0]
    return HEADLINE.index(name) if name in HEADLINE else len(HEADLINE)


def _with_user_values(job: JobOutcome) -> list[str]:
    """Return a run's metrics that are stored for each user, in the order of its suite."""
    assert job.record is not None
    stored = user_columns(job.folder)
    return [entry.key for entry in job.record.results if entry.key in stored]


def _cutoffs(job: JobOutcome) -> str:
    assert job.record is not None
    names = dict.fromkeys(entry.name for entry in job.record.results)
    ks = dict.fromkeys(entry.k for entry in job.record.results if entry.k is not None)
    return f"{listed(names, most=4)} at {listed(ks)}" if ks else listed(names, most=4)


def _key(name: str, common: Sequence[str], keys: Mapping[str, Sequence[str]]) -> str:
    """Return the key of ``ndcg@10``, ``ndcg_at_10``, or ``ndcg``: at 10, else at the largest cutoff."""
    key = name.strip().replace("@", "_at_")
    at_cutoffs = [one for one in common if one.rpartition("_at_")[0] == key]
    if key not in common and at_cutoffs:
        return f"{key}_at_10" if f"{key}_at_10" in at_cutoffs else at_cutoffs[-1]
    if key in common:
        return key
    if lacking := [label for label, some in keys.items() if key not in some]:
        having = [label for label in keys if label not in lacking]
        if having:
            raise ConfigError(
                f"--metrics: {name} is in {listed(having, most=3)} and not in {listed(lacking, most=3)}. Run "
                "these with the same metrics and cutoffs."
            )
    near = get_close_matches(key, common, n=1, cutoff=0.5)
    same = [one for one in common if one.rpartition("_at_")[0] == key.rpartition("_at_")[0]]
    if same:
        raise ConfigError(f"--metrics: no run has {name}. All runs have: {listed(map(_shown, same))}.")
    hint = f"Did you mean {_shown(near[0])}? " if near else ""
    names = dict.fromkeys(one.rpartition("_at_")[0] or one for one in common)
    cutoffs = {one.rpartition("_at_")[2]: None for one in common if "_at_" in one}
    at = f" at {listed(cutoffs)}" if cutoffs else ""
    raise ConfigError(f"--metrics: no run has {name}. {hint}All runs have: {listed(names)}{at}.")


def _shown(key: str) -> str:
    return key.replace("_at_", "@")


def checked(
    dataset: str, some: Sequence[Series], keys: Sequence[str], *, mark: bool
) -> tuple[dict[str, Series], list[str]]:
    """Return the runs by name, and lines that say in what they differ; without `mark` there are none.

    Raises
    ------
    ConfigError
        If they differ in more than the model.
    """
    protocols = [protocol(records_of(series), keys) for series in some]
    names = run_names(some)
    lines = [f"{what}: {_told(values, names)}" for what, values in differences(protocols).items()]
    if lines and not mark:
        told = "\n  ".join(lines)
        raise ConfigError(
            f"{dataset}: these runs differ in more than the model, so their numbers cannot be compared:\n  "
            f"{told}\nName runs that agree, choose them with --where, or compare all the same with --mark, "
            "which marks them."
        )
    groups = [tuple(sorted(one.items() - {("seed", one["seed"])})) for one in protocols]
    usual = Counter(groups).most_common(1)[0][0]
    marks = [f" {MARK}" if lines and group != usual else "" for group in groups]
    named = {name + sign: series for name, sign, series in zip(names, marks, some, strict=True)}
    return named, [f"{MARK} {dataset}: the runs differ in {line}" for line in lines]


def _told(values: Sequence[str], names: Sequence[str]) -> str:
    """Return which runs have which value, in words."""
    found: dict[str, list[str]] = {}
    for value, name in zip(values, names, strict=True):
        found.setdefault(value, []).append(name)
    return "; ".join(f"{value} ({listed(some, most=3)})" for value, some in found.items())


def run_names(some: Sequence[Series]) -> list[str]:
    """Return a name for each run of a data set: its model, and what else it takes to tell it from others."""
    found = [records_of(series)[0].names["model"] for series in some]
    for told in (_model_differences, _protocol_differences, _other_differences):
        for name in [name for name, count in Counter(found).items() if count > 1]:
            same = [place for place, one in enumerate(found) if one == name]
            for what, values in told([some[place] for place in same]).items():
                for place, value in zip(same, values, strict=True):
                    found[place] += f" {what.rpartition('.')[2]}={_short(value)}"
    twice = {name for name, count in Counter(found).items() if count > 1}
    return [
        f"{name} ({series.jobs[0].label})" if name in twice else name
        for name, series in zip(found, some, strict=True)
    ]


def _short(value: str) -> str:
    """Return a setting as a name has it: six digits tell tuned numbers apart."""
    try:
        return f"{float(value):.6g}" if "." in value else value
    except ValueError:
        return value


def _model_differences(some: Sequence[Series]) -> dict[str, tuple[str, ...]]:
    """Return in which settings models differ; of one that was tuned, how it was, not what was chosen."""
    found = []
    for record in [records_of(series)[0] for series in some]:
        chosen = {} if record.search is None else record.search.chosen.settings
        model = flat_settings(record.settings.get("model") or {})
        told = "no" if record.search is None else f"{record.search.sampler}, {record.search.budget}"
        kept = {key: value for key, value in model.items() if key not in chosen}
        found.append(kept | {"tuned": told})
    return differences(found)


def _protocol_differences(some: Sequence[Series]) -> dict[str, tuple[str, ...]]:
    return differences([protocol(records_of(series)) for series in some])


def _other_differences(some: Sequence[Series]) -> dict[str, tuple[str, ...]]:
    rest = [counted_settings(records_of(series)[0].settings) for series in some]
    return differences([flat_settings({key: one[key] for key in one if key != "seed"}) for one in rest])


def known_baseline(baseline: str | None, names: Collection[str]) -> str | None:
    """Return the name of the baseline, or say which there are."""
    if baseline is None or baseline in names:
        return baseline
    near = get_close_matches(baseline, names, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise ConfigError(f"--baseline: there is no run {baseline}. {hint}Runs: {listed(sorted(names))}.")
