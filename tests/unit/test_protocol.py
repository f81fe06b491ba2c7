"""Whole runs under every candidate rule: lists, catalogue sizes, sanity rows, guards that stop."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from recgauge.candidates import AllItems, CandidateItems, OwnTestItems, TrainItems
from recgauge.candidates.named import AllowList
from recgauge.candidates.sampled import SampledNegatives
from recgauge.data.interactions import Interactions
from recgauge.data.lists import Relevant
from recgauge.datasets.demo import Demo
from recgauge.errors import ConfigError, GuardError
from recgauge.evaluation.ranking_task import oracle_lists
from recgauge.experiment import run_experiment
from recgauge.guards import GuardSettings
from recgauge.guards.checks import check_sanity
from recgauge.models.popularity import Popularity
from recgauge.models.random import Random
from recgauge.models.recommend import recommend
from recgauge.models.svd import SVD
from recgauge.runs.record import RunRecord
from recgauge.splits.shares import RandomRows
from recgauge.utils.randomness import stream
from small_runs import experiment as small

RULES = [
    AllItems("none"),
    TrainItems(),
    AllowList(items=list(range(1, 301))),
    OwnTestItems(),
    SampledNegatives(n=50),
]


def experiment(model, candidates, metrics=("precision", "ndcg"), **settings):
    return small(metrics, **{"model": model, "candidates": candidates, "cutoffs": (1, 10)} | settings)


def by_name(result):
    return {guard.name: guard for guard in result.guards}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_lists_are_a_full_sort_of_the_candidates(rule):
    model = SVD(4)
    result = run_experiment(experiment(model, rule))
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
    first, second = (run_experiment(experiment(model, SampledNegatives(n=9))) for model in (SVD(4), Random()))
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
    result = run_experiment(experiment(SVD(4), rule, metrics, cutoffs=(300,)))
    lane, split = result.ranking, result.split
    chosen = rule.choose(split, rng=stream(0, "candidates"))
    everybody = np.arange(split.test.n_items, dtype=np.int32)
    for row in range(0, len(lane.relevant.users), 61):
        user = lane.relevant.users[row]
        relevant = set(lane.relevant.items[lane.relevant.start[row] : lane.relevant.start[row + 1]].tolist())
        candidates = set(everybody[chosen.holds(np.full(len(everybody), user), everybody)].tolist())
        n_irrelevant = len(candidates - relevant)
        ranked = [item for item in lane.top_k.items[row].tolist() if item >= 0]
        assert set(ranked) == candidates
        misses, limited, pairs = 0, 0.0, 0
        for item in ranked:
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
        experiment(SVD(8), rule, ("precision", "recall", "mrr", "map", "ndcg", "novelty"), sanity=True)
    )
    rows, values = result.ranking.sanity, result.ranking.evaluation.values()
    assert set(rows.chance) == set(values)
    assert set(rows.oracle) == {key for key in values if not key.startswith("novelty")}
    for key, best in rows.oracle.items():
        assert rows.chance[key] < values[key] <= best + 1e-12
    assert {by_name(result)[name].level for name in ("below_chance", "above_oracle")} == {"note"}


def test_chance_is_the_share_of_relevant_candidates():
    result = run_experiment(experiment(Popularity(), SampledNegatives(n=40), cutoffs=(5,), sanity=True))
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
    result = run_experiment(experiment(UpsideDown(), AllItems(), cutoffs=(20,), sanity=True))
    guard = by_name(result)["below_chance"]
    assert guard.level == "warning"
    assert "precision_at_20" in guard.message
    rows = replace(result.ranking.sanity, oracle=dict.fromkeys(result.ranking.sanity.oracle, -1.0))
    above = check_sanity(result.ranking.evaluation, rows)[1]
    assert (above.value, above.level) == (2.0, "warning")


def test_the_best_lists_hold_relevant_candidates_best_first():
    relevant = Relevant(
        np.array([1, 3], np.int32), np.array([0, 3, 4]), np.array([5, 6, 7, 2], np.int32),
        np.array([1.0, 3.0, 1.0, 2.0]), 0,
    )  # fmt: skip
    only = CandidateItems(items=np.array([5, 6, 7], np.int32))
    lists = oracle_lists(relevant, np.array([3, 0, 1], np.int32), 2, only)
    assert lists.items.tolist() == [[-1, -1], [-1, -1], [6, 5]]


def test_sanity_needs_lists():
    with pytest.raises(ConfigError, match=r"sanity: .*add metrics=ranking"):
        experiment(Popularity(), AllItems(), metrics=("rmse",), sanity=True)


@dataclass(frozen=True)
class ClaimsOrder(RandomRows):
    """Random, though it says it keeps the order of time."""

    temporal = True


@dataclass(frozen=True)
class Timed(Demo):
    """The demo, in an order of time that runs against its rows."""

    def load(self, progress=None):
        loaded = Demo().load()
        rows = loaded.interactions
        times = np.arange(len(rows))[::-1]
        timed = Interactions(rows.user, rows.item, rows.value, times, rows.user_ids, rows.item_ids)
        return replace(loaded, interactions=timed)


def test_a_guard_stops_the_run_unless_overridden():
    claims = replace(experiment(Popularity(), AllItems(), splitter=ClaimsOrder()), dataset=Timed())
    with pytest.raises(GuardError, match=r"claims to keep time order.*guards\.override=\[train_after_test\]"):
        run_experiment(claims)
    result = run_experiment(replace(claims, guards=GuardSettings(("train_after_test",))))
    assert by_name(result)["train_after_test"].overridden
    honest = replace(claims, splitter=RandomRows())
    assert by_name(run_experiment(honest))["train_after_test"].level == "note"


def test_a_candidate_rule_that_reaches_nothing_stops_before_training():
    class Untrainable(Popularity):
        def fit(self, train, *, rng):
            raise AssertionError("must not be reached")

    class Nothing(AllItems):
        def choose(self, split, *, rng):
            return CandidateItems(excluded=split.test.to_csr())

    with pytest.raises(GuardError, match="unreachable_items"):
        run_experiment(experiment(Untrainable(), Nothing()))


def test_the_record_keeps_marks_guards_and_sanity():
    result = run_experiment(experiment(Popularity(), OwnTestItems(), sanity=True))
    facts = {"names": {}, "seed": 0, "command": "", "settings": {}, "environment": {}}
    record = RunRecord.from_result(result, **facts)
    assert RunRecord.from_json(record.to_json()) == record
    assert "own test items" in record.incomparable
    assert {guard.name for guard in record.guards} >= {"overlap", "unreachable_items", "above_oracle"}
    assert set(record.sanity.oracle) == set(record.values())


def test_coverage_of_users_stands_on_all_users_of_the_test_part_and_moves_nothing_else():
    """Two items are allowed: who has seen both gets no list, whether or not a test item is relevant."""
    counts = Demo().load().interactions.item_counts()
    rule = AllowList(items=Demo().load().interactions.item_ids[np.argsort(-counts)[:2]].tolist())
    others = ("precision", "recall", "catalog_coverage", "novelty", "gini")
    coverage = ("user_coverage", "prediction_coverage")
    settings = {"cutoffs": (1, 10), "sanity": True}
    plain = run_experiment(experiment(Popularity(), rule, others, **settings))
    result = run_experiment(experiment(Popularity(), rule, others + coverage, **settings))
    lane, split = result.ranking, result.split
    n_candidates = rule.choose(split, rng=stream(0, "candidates")).counts(
        split.test.n_users, split.test.n_items
    )[split.test_users]
    assert len(lane.relevant.users) < len(split.test_users)
    values = lane.evaluation.values()
    assert values["user_coverage_at_1"] == values["user_coverage_at_10"] == (n_candidates > 0).mean()
    assert 0.5 < values["user_coverage_at_1"] < 1.0
    expected = n_candidates.sum() / (len(split.test_users) * split.test.n_items)
    assert values["prediction_coverage_at_10"] == pytest.approx(expected)
    for key, value in plain.ranking.evaluation.values().items():
        assert values[key] == value
    assert lane.top_k.users.tolist() == lane.relevant.users.tolist()
    assert lane.evaluation.counts == plain.ranking.evaluation.counts
    assert lane.sanity.chance["user_coverage_at_10"] == values["user_coverage_at_10"]
    assert {
        key: lane.sanity.chance[key] for key in plain.ranking.sanity.chance
    } == plain.ranking.sanity.chance
