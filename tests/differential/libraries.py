"""Other libraries, and the means that they give for a case, by our keys.

The libraries are imported where they are asked. One that has no answer raises :class:`NoAnswer` with what it
does instead.
"""

import importlib
import os
from collections.abc import Iterable
from types import ModuleType

import numpy as np
import pytest

import recgauge
from differential.cases import ITEMS, Case

CUTOFFS = (1, 3, 5, 10, 20)
SORTED_STABLY = 15
"""ranx sorts with numba's quicksort, which keeps the order of ties only in lists of up to so many items."""
RANX = {"precision": "precision", "recall": "recall", "f1": "f1", "hit_rate": "hit_rate", "mrr": "mrr",
        "map": "map", "ndcg": "ndcg", "ndcg_burges": "ndcg_burges", "dcg": "dcg",
        "dcg_burges": "dcg_burges"}  # fmt: skip
RANX_WHOLE_LIST = {"r_precision": "r-precision", "rbp": "rbp.80"}
FEATURES = np.random.default_rng(5).random((len(ITEMS), 4)) + 0.01
UNIT = FEATURES / np.linalg.norm(FEATURES, axis=1)[:, None]


class NoAnswer(Exception):  # noqa: N818 -- not an error: what a library does
    """The library has no defined value for an input."""


def library(module: str) -> ModuleType:
    """Import a module; without it the test is skipped, or fails where RECGAUGE_REQUIRE_PEERS is 1."""
    if os.environ.get("RECGAUGE_REQUIRE_PEERS") == "1":
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=f"{module} is not installed here: make differential")


def recgauge_means(case: Case, convention: str, keys: Iterable[str]) -> dict[str, float]:
    """Our means under a convention by key, each metric at the cutoffs that the library gave."""
    cutoffs = {}
    for key in keys:
        name, _, k = key.partition("_at_")
        cutoffs.setdefault(name, []).append(int(k) if k else None)
    groups = {}
    for name, ks in cutoffs.items():
        groups.setdefault(tuple(ks), []).append(name)
    values = {}
    for ks, names in groups.items():
        values |= recgauge.evaluate(
            case.lists,
            case.truth,
            metrics=names,
            cutoffs=ks,
            conventions=convention,
            scores=case.scores,
            train=case.train or None,
            item_features=dict(zip(ITEMS, FEATURES, strict=True)),
            n_items=len(ITEMS),
        ).values()
    return values


def ranx_means(case: Case) -> dict[str, float]:
    """``ranx.evaluate`` with ``make_comparable=True``; it takes no user with an empty mapping."""
    import ranx

    judged = case.judged
    lists = {user: items for user, items in case.lists.items() if items}
    if not judged or not lists:
        raise NoAnswer("ranx fails on empty qrels or an empty run")
    for user, items in lists.items():
        if len(items) > SORTED_STABLY and len(set(case.scores[user])) < len(items):
            raise NoAnswer(
                "ranx sorts lists of more than 15 items with an unstable sort: ties are in no order"
            )
    qrels = ranx.Qrels({user: dict(grades) for user, grades in judged.items()})
    run = ranx.Run({user: dict(zip(items, case.scores[user], strict=True)) for user, items in lists.items()})
    asked = {f"{name}_at_{k}": f"{theirs}@{k}" for name, theirs in RANX.items() for k in CUTOFFS}
    asked |= RANX | RANX_WHOLE_LIST
    values = ranx.evaluate(qrels, run, list(asked.values()), make_comparable=True)
    return {key: float(values[theirs]) for key, theirs in asked.items()}


def ir_measures_means(case: Case) -> dict[str, float]:
    """``ir_measures.calc_aggregate``: pytrec_eval, gdeval, the MS MARCO script and cwl_eval."""
    import ir_measures as ir

    judged = case.judged
    if not judged:
        raise NoAnswer("ir_measures averages nothing")
    qrels = [ir.Qrel(user, item, grade) for user, grades in judged.items() for item, grade in grades.items()]
    run = [
        ir.ScoredDoc(user, item, score)
        for user, items in case.lists.items()
        for item, score in zip(items, case.scores[user], strict=True)
    ]
    at_k = {"precision": ir.P, "recall": ir.R, "hit_rate": ir.Success, "map": ir.AP, "ndcg": ir.nDCG,
            "ndcg_exp": ir.nDCG(dcg="exp-log2"), "err": ir.ERR, "mrr_ms_marco": ir.RR}  # fmt: skip
    asked = {f"{name}_at_{k}": measure @ k for name, measure in at_k.items() for k in CUTOFFS}
    asked |= {"map": ir.AP, "ndcg": ir.nDCG, "mrr": ir.RR, "r_precision": ir.Rprec, "rbp": ir.RBP(rel=1)}
    values = ir.calc_aggregate(list(asked.values()), qrels, run)
    return {key: float(values[measure]) for key, measure in asked.items()}


def sklearn_means(case: Case) -> dict[str, float]:
    """``ndcg_score`` and ``dcg_score`` of all users; ``average_precision_score`` user by user."""
    from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

    users = list(case.lists)
    items = sorted(case.lists[users[0]])
    grades = np.array([[case.truth[user][item] for item in items] for user in users], float)
    known = [dict(zip(case.lists[user], case.scores[user], strict=True)) for user in users]
    scores = np.array([[row[item] for item in items] for row in known])
    means = {}
    for k in (*CUTOFFS, None):
        at = "" if k is None else f"_at_{k}"
        means[f"ndcg{at}"] = float(ndcg_score(grades, scores, k=k))
        means[f"ndcg_exp{at}"] = float(ndcg_score(2**grades - 1, scores, k=k))
        means[f"dcg{at}"] = float(dcg_score(grades, scores, k=k))
    if set(np.unique(grades)) <= {0.0, 1.0}:
        each = [average_precision_score(g, s) for g, s in zip(grades, scores, strict=True)]
        means["map"] = float(np.mean(each))
    return means


def omnirec_means(case: Case) -> dict[str, float]:
    """OmniRec's metrics over its two tables; every test row is relevant, so grades of 0 are no rows."""
    import pandas as pd
    from omnirec.metrics import ranking

    columns = ["user", "item", "score", "rank"]
    reco = [
        (user, item, score, rank)
        for user, items in case.lists.items()
        for rank, (item, score) in enumerate(zip(items, case.scores[user], strict=True), 1)
    ]
    test = [(user, item) for user, grades in case.truth.items() for item, grade in grades.items() if grade]
    if not {row[0] for row in reco} & {row[0] for row in test}:
        raise NoAnswer("OmniRec says 0 where nobody has both a list and relevant items")
    tables = pd.DataFrame(reco, columns=columns), pd.DataFrame(test, columns=columns[:2])
    names = {"ndcg": ranking.NDCG, "hit_rate": ranking.HR, "recall": ranking.Recall,
             "precision": ranking.Precision}  # fmt: skip
    return {
        f"{name}_at_{k}": value
        for name, metric in names.items()
        for k, value in metric(list(CUTOFFS)).calculate(*tables).result.items()
    }


def rectools_means(case: Case) -> dict[str, float]:
    """RecTools' ``calc_metrics``; every row of its interactions is relevant, so grades of 0 are no rows."""
    import pandas as pd
    from rectools import Columns, metrics
    from rectools.metrics.distances import PairwiseDistanceCalculator

    code = {item: number for number, item in enumerate(ITEMS)}
    reco = pd.DataFrame(
        [
            (int(user), code[item], rank)
            for user, items in case.lists.items()
            for rank, item in enumerate(items, 1)
        ],
        columns=[Columns.User, Columns.Item, Columns.Rank],
        dtype=np.int64,
    )
    columns = [Columns.User, Columns.Item]
    rows = [(int(user), code[i]) for user, grades in case.truth.items() for i, g in grades.items() if g]
    truth = pd.DataFrame(rows, columns=columns, dtype=np.int64)
    if len(reco) == 0 or len(truth) == 0:
        raise NoAnswer("RecTools has nobody to average over, or fails on an empty table")
    past = [(int(user), code[item]) for user, items in case.train.items() for item in items]

    class Cosine(PairwiseDistanceCalculator):
        def _get_distances_for_item_pairs(self, items_0, items_1):
            return 1 - (UNIT[items_0] * UNIT[items_1]).sum(axis=1)

    make = {
        "precision": lambda k: metrics.Precision(k=k),
        "r_precision": lambda k: metrics.Precision(k=k, r_precision=True),
        "recall": lambda k: metrics.Recall(k=k),
        "f1": lambda k: metrics.F1Beta(k=k),
        "hit_rate": lambda k: metrics.HitRate(k=k),
        "mrr": lambda k: metrics.MRR(k=k),
        "map": lambda k: metrics.MAP(k=k),
        "map_divide_by_k": lambda k: metrics.MAP(k=k, divide_by_k=True),
        "ndcg": lambda k: metrics.NDCG(k=k),
        "ndcg_achievable": lambda k: metrics.NDCG(k=k, divide_by_achievable=True),
        "partial_auc": lambda k: metrics.PartialAUC(k=k),
        "pap": lambda k: metrics.PAP(k=k),
        "catalog_coverage": lambda k: metrics.CatalogCoverage(k=k, normalize=True),
        "diversity": lambda k: metrics.IntraListDiversity(k=k, distance_calculator=Cosine()),
    }
    if past:
        make |= {
            "novelty": lambda k: metrics.MeanInvUserFreq(k=k),
            "popularity": lambda k: metrics.AvgRecPopularity(k=k),
            "popularity_share": lambda k: metrics.AvgRecPopularity(k=k, normalize=True),
            "serendipity": lambda k: metrics.Serendipity(k=k),
        }
    asked = {f"{name}_at_{k}": metric(k) for name, metric in make.items() for k in CUTOFFS}
    values = metrics.calc_metrics(
        asked,
        reco=reco,
        interactions=truth,
        prev_interactions=pd.DataFrame(past, columns=columns, dtype=np.int64) if past else None,
        catalog=list(range(len(ITEMS))),
    )
    return {key: float(value) for key, value in values.items()}
