"""Asks a library for golden values: its own code, on the inputs stored here.

In an environment that holds the library (recgauge is not needed), from the folder tests:

    pip install warprec==2.2.8
    python -m golden.ask_library warprec

writes golden/libraries/warprec.json: version, command, and rows ``[case, metric, [[k, value, per_user]]]`` as
`cases.py` describes them.
"""

import json
import logging
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Answer = tuple[Any, ...]
"""Metric, cutoff, mean over users; every user's value, None where the library leaves the user out or stops,
or None as a whole; and, where the library stops at the whole, ``{"error": ...}``."""


@dataclass(frozen=True)
class Source:
    """What is asked: the package and its version, lists and, if it has any, rating metrics."""

    package: str
    version: str
    of_lists: Callable[[dict[str, Any]], Iterator[Answer]]
    of_ratings: Callable[[list[Any]], Iterator[Answer]] | None = None
    kinds: tuple[str, ...] = ("ranking", "ranking_random")


def relevant(case: dict[str, Any], user: str) -> dict[int, float]:
    """Return the user's items of a grade above 0, and these grades: the rows that a library is given."""
    return {int(item): float(grade) for item, grade in case["truth"][user].items() if grade > 0}


def nan_mean(values: list[float]) -> float:
    """Return the mean of the numbers among `values`; NaN if there are none."""
    numbers = [value for value in values if not math.isnan(value)]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


# ---- WarpRec ----

WARPREC = ("Precision", "Recall", "F1", "HitRate", "MRR", "MAP", "MAR", "nDCG", "nDCGRendle2020")
WARPREC_OF_FULL_LISTS = ("LAUC", "ItemCoverage", "Gini", "ShannonEntropy")


def warprec_lists(case: dict[str, Any]) -> Iterator[Answer]:
    """WarpRec's Evaluator, with its code in double precision, and the means as it prints them, in single."""
    import torch

    single = torch.Tensor.float
    yield from ((f"{name} (float32)", k, mean, None) for name, k, mean, _ in _warprec_lists(case, "float32"))
    torch.Tensor.float = torch.Tensor.double
    try:
        yield from _warprec_lists(case, "float64")
    finally:
        torch.Tensor.float = single


def _warprec_lists(case: dict[str, Any], precision: str) -> Iterator[Answer]:
    """WarpRec ranks a score for every item, training items being -inf, and fills a shorter list with those.

    Here the items of a list come first, in its order, since WarpRec shuffles equal scores. So that filling is
    no hit, items that are relevant to nobody follow; where metrics look at the whole catalogue, only lists of
    k items or more are asked about, and the other candidates follow.
    """
    n_items, everything = case["n_items"], range(case["n_items"] + max(case["ks"]))
    grades = [[relevant(case, user).get(item, 0.0) for item in everything] for user in case["users"]]
    filled, whole = [], []
    for user in case["users"]:
        listed = {item: 1000.0 - rank for rank, item in enumerate(case["recs"][user])}
        last = set(range(n_items)), set(case["train"][user])
        scored = [[listed.get(i, -math.inf if i in none else -float(i)) for i in everything] for none in last]
        filled.append(scored[0])
        whole.append(scored[1][:n_items])
    shortest = min(map(len, case["recs"].values()))
    real = [row[:n_items] for row in grades]
    asked = [(k, WARPREC, filled, grades) for k in case["ks"]]
    asked += [(k, WARPREC_OF_FULL_LISTS, whole, real) for k in case["ks"] if k <= shortest]
    for k, names, scores, truth in asked:
        for name, values in _warprec(precision, names, k, scores, truth).items():
            if name in WARPREC_OF_FULL_LISTS[1:]:
                yield name, k, values, None
            else:
                yield name, k, nan_mean(values), values


def _warprec(precision: str, names: tuple[str, ...], k: int, scores: Any, grades: Any) -> dict[str, Any]:
    import numpy as np
    import torch
    from scipy.sparse import csr_matrix
    from warprec.evaluation.evaluator import Evaluator

    torch.set_default_dtype(getattr(torch, precision))
    scores, grades = torch.tensor(scores), torch.tensor(grades)
    evaluator = Evaluator(list(names), [k], csr_matrix(np.ones(scores.shape)))
    users = torch.nonzero((grades > 0).any(dim=1)).flatten()  # its loader knows users with test rows only
    evaluator._compute_metrics_step(scores[users], grades[users], users, None)
    results = evaluator.compute_results()[k]
    numbers = WARPREC_OF_FULL_LISTS[1:]  # others have a value per user; of a single user it is a number, too
    return {
        name: value if name in numbers else torch.atleast_1d(torch.as_tensor(value)).tolist()
        for name, value in results.items()
    }


def warprec_ratings(rows: list[Any]) -> Iterator[Answer]:
    """Per-user errors of WarpRec's evaluator, in double precision; the mean is over users."""
    import torch

    users, items = sorted({row[0] for row in rows}), sorted({row[1] for row in rows})
    actual, predicted = ([[0.0] * len(items) for _ in users] for _ in range(2))
    for user, item, rating, prediction in rows:
        actual[users.index(user)][items.index(item)] = rating
        predicted[users.index(user)][items.index(item)] = prediction
    single, torch.Tensor.float = torch.Tensor.float, torch.Tensor.double
    found = _warprec("float64", ("MAE", "MSE", "RMSE"), 1, predicted, actual)
    torch.Tensor.float = single
    yield from ((name, None, nan_mean(values), None) for name, values in found.items())


# ---- OmniRec ----


def omnirec_lists(case: dict[str, Any]) -> Iterator[Answer]:
    """OmniRec's metrics over its two tables, of all users and of each alone; a user is known by rows only."""
    import pandas as pd
    from omnirec.metrics import ranking

    lists = {user: case["recs"][user] for user in case["users"] if case["recs"][user]}
    reco = [(int(user), item, -rank, rank) for user, row in lists.items() for rank, item in enumerate(row, 1)]
    test = [(int(user), item) for user in case["users"] for item in relevant(case, user)]
    if not any(relevant(case, user) for user in lists):
        return  # nobody to average over: 1.1 says 0, which is no mean
    columns = ["user", "item", "score", "rank"]
    tables = pd.DataFrame(reco, columns=columns), pd.DataFrame(test, columns=columns[:2])
    for name in ("NDCG", "HR", "Recall", "Precision"):
        metric = getattr(ranking, name, None)  # Precision is as old as 1.0
        if metric is not None:
            means = metric(case["ks"]).calculate(*tables).result
            each = {user: _omnirec_user(metric, case["ks"], tables, int(user)) for user in lists}
            evaluated = {user for user in lists if relevant(case, user) or not hasattr(metric, "max_k")}
            for k in case["ks"]:
                per_user = [each[user][k] if user in evaluated else None for user in case["users"]]
                yield name, k, float(means[k]), per_user


def _omnirec_user(metric: Any, ks: list[int], tables: Any, user: int) -> dict[int, float]:
    found = metric(ks).calculate(*(table[table["user"] == user] for table in tables)).result
    return {k: float(value) for k, value in found.items()}


def omnirec_ratings(rows: list[Any]) -> Iterator[Answer]:
    """OmniRec's errors, pooled over rows."""
    import pandas as pd
    from omnirec.metrics.prediction import MAE, RMSE

    def table(column: int) -> Any:
        return pd.DataFrame([(*row[:2], row[column]) for row in rows], columns=["user", "item", "rating"])

    for name, metric in (("MAE", MAE), ("RMSE", RMSE)):
        yield name, None, float(metric().calculate(table(3), table(2)).result), None


# ---- LensKit ----


def lenskit_lists(case: dict[str, Any]) -> Iterator[Answer]:
    """LensKit's metrics list by list; the mean is NaN as soon as one list's value is."""
    import numpy as np
    from lenskit.data import ItemList
    from lenskit.metrics import call_metric

    lists = [ItemList(item_ids=np.array(case["recs"][user], int), ordered=True) for user in case["users"]]
    truth = []
    for user in case["users"]:
        kept = relevant(case, user)
        truth.append(ItemList(item_ids=np.array(list(kept), int), rating=np.array(list(kept.values()))))
    for k in (*case["ks"], None):
        for name, metric in _lenskit_metrics(k).items():
            values = []
            for pair in zip(lists, truth, strict=True):
                try:
                    values.append(float(call_metric(metric, *pair)))
                except ZeroDivisionError:  # average precision without relevant items, since 2026
                    values.append(None)
            mean = math.nan if None in values else float(np.mean(values))
            yield name, k, mean, values
    yield from _lenskit_means(case, lists, truth)


def _lenskit_metrics(k: int | None) -> dict[str, Any]:
    from lenskit import metrics as m
    from lenskit.metrics.ranking import DCG, AveragePrecision, LogRankWeight

    plain = (m.Precision, m.Recall, m.Hit, m.RecipRank, AveragePrecision, m.NDCG, DCG, m.RBP)
    log2 = LogRankWeight(offset=1)
    return {
        **{metric.__name__: metric(n=k) for metric in plain},
        "NDCG(gain='rating')": m.NDCG(n=k, gain="rating"),
        "NDCG(weight=LogRankWeight(offset=1))": m.NDCG(n=k, weight=log2),
        "NDCG(gain='rating', weight=LogRankWeight(offset=1))": m.NDCG(n=k, gain="rating", weight=log2),
        "DCG(gain='rating')": DCG(n=k, gain="rating"),
        "RBP(patience=0.5)": m.RBP(n=k, patience=0.5),
        "RBP(normalize=True)": m.RBP(n=k, normalize=True),
    }


def _lenskit_means(case: dict[str, Any], lists: list[Any], truth: list[Any]) -> Iterator[Answer]:
    """The means of LensKit's MeasurementCollector, which 2026 has: over the lists that have a value."""
    from lenskit.data import ItemListCollection
    from lenskit.metrics import MeasurementCollector

    if not hasattr(MeasurementCollector, "measure_run") or case["full_scores"] is not None:
        return  # the random cases are enough to show what happens to undefined users
    parts = (dict(zip(case["users"], part, strict=True)) for part in (lists, truth))
    whole = [ItemListCollection.from_dict(part, "user_id") for part in parts]
    for k in case["ks"]:
        for name, metric in _lenskit_metrics(k).items():
            collector = MeasurementCollector()
            collector.add_metric(metric, name)
            try:
                summary = collector.measure_run(*whole).summary_metrics
            except ZeroDivisionError as error:
                yield f"Collector:{name}", k, math.nan, None, {"error": repr(error)}
            else:
                yield f"Collector:{name}", k, float(summary[f"{name}.mean"]), None


SOURCES = {
    "warprec": Source("warprec", "2.2.8", warprec_lists, warprec_ratings),
    "omnirec": Source("omnirec", "1.0.0", omnirec_lists, omnirec_ratings),
    "omnirec_1_1": Source("omnirec", "1.1.0", omnirec_lists, omnirec_ratings),
    "lenskit": Source("lenskit", "2025.8.1", lenskit_lists, kinds=("ranking_random",)),
    "lenskit_2026": Source("lenskit", "2026.4.0", lenskit_lists),
}
"""By the convention that the values prove; one with older values is asked about the random cases only."""


def write_values(name: str) -> None:
    """Ask a library about every stored case and write its file."""
    source = SOURCES[name]
    found = version(source.package)
    if found != source.version:
        raise SystemExit(f"{name} is {source.package} {source.version}, here is {found}: install the former.")
    warnings.simplefilter("ignore")  # what libraries say of users without relevant items
    logging.disable()
    rows: dict[tuple[str, str], list[Any]] = {}
    for kind in source.kinds:
        for case, inputs in read("inputs", kind).items():
            for metric, k, *values in source.of_lists(inputs):
                rows.setdefault((case, metric), []).append(stored(k, *values))
    for case, inputs in read("inputs", "rating").items() if source.of_ratings else ():
        for metric, k, *values in source.of_ratings(inputs["rows"]):
            rows.setdefault((case, metric), []).append(stored(k, *values))
    file = HERE / "libraries" / f"{name}{'-random' if 'ranking' not in source.kinds else ''}.json"
    table = {"library": name, "version": found, "command": f"python -m golden.ask_library {name}"}
    lines = ",\n".join(compact([case, metric, values]) for (case, metric), values in rows.items())
    file.write_text(f'{compact(table)[:-1]},"rows":[\n{lines}\n]}}\n', encoding="utf-8")


def stored(k: int | None, value: float, per_user: list[Any] | None, *more: dict[str, str]) -> list[Any]:
    """Return a value as JSON can hold it."""
    shown = per_user and [None if one is None else "NaN" if math.isnan(one) else one for one in per_user]
    return [k, "NaN" if math.isnan(value) else value, *([shown] if shown or more else []), *more]


def compact(value: Any) -> str:
    """Return JSON without spaces."""
    return json.dumps(value, separators=(",", ":"))


def read(folder: str, name: str) -> Any:
    """Return a stored file."""
    return json.loads((HERE / folder / f"{name}.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in SOURCES:
        raise SystemExit(f"usage: python -m golden.ask_library {'|'.join(SOURCES)}")
    write_values(sys.argv[1])
