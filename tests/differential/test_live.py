"""Random lists, judged by recgauge and by the libraries themselves, side by side.

`make differential` installs the libraries; elsewhere the tests are skipped.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recgauge
from differential.libraries import library

pytestmark = [pytest.mark.differential, pytest.mark.filterwarnings("ignore")]
CUTOFFS = (1, 3, 5, 10)
N_ITEMS = 25


@st.composite
def cases(draw, graded):
    """Lists and relevance of the same users; everybody has a list and something relevant."""
    users = [f"u{number}" for number in range(draw(st.integers(1, 6)))]
    items = st.integers(0, N_ITEMS - 1)
    lists, relevant = {}, {}
    for user in users:
        lists[user] = draw(st.lists(items, min_size=1, max_size=12, unique=True))
        grades = st.integers(1, 4) if graded else st.just(1)
        relevant[user] = draw(st.dictionaries(items, grades, min_size=1, max_size=8))
    return lists, relevant


lists_and_grades = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def ours(lists, relevant, metrics, conventions):
    return recgauge.evaluate(lists, relevant, metrics=metrics, cutoffs=CUTOFFS, conventions=conventions)


def agree(evaluation, name, theirs):
    """Compare per-user values, ``theirs[k][user]``, one by one."""
    for k in CUTOFFS:
        values = dict(zip(evaluation.users, evaluation.per_user(f"{name}_at_{k}"), strict=True))
        for user, value in theirs[k].items():
            assert values[user] == pytest.approx(value, abs=1e-9), (name, k, user)


def falling(items):
    """Distinct scores in the order of a list."""
    return {f"i{item}": float(len(items) - place) for place, item in enumerate(items)}


@given(cases(graded=True))
@lists_and_grades
def test_ranx(case):
    ranx = library("ranx")
    lists, relevant = case
    qrels = ranx.Qrels({u: {f"i{i}": g for i, g in grades.items()} for u, grades in relevant.items()})
    run = ranx.Run({user: falling(items) for user, items in lists.items()})
    names = {"precision": "precision", "recall": "recall", "f1": "f1", "hit": "hit_rate", "rr": "mrr",
             "ap": "map", "ndcg": "ndcg", "ndcg_burges": "ndcg_burges", "dcg": "dcg"}  # fmt: skip
    evaluation = ours(lists, relevant, tuple(names), "ranx")
    asked = [f"{theirs}@{k}" for theirs in names.values() for k in CUTOFFS]
    ranx.evaluate(qrels, run, asked)
    for name, theirs in names.items():
        agree(evaluation, name, {k: run.scores[f"{theirs}@{k}"] for k in CUTOFFS})


@given(cases(graded=True))
@lists_and_grades
def test_ir_measures(case):
    ir = library("ir_measures")
    lists, relevant = case
    qrels = [ir.Qrel(u, f"i{i}", g) for u, grades in relevant.items() for i, g in grades.items()]
    run = [ir.ScoredDoc(u, i, s) for u, items in lists.items() for i, s in falling(items).items()]
    names = {"precision": ir.P, "recall": ir.R, "hit": ir.Success, "ap": ir.AP, "ndcg": ir.nDCG}
    evaluation = ours(lists, relevant, tuple(names), "trec")
    measures = {(name, k): measure @ k for name, measure in names.items() for k in CUTOFFS}
    found = {measure: {} for measure in measures.values()}
    for value in ir.iter_calc(list(measures.values()), qrels, run):
        found[value.measure][value.query_id] = value.value
    for name in names:
        agree(evaluation, name, {k: found[measures[name, k]] for k in CUTOFFS})


@given(cases(graded=False))
@lists_and_grades
def test_rectools(case):
    library("rectools")
    import pandas as pd
    from rectools import Columns, metrics

    lists, relevant = case
    number = {user: place for place, user in enumerate(relevant)}
    recommended = pd.DataFrame(
        [(number[u], i, rank) for u, items in lists.items() for rank, i in enumerate(items, 1)],
        columns=[Columns.User, Columns.Item, Columns.Rank],
    )
    truth = pd.DataFrame(
        [(number[u], i) for u, grades in relevant.items() for i in grades],
        columns=[Columns.User, Columns.Item],
    )
    names = {"precision": metrics.Precision, "recall": metrics.Recall, "f1": metrics.F1Beta,
             "hit": metrics.HitRate, "rr": metrics.MRR, "ap": metrics.MAP, "ndcg": metrics.NDCG}  # fmt: skip
    evaluation = ours(lists, relevant, tuple(names), "rectools")
    for name, metric in names.items():
        values = {k: metric(k=k).calc_per_user(recommended, truth) for k in CUTOFFS}
        agree(evaluation, name, {k: {u: values[k][row] for u, row in number.items()} for k in CUTOFFS})


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_scikit_learn(seed, n_items, n_users):
    sklearn_metrics = library("sklearn.metrics")
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 4, (n_users, n_items))
    grades[:, 0] = np.maximum(grades[:, 0], 1)
    scores = np.array([rng.permutation(n_items) for _ in range(n_users)], dtype=float)
    order = np.argsort(-scores, axis=1)
    lists = {user: order[user].tolist() for user in range(n_users)}
    relevant = {u: {i: int(g) for i, g in enumerate(row) if g} for u, row in enumerate(grades)}
    evaluation = ours(lists, relevant, ("ndcg",), "sklearn")
    for k in CUTOFFS:
        theirs = sklearn_metrics.ndcg_score(grades, scores, k=k)
        assert evaluation.values()[f"ndcg_at_{k}"] == pytest.approx(theirs, abs=1e-9)
