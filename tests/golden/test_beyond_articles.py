"""Worked cases of articles, with the values that their own code gives or their text prints."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from beyond_lists import cosine, judged_lists
from golden.beyond_cases import CASES
from recgauge.catalogue import Catalogue
from recgauge.errors import MetricError
from recgauge.judging import JudgedTopK
from recgauge.metrics import Metric, RunMetric, UserMetric
from recgauge.metrics.beyond.coverage import CatalogCoverage, PredictionCoverage
from recgauge.metrics.beyond.diversity import Diversity, IntraListSimilarity, PooledDiversity
from recgauge.metrics.beyond.novelty import Novelty
from recgauge.metrics.beyond.personalization import Personalization
from recgauge.metrics.beyond.serendipity import UnpopularSerendipity

METRICS: dict[str, Metric] = {
    "article_evaluation-catalog-coverage": CatalogCoverage(),
    "article_evaluation-prediction-coverage": PredictionCoverage(),
    "article_evaluation-diversity-seed0": PooledDiversity(),
    "article_evaluation-serendipity": UnpopularSerendipity(popular=9 / 20),
    "article_evaluation-serendipity-per-user": UnpopularSerendipity(popular=9 / 20),
    "page_capri-novelty": Novelty(divisor="k", unseen="zero"),
    "page_capri-list-diversity": Diversity(similarity="matrix", single="raise"),
    "page_capri-list-diversity-single": Diversity(similarity="matrix", single="raise"),
    "page_capri-catalog-coverage": CatalogCoverage(scale="percent"),
    "page_capri-personalization": Personalization(),
    "article_recmetrics-personalization": Personalization(),
    "article_recmetrics-intra-list-similarity": IntraListSimilarity(single="raise"),
    "article_recmetrics-ils-user1": IntraListSimilarity(single="raise"),
    "article_recmetrics-recmetrics-novelty": Novelty(divisor="k", unseen="raise"),
    "article_recmetrics-prediction-coverage": CatalogCoverage(scale="percent"),
}
LEFT_OUT = {
    "page_capri-novelty-printed-code": "the page lost a line of code; the whole one is compared",
    "page_capri-novelty-printed-unseen": "the page lost a line of code; the whole one is compared",
    "page_capri-personalization-ragged": "the code fails on lists of unequal length, ours does not",
}
NOT_REPEATABLE = {
    "article_evaluation-diversity-seed0": "the printed value comes from features drawn without a seed"
}


def judged_for(inputs: dict[str, Any]) -> tuple[JudgedTopK, int]:
    """Give the items of an article codes and return its lists with the cutoff it uses."""
    lists = inputs.get("recommended") or inputs.get("predicted") or inputs["predicted_ratings"]
    lists = [list(items) for items in lists] if isinstance(lists[0], (list, dict)) else [lists]
    relevant = inputs.get("relevant", lists)
    known = inputs.get("catalog", [*inputs.get("pop", {}), *inputs.get("features", {})])
    named = sorted({str(item) for items in (*lists, *relevant, known) for item in items})
    code = {item: position for position, item in enumerate(named)}
    n_items = max(len(named), inputs.get("total_items", 0), 20 if "popular" in inputs else 0)
    counts = np.zeros(n_items, np.int64)
    for item, count in inputs.get("pop", dict.fromkeys(map(str, inputs.get("popular", [])), 1)).items():
        counts[code[item]] = count
    catalogue = Catalogue(n_items, counts, inputs.get("u", 1))
    if "features" in inputs:
        rows = np.array([inputs["features"][item] for item in named])
        catalogue = replace(catalogue, features=sparse.csr_array(rows), similarity=cosine(rows))
    if "similarity" in inputs:
        catalogue = replace(catalogue, n_items=len(inputs["similarity"]), **counts_of(inputs))
    ranked, wanted = ([[code[str(item)] for item in items] for items in table] for table in (lists, relevant))
    judged = judged_lists(ranked, wanted, list(range(len(lists))), catalogue)
    return judged, inputs.get("k") or inputs.get("n") or judged.items.shape[1]


def counts_of(inputs: dict[str, Any]) -> dict[str, Any]:
    matrix = np.array(inputs["similarity"])
    zeros = np.zeros(len(matrix), np.int64)
    return {"similarity": matrix, "train_counts": zeros, "train_users": zeros}


def compute(metric: Metric, judged: JudgedTopK, k: int) -> tuple[float, list[float] | None]:
    if isinstance(metric, UserMetric):
        per_user = metric.per_user(judged, k)
        return float(np.nanmean(per_user)), per_user.tolist()
    assert isinstance(metric, RunMetric)
    return metric.value(metric.sums(judged, k)), None


@pytest.mark.parametrize("case", CASES["worked"], ids=lambda case: case["id"])
def test_worked_case(case: dict[str, Any]) -> None:
    if case["id"] in LEFT_OUT:
        return
    judged, k = judged_for(case["inputs"])
    metric = METRICS[case["id"]]
    if "expected_error" in case:
        with pytest.raises(MetricError, match="two items"):
            compute(metric, judged, k)
        return
    value, per_user = compute(metric, judged, k)
    found = per_user if isinstance(case["expected"], list) else value
    assert found == pytest.approx(case["expected"], rel=1e-9, abs=1e-9)
    if case["printed"] is not None and case["id"] not in NOT_REPEATABLE:
        decimals = len(case["printed"].split(".")[1])
        assert round(value, decimals) == pytest.approx(float(case["printed"]), abs=1e-9)


def test_every_worked_case_is_compared_or_left_out_for_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    known = [case["id"] for case in CASES["worked"]]
    assert sorted(known) == sorted([*METRICS, *LEFT_OUT])
    with capsys.disabled():
        sys.stdout.write(f"\n{len(METRICS)} worked cases compared, {len(LEFT_OUT)} left out with a reason\n")
