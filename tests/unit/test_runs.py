"""Whole runs in memory: a perfect model, chance, both lanes, and every candidate rule."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from recgauge.candidates import AllItems, OwnTestItems, TrainItems
from recgauge.candidates.named import AllowList
from recgauge.candidates.sampled import SampledNegatives
from recgauge.errors import ConfigError
from recgauge.experiment import run_experiment
from recgauge.guards.checks import check_sanity
from recgauge.models.bias import Bias
from recgauge.models.popularity import Popularity
from recgauge.models.random import Random
from recgauge.models.recommend import recommend
from recgauge.models.svd import SVD
from recgauge.utils.randomness import stream
from small_runs import experiment as small

RANKING = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")


def experiment(model, metrics=RANKING, conventions="standard", **changes):
    return small(metrics, conventions, **{"model": model, "cutoffs": (1, 10)} | changes)


def test_both_lanes_of_one_model():
    result = run_experiment(experiment(Bias(), metrics=("rmse", "mae", "ndcg")))
    keys = [entry.key for entry in result.results]
    assert keys == ["ndcg_at_1", "ndcg_at_10", "rmse", "mae"]
    assert 0.6 < result.rating.evaluation.values()["rmse"] < 0.9
    assert len(result.rating.predictions) == len(result.split.test)
    assert result.counts["users_evaluated"] == len(result.ranking.relevant.users)


def test_a_metric_that_its_convention_refuses_costs_no_other():
    result = run_experiment(experiment(Random(), conventions="cornac"))
    assert set(result.ranking.refused) == {"mrr"}
    assert "MRR(miss=raise) refuses user" in result.ranking.refused["mrr"]
    assert {entry.name for entry in result.results} == set(RANKING) - {"mrr"}


RULES = [
    AllItems("none"),
    TrainItems(),
    AllowList(items=list(range(1, 301))),
    OwnTestItems(),
    SampledNegatives(n=50),
]


def ranked(model, candidates, metrics=("precision", "ndcg"), **settings):
    return small(metrics, **{"model": model, "candidates": candidates, "cutoffs": (1, 10)} | settings)


def by_name(result):
    return {guard.name: guard for guard in result.guards}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_lists_are_a_full_sort_of_the_candidates(rule):
    model = SVD(4)
    result = run_experiment(ranked(model, rule))
    lists, split = result.ranking.top_k, result.split
    chosen = rule.choose(split, rng=stream(0, "candidates"))
    everything = recommend(model, lists.users, split.test.n_items)
    for row in range(0, len(lists.users), 90):
        order = everything.items[row]
        held = chosen.holds(np.full(len(order), lists.users[row]), order)
        best = order[held][:10]
        assert lists.items[row, : len(best)].tolist() == best.tolist()
        assert (lists.items[row, len(best) :] == -1).all()


def test_all_models_get_the_same_negatives():
    first, second = (run_experiment(ranked(model, SampledNegatives(n=9))) for model in (SVD(4), Random()))
    chosen = SampledNegatives(n=9).choose(first.split, rng=stream(0, "candidates"))
    assert first.ranking.candidates.sha256() == second.ranking.candidates.sha256() == chosen.sha256()
    other = SampledNegatives(n=9).choose(first.split, rng=stream(1, "candidates"))
    assert other.sha256() != chosen.sha256()
    assert not AllItems().choose(first.split, rng=stream(0, "candidates")).sha256()
    for result in (first, second):
        lists = result.ranking.top_k
        row, column = np.nonzero(lists.items >= 0)
        assert chosen.holds(lists.users[row], lists.items[row, column]).all()


@pytest.mark.parametrize("rule", [AllowList(items=list(range(1, 301))), OwnTestItems()])
def test_areas_count_the_candidates_that_are_left(rule):
    """Each user's area over the whole list, from its definition, with the candidates' own number."""
    metrics = ("limited_auc", "completed_auc")
    result = run_experiment(ranked(SVD(4), rule, metrics, cutoffs=(300,)))
    lane, split = result.ranking, result.split
    chosen = rule.choose(split, rng=stream(0, "candidates"))
    everybody = np.arange(split.test.n_items, dtype=np.int32)
    for row in range(0, len(lane.relevant.users), 61):
        user = lane.relevant.users[row]
        relevant = set(lane.relevant.items[lane.relevant.start[row] : lane.relevant.start[row + 1]].tolist())
        candidates = set(everybody[chosen.holds(np.full(len(everybody), user), everybody)].tolist())
        n_irrelevant = len(candidates - relevant)
        listed = [item for item in lane.top_k.items[row].tolist() if item >= 0]
        assert set(listed) == candidates
        misses, limited, pairs = 0, 0.0, 0
        for item in listed:
            if item in relevant:
                limited += (n_irrelevant + 1 - misses) / (n_irrelevant + 1)
                pairs += n_irrelevant - misses
            else:
                misses += 1
        found = lane.evaluation.per_user("limited_auc_at_300")[row]
        assert found == pytest.approx(limited / min(len(relevant), 300))
        completed = lane.evaluation.per_user("completed_auc_at_300")[row]
        if n_irrelevant:
            assert completed == pytest.approx(pairs / (n_irrelevant * len(relevant)))
        else:
            assert np.isnan(completed)


@pytest.mark.parametrize("rule", RULES[1:], ids=lambda rule: type(rule).__name__)
def test_no_model_leaves_what_sanity_rows_span(rule):
    result = run_experiment(
        ranked(SVD(8), rule, ("precision", "recall", "mrr", "map", "ndcg", "novelty"), sanity=True)
    )
    rows, values = result.ranking.sanity, result.ranking.evaluation.values()
    assert set(rows.chance) == set(values)
    assert set(rows.oracle) == {key for key in values if not key.startswith("novelty")}
    for key, best in rows.oracle.items():
        assert rows.chance[key] < values[key] <= best + 1e-12
    assert {by_name(result)[name].level for name in ("below_chance", "above_oracle")} == {"note"}


def test_chance_is_the_share_of_relevant_candidates():
    result = run_experiment(ranked(Popularity(), SampledNegatives(n=40), cutoffs=(5,), sanity=True))
    lane, split = result.ranking, result.split
    pool = 40 + split.test.user_counts()[lane.relevant.users]
    expected = (np.diff(lane.relevant.start) / pool).mean()
    distance = lane.sanity.chance["precision_at_5"] - expected
    assert abs(distance) < 4 * lane.sanity.chance_stderr["precision_at_5"]


@dataclass(eq=False)
class UpsideDown(Popularity):
    """Recommends what nobody wants."""

    def factors(self):
        own = super().factors()
        return replace(own, item=-own.item)

    def score(self, users):
        return -super().score(users)


def test_a_model_below_chance_is_noticed():
    result = run_experiment(ranked(UpsideDown(), AllItems(), cutoffs=(20,), sanity=True))
    guard = by_name(result)["below_chance"]
    assert guard.level == "warning"
    assert "precision_at_20" in guard.message
    rows = replace(result.ranking.sanity, oracle=dict.fromkeys(result.ranking.sanity.oracle, -1.0))
    above = check_sanity(result.ranking.evaluation, rows)[1]
    assert (above.value, above.level) == (2.0, "warning")


def test_sanity_needs_lists():
    with pytest.raises(ConfigError, match=r"sanity: .*add metrics=ranking"):
        ranked(Popularity(), AllItems(), metrics=("rmse",), sanity=True)
