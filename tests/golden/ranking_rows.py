"""Which convention and metric reproduce each row of a library, and why some rows are left out."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from golden.cases import GoldenValue
from recgauge.conventions import Convention, get_convention
from recgauge.metrics import Metric
from recgauge.metrics.discounted import NDCG, RankBiasedPrecision, ReciprocalRank
from recgauge.metrics.precision import HitRate, Precision

FULL = "full"
CUT = "cut"
BOTH = "both"
EITHER = "either"


@dataclass(frozen=True)
class Row:
    """How a library's row is asked for: a convention's name for it, or a metric object."""

    convention: str
    metric: str | Metric
    tolerance: float = field(default=1e-9, compare=False)  # the evaluation is the same
    policies: tuple[tuple[str, Any], ...] = ()
    lists: str = "given"
    """``full``: all candidates by score; ``cut``: lists cut at k, no cutoff; ``both``: only users with a list
    and relevant items; ``either``: only users with one of them, for a library that knows no others."""
    only_k: int | None = None

    def at(self, k: int | None) -> int | None:
        """The cutoff to ask for where the library was asked for `k`."""
        return k if self.only_k is None else self.only_k

    def convention_object(self) -> Convention:
        convention = get_convention(self.convention)
        return replace(convention, policies=replace(convention.policies, **dict(self.policies)))


# gdeval prints 5 decimals, and a mean of printed values; CAPRI rounds in float32, WarpRec computes in it
PRINTED, FLOAT32 = 5.1e-6, 1e-6
ZERO = (("no_relevant", "zero"),)
STABLE, ASCENDING = (("ties", "stable"),), (("ties", "item_code"),)

PLAIN = {
    "ranx": {
        "precision": "precision", "recall": "recall", "f1": "f1", "hit_rate": "hit", "mrr": "rr",
        "map": "ap", "ndcg": "ndcg", "ndcg_burges": "ndcg_burges", "dcg": "dcg",
        "dcg_burges": "dcg_burges", "r-precision": "r_precision", "rbp.80": "rbp",
    },
    "recbole": {
        "Precision": "precision", "Recall": "recall", "Hit": "hit", "MRR": "rr", "MAP": "ap",
        "NDCG": "ndcg",
    },
    "lenskit": {
        "Precision": "precision", "Recall": "recall", "Hit": "hit", "RecipRank": "rr",
        "AveragePrecision": "ap", "NDCG": "ndcg", "NDCG(gain='rating')": "ndcg_graded", "DCG": "dcg",
        "DCG(gain='rating')": "dcg_graded", "RBP": "rbp", "RBP(normalize=True)": "rbp_normalized",
    },
    "rectools": {
        "Precision": "precision", "Precision(r_precision=True)": "r_precision", "Recall": "recall",
        "F1Beta": "f1", "HitRate": "hit", "MRR": "rr", "MAP": "ap",
        "MAP(divide_by_k=True)": "ap_divide_by_k", "NDCG": "ndcg", "NDCG(log_base=3)": "ndcg",
        "NDCG(divide_by_achievable=True)": "ndcg_achievable",
    },
    "cornac": {
        "Precision": "precision", "Recall": "recall", "FMeasure": "f1", "HitRatio": "hit", "MRR": "rr",
        "NDCG": "ndcg", "NCRR": "ncrr",
    },
    "irspack": {
        "df:precision": "precision", "df:recall": "recall", "df:hit": "hit", "df:map": "ap",
        "df:ndcg": "ndcg",
    },
    "replay": {
        "Precision": "precision", "Recall": "recall", "HitRate": "hit", "MRR": "rr", "MAP": "ap",
        "NDCG": "ndcg",
    },
    "elliot": {
        "Precision": "precision", "Recall": "recall", "F1": "f1", "HR": "hit", "MRR": "rr", "MAP": "ap",
        "MAR": "ar", "nDCG": "ndcg", "nDCGRendle2020": "ndcg_rendle",
    },
    "recommenders": {
        "precision_at_k": "precision", "recall_at_k": "recall", "r_precision_at_k": "r_precision",
        "map_at_k": "ap", "map": "ap_full", "ndcg_at_k(binary,log2)": "ndcg",
        "ndcg_at_k(binary,loge)": "ndcg", "ndcg_at_k(raw,log2)": "ndcg_raw",
        "ndcg_at_k(raw,loge)": "ndcg_raw", "ndcg_at_k(exp,log2)": "ndcg_exp",
        "ndcg_at_k(exp,loge)": "ndcg_exp",
    },
    "recmetrics": {
        "mark": "ar", "mapk": "ap", "recommender_precision": "precision", "recommender_recall": "recall",
    },
    "capri": {"precisionk": "precision", "recallk": "recall", "mapk": "ap"},
    "implicit": {"precision": "precision", "map": "ap", "ndcg": "ndcg"},
    "article_offline_metrics": {
        "precision_k": "precision", "recall_k": "recall", "f1_score": "f1", "ap_k": "ap", "map_k": "ap",
        "rr_k": "rr", "mrr_k": "rr", "ndcg_k": "ndcg",
    },
    "article_system_evaluation": {
        "precision": "precision", "recall": "recall", "average_precision": "ap",
        "mean_average_precision": "map_rounded", "mean_reciprocal_rank": "rr", "dcg": "dcg",
        "ndcg_unrounded": "ndcg",
    },
    "article_ndcg_note": {
        "dcg_at_k(method=0)": "dcg_method0", "dcg_at_k(method=1)": "dcg",
        "get_ndcg(method=0)": "ndcg_method0", "get_ndcg(method=1)": "ndcg",
        "get_ndcg_2(best=truth,worst=None,method=0)": "ndcg_2_method0",
        "get_ndcg_2(best=truth,worst=None,method=1)": "ndcg_2",
        "get_ndcg_2(best=truth,worst=list,method=0)": "ndcg_2_minmax_method0",
        "get_ndcg_2(best=truth,worst=list,method=1)": "ndcg_2_minmax",
    },
}  # fmt: skip
"""By library, which is the name of its convention: its metrics and their names there."""


def plain_rows(names: dict[str, dict[str, str]]) -> dict[str, Row]:
    """Return rows that are reproduced by a metric's name alone."""
    return {
        f"{name}/{row}": Row(name, metric) for name, rows in names.items() for row, metric in rows.items()
    }


ROWS: dict[str, Row] = plain_rows(PLAIN) | {
    "ir_measures/P": Row("trec", "precision"),
    "ir_measures/R": Row("trec", "recall"),
    "ir_measures/AP": Row("trec", "ap"),
    "ir_measures/nDCG": Row("trec", "ndcg"),
    "ir_measures/Success": Row("trec", "hit"),
    "ir_measures/Rprec": Row("trec", "r_precision"),
    "ir_measures/ERR": Row("trec", "err", PRINTED),
    "ir_measures/nDCG(dcg='exp-log2')": Row("trec", "ndcg_exp", PRINTED),
    "ir_measures/RBP(rel=1)": Row("trec", "rbp", policies=STABLE),
    "ir_measures/RBP(p=0.5,rel=1)": Row("trec", RankBiasedPrecision(p=0.5), policies=STABLE),
    # ir_measures leaves RR without a cutoff to trec_eval, and RR@k to the MS MARCO script
    "ir_measures/RR": Row("trec", "rr"),
    "ir_measures/RR@k": Row("trec", "rr", policies=ASCENDING),
    "ranx/rbp.95": Row("ranx", RankBiasedPrecision(p=0.95, gain="linear")),
    "lenskit/NDCG(weight=LogRankWeight(offset=1))": Row("lenskit", NDCG(gain="binary")),
    "lenskit/NDCG(gain='rating', weight=LogRankWeight(offset=1))": Row("lenskit", NDCG()),
    "lenskit/RBP(patience=0.5)": Row("lenskit", RankBiasedPrecision(p=0.5)),
    "lenskit/RunAnalysis:Precision": Row("lenskit", "precision", lists=BOTH),
    "lenskit/RunAnalysis:Recall": Row("lenskit", "recall", lists=BOTH),
    "lenskit/RunAnalysis:Hit": Row("lenskit", "hit", lists=BOTH),
    "lenskit/RunAnalysis:RecipRank": Row("lenskit", "rr", lists=BOTH),
    "lenskit/RunAnalysis:AveragePrecision": Row("lenskit", "ap", lists=BOTH),
    "lenskit/RunAnalysis:NDCG": Row("lenskit", "ndcg", lists=BOTH),
    # the summary that fills undefined users with 0
    "lenskit/RunAnalysisAll:Precision": Row("lenskit", Precision(denominator="list"), policies=ZERO),
    "lenskit/RunAnalysisAll:Hit": Row("lenskit", HitRate(), policies=ZERO),
    "lenskit/RunAnalysisAll:RecipRank": Row("lenskit", ReciprocalRank(), policies=ZERO),
    "lenskit/RunAnalysisAll:NDCG": Row("lenskit", NDCG(gain="binary", discount="jarvelin2"), policies=ZERO),
    "cornac/MAP": Row("sklearn", "ap", lists=FULL),
    "irspack/precision": Row("irspack", "precision", lists=FULL),
    "irspack/recall": Row("irspack", "recall", lists=FULL),
    "irspack/recall(recall_with_cutoff)": Row("irspack", "recall_with_cutoff", lists=FULL),
    "irspack/hit": Row("irspack", "hit", lists=FULL),
    "irspack/map": Row("irspack", "ap", lists=FULL),
    "irspack/ndcg": Row("irspack", "ndcg", lists=FULL),
    "capri/mapk(k=10 default)": Row("capri", "ap", lists=CUT, only_k=10),
    "capri/ndcgk": Row("capri", "ndcg", FLOAT32),
    "capri/ndcgk(relevance)": Row("capri", "ndcg_graded", FLOAT32),
    "sklearn/ndcg_score_per_user": Row("sklearn", "ndcg", lists=FULL),
    "sklearn/ndcg_score_per_user(2^g-1)": Row("sklearn", "ndcg_exp", lists=FULL),
}

LENSKIT_2026 = {
    f"lenskit_2026/{way}{name.removeprefix('lenskit/')}": replace(row, convention="lenskit_2026")
    for name, row in ROWS.items()
    for way in ("", "Collector:")
    if row.convention == "lenskit" and "RunAnalysis" not in name
}
WARPREC = {
    f"warprec/{name}{precision}": Row("warprec", metric, tolerance)
    for name, metric in {
        "Precision": "precision",
        "Recall": "recall",
        "F1": "f1",
        "HitRate": "hit",
        "MRR": "rr",
        "MAP": "ap",
        "MAR": "ar",
        "nDCG": "ndcg",
        "nDCGRendle2020": "ndcg_rendle",
    }.items()
    for precision, tolerance in (("", 1e-9), (" (float32)", FLOAT32))
}
OMNIREC = {
    f"{convention}/{name}": Row(convention, metric, lists=EITHER)
    for convention in ("omnirec", "omnirec_1_1")
    for name, metric in {"NDCG": "ndcg", "HR": "hit", "Recall": "recall", "Precision": "precision"}.items()
}
ROWS |= LENSKIT_2026 | WARPREC | OMNIREC

LEFT_OUT: dict[str, Callable[[GoldenValue], bool]] = {
    "CAPRI's evaluator leaves mapk's k at 10 and sums over 20 ranks, so that AP exceeds 1": (
        lambda v: v.row == "capri/mapk(k=10 default)" and (v.k or 0) > 10
    ),
    "recommenders returns 0 where R-precision has nobody left to average; here that is an error": (
        lambda v: v.row == "recommenders/r_precision_at_k" and v.value == 0 and not _any_early_hit(v)
    ),
    "the library as a whole raised, for no metric in particular": (
        lambda v: v.row in ("implicit/ranking_metrics_at_k", "lenskit/RunAnalysis")
    ),
    "LensKit 2026 divides by zero at a user without relevant items or list, who is undefined here": (
        lambda v: v.library == "lenskit_2026" and "ZeroDivisionError" in v.more.get("error", "")
    ),
    "the library says that its value is noise": lambda v: "unstable" in v.more,
}


def _any_early_hit(value: GoldenValue) -> bool:
    lists, truth = value.inputs["recs"], value.inputs["truth"]
    return any(
        str(item) in truth[user]
        for user in value.inputs["users"]
        for item in lists[user][: min(value.k or 0, len(truth[user]))]
    )


def row_of(value: GoldenValue) -> Row | None:
    """How a value is asked for, None where it is not compared here."""
    if value.row == "ir_measures/RR" and value.k is not None:
        return ROWS["ir_measures/RR@k"]
    return ROWS.get(value.row)
