"""Values of other libraries, reproduced: every mean, every user's value, or a stated reason why not."""

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from beyond_lists import judged_lists
from golden.beyond_cases import CASES, catalogue_from, number
from recgauge.errors import MetricError
from recgauge.judging import JudgedTopK
from recgauge.metrics import Metric, RunMetric, UserMetric
from recgauge.metrics.beyond.concentration import Entropy, Gini, GiniComplement
from recgauge.metrics.beyond.coverage import CatalogCoverage
from recgauge.metrics.beyond.diversity import Diversity, IntraListSimilarity, PooledDiversity
from recgauge.metrics.beyond.expected_discovery import ExpectedFreeDiscovery, ExpectedPopularityComplement
from recgauge.metrics.beyond.long_tail import TailPercentage
from recgauge.metrics.beyond.novelty import Novelty, PooledNovelty
from recgauge.metrics.beyond.personalization import Personalization
from recgauge.metrics.beyond.popularity import Popularity
from recgauge.metrics.beyond.seen_share import UnseenShare
from recgauge.metrics.beyond.serendipity import HistorySerendipity, RankSerendipity, UnpopularSerendipity

USERS = {
    "article_evaluation": "all",
    "capri": "all",
    "recmetrics": "all",
    "recmetrics_git": "all",
    "rectools": "all",
    "replay": "all",
    "recommenders": "all",
    "recbole": "relevant",
    "irspack": "relevant",
    "elliot": "relevant",
}
"""Whose lists a library was given: everybody's, or those of users with relevant items."""

_RECMETRICS: dict[str, Metric] = {
    "prediction_coverage": CatalogCoverage(scale="percent"),
    "personalization": Personalization(),
    "novelty": Novelty(divisor="k", unseen="raise"),
    "novelty(pop+1)": Novelty(divisor="k", unseen="raise"),
    "intra_list_similarity": IntraListSimilarity(single="raise"),
}
METRICS: dict[str, dict[str, Metric]] = {
    "article_evaluation": {
        "catalog_coverage": CatalogCoverage(),
        "serendipity": UnpopularSerendipity(),
        "diversity": PooledDiversity(),
    },
    "rectools": {
        "MeanInvUserFreq": Novelty(),
        "AvgRecPopularity": Popularity(),
        "AvgRecPopularity(normalize=True)": Popularity(value="share"),
        "Serendipity": RankSerendipity(),
        "CatalogCoverage(normalize=True)": CatalogCoverage(),
        "IntraListDiversity(cosine)": Diversity(single=0),
    },
    "recmetrics": _RECMETRICS,
    "recmetrics_git": _RECMETRICS,
    "capri": {
        "novelty": Novelty(divisor="k", unseen="zero"),
        "catalogCoverage": CatalogCoverage(scale="percent"),
        "personalization": Personalization(),
        "listDiversity": Diversity(similarity="matrix", single="raise"),
    },
    "recbole": {
        "ItemCoverage": CatalogCoverage(),
        "ShannonEntropy": Entropy(base="e", divisor="recommended"),
        "GiniIndex": Gini(),
        "AveragePopularity": Popularity(divisor="k"),
        "TailPercentage": TailPercentage(),
    },
    "replay": {
        "Novelty": UnseenShare(empty="unseen"),
        "Surprisal": Novelty(divisor="k", scale="log_users"),
        "Coverage": CatalogCoverage(catalog="train"),
    },
    "irspack": {
        "df:gini_index": Gini(),
        "df:entropy": Entropy(base="e"),
        "df:appeared_item": CatalogCoverage(scale="count"),
        "gini_index": Gini(),
        "entropy": Entropy(base="e"),
        "catalog_coverage": CatalogCoverage(),
    },
    "elliot": {
        "EFD": ExpectedFreeDiscovery(),
        "EPC": ExpectedPopularityComplement(),
        "GiniIndex": GiniComplement(normalizer="n_minus_1"),
        "ShannonEntropy": Entropy(weight="users"),
        "ItemCoverage": CatalogCoverage(scale="count"),
        "ARP": Popularity(),
    },
    "recommenders": {
        "novelty": PooledNovelty(),
        "catalog_coverage": CatalogCoverage(catalog="train", intersect=False),
        "distributional_coverage": Entropy(),
        "diversity(item_feature_vector)": Diversity(),
        "serendipity(item_feature_vector)": HistorySerendipity(similarity="features"),
        "serendipity(item_feature_vector,relevance)": HistorySerendipity("features", relevance=True),
        "diversity(cooccurrence)": Diversity(similarity="cooccurrence"),
        "serendipity(cooccurrence)": HistorySerendipity(),
    },
}

LEFT_OUT = {
    "0/0: the sign": "one list makes no pair: the library's infinity is noise, ours is undefined",
    "inhomogeneous shape": "the library cannot take lists of unequal length, ours is defined for them",
    "Expected 2D array": "the article's code fails on an empty list, ours has no pair there",
    "ZeroDivisionError: division by zero": "the library fails on an empty list, ours leaves the user out",
}
"""Part of what the library said, and why there is no value to compare."""


@dataclass(frozen=True)
class Ours:
    """What our metric gives: `value` is None where it refuses the input."""

    value: float | None
    per_user: np.ndarray[Any, np.dtype[np.float64]] | None


def compute(metric: Metric, judged: JudgedTopK, k: int) -> Ours:
    try:
        if isinstance(metric, UserMetric):
            per_user = metric.per_user(judged, k)
            defined = per_user[~np.isnan(per_user)]
            return Ours(float(defined.mean()) if len(defined) else float("nan"), per_user)
        assert isinstance(metric, RunMetric)
        return Ours(metric.value(metric.sums(judged, k)), None)
    except MetricError:
        return Ours(None, None)


def judged_for(case: dict[str, Any], function: str, k: int) -> tuple[JudgedTopK, list[int]]:
    """Return the lists of the users that the library saw, and their rows in the case."""
    lists, relevant = case["recommended"], case["relevant"]
    if function.startswith("irspack/") and "df:" not in function:
        lists = case.get("by_score", lists)
    users = case["users"]
    if USERS[function.split("/")[0]] == "relevant":
        users = [user for user in users if relevant.get(user)]
    if "df:" in function:
        users = [user for user in users if lists.get(user)]
    rows = [case["users"].index(user) for user in users]
    ranked = [lists.get(user, []) for user in users]
    held_out = [relevant.get(user, []) for user in users]
    if function == "irspack/df:gini_index":
        case, ranked, held_out = only_named_items(case, [items[:k] for items in ranked], held_out)
    catalogue = catalogue_from(case, plus_one="pop+1" in function)
    return judged_lists(ranked, held_out, rows, catalogue), rows


def only_named_items(
    case: dict[str, Any], ranked: list[list[int]], held_out: list[list[int]]
) -> tuple[dict[str, Any], list[list[int]], list[list[int]]]:
    """Shrink the catalogue to the items of lists and relevant items, all that a data frame shows."""
    named = sorted({item for items in (*ranked, *held_out) for item in items})
    small = {**case, "n_items": len(named), "train": {}, "features": None}
    code = {item: position for position, item in enumerate(named)}
    coded, wanted = ([[code[item] for item in items] for items in lists] for lists in (ranked, held_out))
    return small, coded, wanted


def compare(case: dict[str, Any], entry: dict[str, Any]) -> tuple[str, int]:
    """Compare one entry; return what became of it and how many values were compared."""
    library, name = entry["function"].split("/", 1)
    judged, rows = judged_for(case, entry["function"], entry["k"])
    ours = compute(METRICS[library][name], judged, entry["k"])
    said = entry.get("unstable") or entry.get("error")
    if said is not None:
        if "error" in entry and (ours.value is None or np.isnan(ours.value)):
            return "refused or undefined in both", 0
        reasons = [why for part, why in LEFT_OUT.items() if part in said]
        assert reasons, f"{case['id']} {entry['function']}: ours is {ours.value}, theirs is {said}"
        return reasons[0], 0
    assert ours.value == pytest.approx(number(entry["value"]), rel=1e-9, abs=1e-9, nan_ok=True), entry
    if "per_user" not in entry:
        return "equal", 1
    assert ours.per_user is not None
    aligned = np.full(len(case["users"]), np.nan)
    aligned[rows] = ours.per_user
    expected = [number(value) for value in entry["per_user"]]
    assert aligned.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True), entry
    return "equal", 1 + len(expected)


def test_every_library_value_is_reproduced_or_left_out_for_a_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcomes: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    for case in CASES["cases"]:
        for entry in case["expected"]:
            outcome, values = compare(case, entry)
            outcomes[outcome] += 1
            compared[entry["function"].split("/")[0]] += values
    lines = [f"{count:7d} {outcome}" for outcome, count in outcomes.most_common()]
    with capsys.disabled():
        sys.stdout.write(
            "\n".join(["", f"{compared.total():7d} library values compared; entries:", *lines, ""])
        )
    assert set(outcomes) == {"equal", "refused or undefined in both", *LEFT_OUT.values()}
    assert sum(outcomes.values()) == sum(len(case["expected"]) for case in CASES["cases"])
    assert compared.total() == 22886
