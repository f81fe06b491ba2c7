"""Equal scores: exact expected values against every order, random orders, lists that end inside a tie."""

from functools import partial
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge import evaluate
from recgauge.conventions import Definition, standard_metrics
from recgauge.data.lists import Relevant, TopK
from recgauge.engine import top_k
from recgauge.errors import ConfigError
from recgauge.evaluation.values import EvaluationInputs
from recgauge.judging import Policies, judge
from recgauge.judging.ties import random_keys, recommend_with_ties
from recgauge.metrics.beyond.catalogue import CatalogCoverage
from recgauge.metrics.discounted import DCG, NDCG, ExpectedReciprocalRank, RankBiasedPrecision, ReciprocalRank
from recgauge.metrics.precision import (
    AveragePrecision,
    AverageRecall,
    FScore,
    HitRate,
    Precision,
    Recall,
    RPrecision,
)

EXACT = (
    *(Precision(denominator=one) for one in ("k", "list", "min_relevant_k")),
    *(Recall(denominator=one) for one in ("relevant", "min_relevant_k", "min_relevant_list")),
    FScore(),
    FScore(beta=2.0),
    HitRate(),
    ReciprocalRank(),
    RPrecision(),
    RPrecision(denominator="min_relevant_k"),
    *(
        kind(normalizer=normalizer, at=at)
        for kind, normalizer, at in product(
            (AveragePrecision, AverageRecall),
            ("relevant", "min_relevant_k", "min_relevant_list", "k"),
            ("hits", "ranks"),
        )
    ),
    *(DCG(gain=gain, discount="jarvelin2") for gain in ("linear", "exponential", "binary")),
    *(NDCG(ideal=ideal) for ideal in ("at_k", "full", "list_length", "k_ones")),
    NDCG(gain="exponential", discount="reciprocal"),
    RankBiasedPrecision(),
    RankBiasedPrecision(gain="linear", normalization="ideal"),
)


def evaluate_top_k(metrics, *lists, user_ids, policies, catalogue=None, **settings):
    """Evaluate lists of codes, also by metrics without policies of their own."""
    suite = {
        name: one if isinstance(one, Definition) else Definition(one, policies)
        for name, one in metrics.items()
    }
    inputs = EvaluationInputs(*lists, user_ids, None, catalogue)
    return inputs.evaluate(suite, policies=policies, **settings)


def relevant_of(grades):
    """Relevance from a matrix (users, items), 0 for irrelevant."""
    users = np.arange(len(grades), dtype=np.int32)
    owner, items = np.nonzero(grades)
    start = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(users)))))
    return Relevant(users, start, items.astype(np.int32), grades[owner, items].astype(float), 0)


def ask_of(scores):
    def ask(users, k, *, progress=None):
        return TopK(users, *top_k(lambda who: scores[who], users, k, n_threads=1))

    return ask


def lists_of(scores, grades, k, **settings):
    users = np.arange(len(scores), dtype=np.int32)
    sizes = {"n_items": scores.shape[1], **settings}
    return recommend_with_ties(ask_of(scores), users, k, relevant_of(grades), **sizes)


def every_order(scores):
    """All orders of one user's items that fall by score."""
    groups = [np.flatnonzero(scores == score) for score in np.unique(scores)[::-1]]
    for parts in product(*(permutations(group) for group in groups)):
        yield [item for part in parts for item in part]


def judged_orders(scores, grades, width):
    """One user's lists in every order, as those of as many users."""
    items = np.array([order[:width] for order in every_order(scores)], np.int32)
    falling = np.broadcast_to(-np.arange(items.shape[1], dtype=np.float32), items.shape)
    users = np.arange(len(items), dtype=np.int32)
    return judge(TopK(users, items, falling), relevant_of(np.tile(grades, (len(items), 1))))


@st.composite
def tied_scores(draw):
    n_items = draw(st.integers(2, 6))
    n_levels = draw(st.integers(1, 3))
    rows = st.lists(st.integers(0, n_levels - 1), min_size=n_items, max_size=n_items)
    scores = np.array(draw(st.lists(rows, min_size=2, max_size=2)), np.float32)
    grade_rows = st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items).filter(any)
    grades = np.array(draw(st.lists(grade_rows, min_size=2, max_size=2)))
    return scores, grades, draw(st.integers(1, n_items))


def test_every_metric_with_a_formula_is_tested():
    kinds = {type(metric) for metric in standard_metrics().values() if metric.has_expected}
    assert kinds == {type(metric) for metric in EXACT}
    assert all(metric.has_expected for metric in EXACT)


@given(case=tied_scores())
def test_the_expected_value_is_the_mean_over_every_order(case):
    scores, grades, width = case
    lists, ids = lists_of(scores, grades, width), np.arange(len(scores))
    orders = [judged_orders(*one, width) for one in zip(scores, grades, strict=True)]
    suite = {f"m{place}": metric for place, metric in enumerate(EXACT)}
    cutoffs = (*range(1, width + 1), None)
    result = evaluate_top_k(
        suite, lists, relevant_of(grades), cutoffs=cutoffs, user_ids=ids, policies=Policies(ties="expected")
    )
    for entry in result.results:
        mean = [suite[entry.name].per_user(judged, entry.k).mean() for judged in orders]
        assert entry.per_user == pytest.approx(np.array(mean), abs=1e-12), entry.definition


def test_random_orders_are_uniform():
    users = np.arange(24_000, dtype=np.int32)
    items = np.broadcast_to(np.arange(4, dtype=np.int32), (len(users), 4))
    orders = np.argsort(random_keys(0, 0, users, items), axis=1) @ np.array([64, 16, 4, 1])
    _, counts = np.unique(orders, return_counts=True)
    assert len(counts) == 24
    chi_square = ((counts - 1000) ** 2 / 1000).sum()
    assert chi_square < 49.7  # 23 degrees of freedom: exceeded by one in a thousand


@pytest.mark.parametrize("ties", ["item_code", "random", "expected"])
def test_a_way_of_ties_needs_scores(ties):
    with pytest.raises(ConfigError, match=f"ties={ties} needs scores, and the lists have none"):
        evaluate({"ann": ["x", "y"]}, {"ann": ["y"]}, metrics=("mrr",), cutoffs=(2,), ties=ties)


def test_metrics_without_a_formula_are_means_over_draws():
    scores, grades = np.zeros((3, 8), np.float32), np.eye(3, 8, dtype=int)
    lists = lists_of(scores, grades, 2, draws=32, seed=0)
    policies = Policies(ties="expected")
    suite = {"err": ExpectedReciprocalRank(max_grade=1), "catalog_coverage": CatalogCoverage()}
    result = evaluate({0: [1]}, {0: [1]}, metrics="err", cutoffs=(1,), ties="expected", scores={0: [1]})
    assert result.definitions()["err_at_1"].endswith("[ties=expected] (mean over 32 orders)")
    ids = np.arange(3)
    from recgauge.data.catalogue import Catalogue
    from recgauge.data.interactions import Interactions

    seen = Interactions(np.arange(3), np.arange(3), np.ones(3), None, ids, np.arange(8))
    measure = partial(
        evaluate_top_k,
        suite,
        lists,
        relevant_of(grades),
        cutoffs=(2,),
        user_ids=ids,
        catalogue=Catalogue.from_train(seen, None),
    )
    values = measure(policies=policies).values()
    # one relevant item among eight: 1/8 (1/2) + 1/8 (1/2 / 2); standard deviation of a value .18
    assert values["err_at_2"] == pytest.approx(0.09375, abs=4 * 0.18 / np.sqrt(3 * 32))
    # each of eight items is missed by three lists with probability (3/4)^3; item code gives 2/8
    assert values["catalog_coverage_at_2"] == pytest.approx(1 - 0.75**3, abs=0.1)
    assert measure(policies=Policies()).values()["catalog_coverage_at_2"] == 0.25


def test_lists_from_outside_say_where_a_tie_is_open():
    lists = {"ann": ["x", "y", "z"], "bob": ["x", "y", "z"]}
    scores = {"ann": [3, 1, 1], "bob": [2, 2, 1]}
    result = evaluate(lists, {"ann": ["z"], "bob": ["x"]}, metrics="hit_rate", cutoffs=(1, 2), scores=scores)
    assert result.ties.shares == {1: 0.5, 2: 0.5}
    assert result.ties.open == 0.5  # more of ann's items may score 1
    assert result.ties.expected == {"hit_rate_at_1": 0.25, "hit_rate_at_2": 0.75}
    assert result.values() == {"hit_rate_at_1": 0.5, "hit_rate_at_2": 0.5}
    expected = evaluate(
        lists,
        {"ann": ["z"], "bob": ["x"]},
        metrics="hit_rate",
        cutoffs=(1, 2),
        scores=scores,
        ties="expected",
    )
    assert expected.values() == {"hit_rate_at_1": 0.25, "hit_rate_at_2": 0.75}
    assert expected.policies.startswith("no_relevant=skip, no_list=zero, ties=expected")
    assert evaluate(lists, {"ann": ["z"]}, cutoffs=(1,)).ties is None


def test_item_code_and_random_order_lists_from_outside():
    lists, scores = {"ann": [9, 2, 5]}, {"ann": [1, 1, 1]}
    ask = partial(evaluate, lists, {"ann": [2]}, metrics="mrr", cutoffs=(3,), scores=scores)
    assert ask(ties="item_code").values() == {"mrr_at_3": 1.0}
    assert ask(ties="id_descending").values() == {"mrr_at_3": pytest.approx(1 / 3)}
    found = {ask(ties="random", seed=seed).values()["mrr_at_3"] for seed in range(20)}
    assert found == {1.0, 0.5, 1 / 3}
    assert ask(ties="random", seed=7).values() == ask(ties="random", seed=7).values()
    with pytest.raises(ConfigError, match="item_code, id_descending, average, random, expected"):
        ask(ties="nonsense")
