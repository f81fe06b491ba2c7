"""What must be equal between runs for their numbers to be compared, and in what they differ."""

from collections.abc import Iterable, Mapping, Sequence

from recgauge.runs.record import RunRecord
from recgauge.runs.settings import flat_settings, numeric_settings, option_groups, part

Protocol = dict[str, str]
"""Everything but the model that a number stands on, as ``{what: value}``."""

ROWS = ("data", "train rows", "fold-in rows", "evaluated rows")
CAUSES = {
    **dict.fromkeys(ROWS, ("dataset", "filters", "split", "seed", "fit_on", "evaluate_on")),
    "candidates drawn": ("dataset", "filters", "split", "seed", "candidates"),
}
"""Digests, each with the settings that explain why two of them differ."""

_OF_OUTSIDE = ("unknown", "seen", "duplicates", "longest")
"""Policies that act on lists from outside alone; settings and conventions say them."""

_REPEATS_MISS = ("duplicates=error", "duplicates=first")


def protocol(records: Sequence[RunRecord], metrics: Iterable[str] = ()) -> Protocol:
    """Return what a number stands on: settings by their names, digests of rows, definitions of `metrics`.

    The number is of one run, or the mean of runs over folds or seeds. Where these differ, each value is there
    once, in the order of the runs.
    """
    keys = list(metrics)
    parts = [_of_run(record, keys) for record in records]
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: ", ".join(dict.fromkeys(part.get(name, "none") for part in parts)) for name in names}


def identity(facts: Protocol) -> tuple[tuple[str, str], ...]:
    """Return what is equal for comparable protocols alone, to group by."""
    return tuple(sorted((name, value) for name, value in facts.items() if name != "seed"))


def differences(protocols: Sequence[Protocol]) -> dict[str, tuple[str, ...]]:
    """Return in what protocols differ, with the value of each; empty if they are comparable.

    Seeds alone may differ. What follows from another difference is left out: with another seed, the rows
    differ, and with another split, its settings.
    """
    names = dict.fromkeys(name for each in protocols for name in each)
    values = {name: tuple(each.get(name, "none") for each in protocols) for name in names}
    different = {name: each for name, each in values.items() if len(set(each)) > 1}
    if not different.keys() - {"seed"}:
        return {}
    explained = {
        name for name in different if any(_covers(cause, different) for cause in CAUSES.get(name, ()))
    }
    explained |= {name for name in different if "." in name and name.partition(".")[0] in different}
    if not explained & set(CAUSES):
        explained.add("seed")
    return {name: each for name, each in different.items() if name not in explained}


def judging(policies: str, *left_out: str) -> str:
    """Return policies without those of some names, and without that of repeats where none was met.

    Lists that are refused if they have repeats, and those of which repeats miss, are measured alike.

    Examples
    --------
    >>> judging("no_list=zero, duplicates=error, threshold=4", "threshold")
    'no_list=zero'
    """
    kept = [each for each in policies.split(", ") if each not in _REPEATS_MISS]
    return ", ".join(each for each in kept if each.partition("=")[0] not in left_out)


def _covers(cause: str, names: Mapping[str, object]) -> bool:
    return any(name == cause or name.startswith(f"{cause}.") for name in names)


def _of_run(record: RunRecord, keys: Sequence[str]) -> Protocol:
    split, results = record.split, {entry.key: entry for entry in record.results}
    policies = [policy.partition("=") for policy in record.policies.split(", ") if policy]
    policies = [policy for policy in policies if policy[0] not in _OF_OUTSIDE]
    facts = {
        # the chosen options count, and tell more than the settings that they stand for
        **{group: record.names.get(group, "none") for group in option_groups("rows", options="one")},
        "data": record.dataset.sha256[:12],
        **_settings(record),
        "dataset.relevant_from": str(record.dataset.relevant_from),
        "seed": str(record.seed),
        "fit_on": record.fit_on,
        "evaluate_on": record.evaluated_on,
        "train rows": split.train.sha256[:12],
        "evaluated rows": split.test.sha256[:12],
        "candidates drawn": record.candidates_sha256[:12],
        **{name: value for name, _, value in policies},
        "numbers of recgauge": f"version {record.environment.get('numeric_version', 0)}",
    }
    if split.fold_in is not None:
        facts["fold-in rows"] = split.fold_in.sha256[:12]
    return facts | {
        f"definition of {key}": results[key].definition if key in results else "not computed" for key in keys
    }


def _settings(record: RunRecord) -> Protocol:
    """Return the settings that decide the rows, the filters as one text, since their order counts."""
    settings = part(numeric_settings(record.settings), "rows")
    settings.pop("seed", None)  # runs that are compared may differ in it
    filters = [f"{name}({_words(arguments)})" for name, arguments in settings.pop("filters")]
    chosen = {name: value for name, value in flat_settings(settings).items() if value != "None"}
    return chosen | {"filters": ", ".join(filters) or "none"}  # nothing is set, as in a record that lacks it


def _words(settings: object) -> str:
    if not isinstance(settings, Mapping):
        return str(settings)
    flat = flat_settings({key: value for key, value in settings.items() if key != "_target_"})
    return ", ".join(f"{key}={value}" for key, value in flat.items())
