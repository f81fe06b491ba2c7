"""What must be equal between runs for their numbers to be compared, and in what they differ."""

from collections.abc import Iterable, Mapping, Sequence

from recgauge.runs.record import RunRecord
from recgauge.runs.settings import counted_settings, flat_settings

Protocol = dict[str, str]
"""Everything but the model that a number stands on, as ``{what: value}``."""

OF_A_MODEL = ("model", "learning", "guards", "seed")
"""Settings that runs may differ in: the model, how it learned, and what was said about it."""
OF_METRICS = ("metrics", "cutoffs", "conventions_table", "sanity")
"""Settings that decide which metrics there are; what each metric is, its definition says."""
NAMED = ("dataset", "split", "candidates", "conventions")
"""Groups whose chosen option counts, and tells more than the settings that it stands for."""
ROWS = ("data", "train rows", "fold-in rows", "evaluated rows")
CAUSES = {
    **dict.fromkeys(ROWS, ("dataset", "filters", "split", "seed", "fit_on", "evaluate_on")),
    "candidates drawn": ("dataset", "filters", "split", "seed", "candidates"),
}
"""Digests, each with the settings that explain why two of them differ."""


def protocol(records: Sequence[RunRecord], metrics: Iterable[str] = ()) -> Protocol:
    """Return what a number stands on: settings by their names, digests of rows, definitions of `metrics`.

    The number is of one run, or the mean of runs over folds or seeds. Where these differ, each value is there
    once, in the order of the runs.
    """
    keys = list(metrics)
    parts = [_of_run(record, keys) for record in records]
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: ", ".join(dict.fromkeys(part.get(name, "none") for part in parts)) for name in names}


def identity(found: Protocol) -> tuple[tuple[str, str], ...]:
    """Return what is equal for comparable protocols alone, to group by."""
    return tuple(sorted((name, value) for name, value in found.items() if name != "seed"))


def differences(protocols: Sequence[Protocol]) -> dict[str, tuple[str, ...]]:
    """Return in what protocols differ, with the value of each; empty if they are comparable.

    Seeds alone may differ. What follows from another difference is left out: with another seed, the rows
    differ, and with another split, its settings.
    """
    names = dict.fromkeys(name for each in protocols for name in each)
    values = {name: tuple(each.get(name, "none") for each in protocols) for name in names}
    found = {name: each for name, each in values.items() if len(set(each)) > 1}
    if not found.keys() - {"seed"}:
        return {}
    explained = {name for name in found if any(_covers(cause, found) for cause in CAUSES.get(name, ()))}
    explained |= {name for name in found if "." in name and name.partition(".")[0] in found}
    if not explained & set(CAUSES):
        explained.add("seed")
    return {name: each for name, each in found.items() if name not in explained}


def _covers(cause: str, found: Mapping[str, object]) -> bool:
    return any(name == cause or name.startswith(f"{cause}.") for name in found)


def _of_run(record: RunRecord, keys: Sequence[str]) -> Protocol:
    split, results = record.split, {entry.key: entry for entry in record.results}
    policies = [policy.partition("=") for policy in record.policies.split(", ") if policy]
    found = {
        **{group: record.names.get(group, "none") for group in NAMED},
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
        found["fold-in rows"] = split.fold_in.sha256[:12]
    return found | {
        f"definition of {key}": results[key].definition if key in results else "not computed" for key in keys
    }


def _settings(record: RunRecord) -> Protocol:
    """Return the settings that count, the filters as one text, since their order counts."""
    counted = counted_settings(record.settings)
    kept = {key: value for key, value in counted.items() if key not in OF_A_MODEL + OF_METRICS}
    filters = [f"{name}({_words(settings)})" for name, settings in kept.pop("filters")]
    return flat_settings(kept) | {"filters": ", ".join(filters) or "none"}


def _words(settings: object) -> str:
    if not isinstance(settings, Mapping):
        return str(settings)
    flat = flat_settings({key: value for key, value in settings.items() if key != "_target_"})
    return ", ".join(f"{key}={value}" for key, value in flat.items())
