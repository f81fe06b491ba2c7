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

ROWS: dict[str, Row] = {
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
    "ranx/precision": Row("ranx", "precision"),
    "ranx/recall": Row("ranx", "recall"),
    "ranx/f1": Row("ranx", "f1"),
    "ranx/hit_rate": Row("ranx", "hit"),
    "ranx/mrr": Row("ranx", "rr"),
    "ranx/map": Row("ranx", "ap"),
    "ranx/ndcg": Row("ranx", "ndcg"),
    "ranx/ndcg_burges": Row("ranx", "ndcg_burges"),
    "ranx/dcg": Row("ranx", "dcg"),
    "ranx/dcg_burges": Row("ranx", "dcg_burges"),
    "ranx/r-precision": Row("ranx", "r_precision"),
    "ranx/rbp.80": Row("ranx", "rbp"),
    "ranx/rbp.95": Row("ranx", RankBiasedPrecision(p=0.95, gain="linear")),
    "recbole/Precision": Row("recbole", "precision"),
    "recbole/Recall": Row("recbole", "recall"),
    "recbole/Hit": Row("recbole", "hit"),
    "recbole/MRR": Row("recbole", "rr"),
    "recbole/MAP": Row("recbole", "ap"),
    "recbole/NDCG": Row("recbole", "ndcg"),
    "lenskit/Precision": Row("lenskit", "precision"),
    "lenskit/Recall": Row("lenskit", "recall"),
    "lenskit/Hit": Row("lenskit", "hit"),
    "lenskit/RecipRank": Row("lenskit", "rr"),
    "lenskit/AveragePrecision": Row("lenskit", "ap"),
    "lenskit/NDCG": Row("lenskit", "ndcg"),
    "lenskit/NDCG(gain='rating')": Row("lenskit", "ndcg_graded"),
    "lenskit/NDCG(weight=LogRankWeight(offset=1))": Row("lenskit", NDCG(gain="binary")),
    "lenskit/NDCG(gain='rating', weight=LogRankWeight(offset=1))": Row("lenskit", NDCG()),
    "lenskit/DCG": Row("lenskit", "dcg"),
    "lenskit/DCG(gain='rating')": Row("lenskit", "dcg_graded"),
    "lenskit/RBP": Row("lenskit", "rbp"),
    "lenskit/RBP(patience=0.5)": Row("lenskit", RankBiasedPrecision(p=0.5)),
    "lenskit/RBP(normalize=True)": Row("lenskit", "rbp_normalized"),
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
    "rectools/Precision": Row("rectools", "precision"),
    "rectools/Precision(r_precision=True)": Row("rectools", "r_precision"),
    "rectools/Recall": Row("rectools", "recall"),
    "rectools/F1Beta": Row("rectools", "f1"),
    "rectools/HitRate": Row("rectools", "hit"),
    "rectools/MRR": Row("rectools", "rr"),
    "rectools/MAP": Row("rectools", "ap"),
    "rectools/MAP(divide_by_k=True)": Row("rectools", "ap_divide_by_k"),
    "rectools/NDCG": Row("rectools", "ndcg"),
    "rectools/NDCG(log_base=3)": Row("rectools", "ndcg"),
    "rectools/NDCG(divide_by_achievable=True)": Row("rectools", "ndcg_achievable"),
    "cornac/Precision": Row("cornac", "precision"),
    "cornac/Recall": Row("cornac", "recall"),
    "cornac/FMeasure": Row("cornac", "f1"),
    "cornac/HitRatio": Row("cornac", "hit"),
    "cornac/MRR": Row("cornac", "rr"),
    "cornac/NDCG": Row("cornac", "ndcg"),
    "cornac/NCRR": Row("cornac", "ncrr"),
    "cornac/MAP": Row("sklearn", "ap", lists=FULL),
    "irspack/df:precision": Row("irspack", "precision"),
    "irspack/df:recall": Row("irspack", "recall"),
    "irspack/df:hit": Row("irspack", "hit"),
    "irspack/df:map": Row("irspack", "ap"),
    "irspack/df:ndcg": Row("irspack", "ndcg"),
    "irspack/precision": Row("irspack", "precision", lists=FULL),
    "irspack/recall": Row("irspack", "recall", lists=FULL),
    "irspack/recall(recall_with_cutoff)": Row("irspack", "recall_with_cutoff", lists=FULL),
    "irspack/hit": Row("irspack", "hit", lists=FULL),
    "irspack/map": Row("irspack", "ap", lists=FULL),
    "irspack/ndcg": Row("irspack", "ndcg", lists=FULL),
    "replay/Precision": Row("replay", "precision"),
    "replay/Recall": Row("replay", "recall"),
    "replay/HitRate": Row("replay", "hit"),
    "replay/MRR": Row("replay", "rr"),
    "replay/MAP": Row("replay", "ap"),
    "replay/NDCG": Row("replay", "ndcg"),
    "elliot/Precision": Row("elliot", "precision"),
    "elliot/Recall": Row("elliot", "recall"),
    "elliot/F1": Row("elliot", "f1"),
    "elliot/HR": Row("elliot", "hit"),
    "elliot/MRR": Row("elliot", "rr"),
    "elliot/MAP": Row("elliot", "ap"),
    "elliot/MAR": Row("elliot", "ar"),
    "elliot/nDCG": Row("elliot", "ndcg"),
    "elliot/nDCGRendle2020": Row("elliot", "ndcg_rendle"),
    "recommenders/precision_at_k": Row("recommenders", "precision"),
    "recommenders/recall_at_k": Row("recommenders", "recall"),
    "recommenders/r_precision_at_k": Row("recommenders", "r_precision"),
    "recommenders/map_at_k": Row("recommenders", "ap"),
    "recommenders/map": Row("recommenders", "ap_full"),
    "recommenders/ndcg_at_k(binary,log2)": Row("recommenders", "ndcg"),
    "recommenders/ndcg_at_k(binary,loge)": Row("recommenders", "ndcg"),
    "recommenders/ndcg_at_k(raw,log2)": Row("recommenders", "ndcg_raw"),
    "recommenders/ndcg_at_k(raw,loge)": Row("recommenders", "ndcg_raw"),
    "recommenders/ndcg_at_k(exp,log2)": Row("recommenders", "ndcg_exp"),
    "recommenders/ndcg_at_k(exp,loge)": Row("recommenders", "ndcg_exp"),
    "recmetrics/mark": Row("recmetrics", "ar"),
    "recmetrics/mapk": Row("recmetrics", "ap"),
    "recmetrics/recommender_precision": Row("recmetrics", "precision"),
    "recmetrics/recommender_recall": Row("recmetrics", "recall"),
    "capri/precisionk": Row("capri", "precision"),
    "capri/recallk": Row("capri", "recall"),
    "capri/mapk": Row("capri", "ap"),
    "capri/mapk(k=10 default)": Row("capri", "ap", lists=CUT, only_k=10),
    "capri/ndcgk": Row("capri", "ndcg", FLOAT32),
    "capri/ndcgk(relevance)": Row("capri", "ndcg_graded", FLOAT32),
    "implicit/precision": Row("implicit", "precision"),
    "implicit/map": Row("implicit", "ap"),
    "implicit/ndcg": Row("implicit", "ndcg"),
    "sklearn/ndcg_score_per_user": Row("sklearn", "ndcg", lists=FULL),
    "sklearn/ndcg_score_per_user(2^g-1)": Row("sklearn", "ndcg_exp", lists=FULL),
    "article_offline_metrics/precision_k": Row("article_offline_metrics", "precision"),
    "article_offline_metrics/recall_k": Row("article_offline_metrics", "recall"),
    "article_offline_metrics/f1_score": Row("article_offline_metrics", "f1"),
    "article_offline_metrics/ap_k": Row("article_offline_metrics", "ap"),
    "article_offline_metrics/map_k": Row("article_offline_metrics", "ap"),
    "article_offline_metrics/rr_k": Row("article_offline_metrics", "rr"),
    "article_offline_metrics/mrr_k": Row("article_offline_metrics", "rr"),
    "article_offline_metrics/ndcg_k": Row("article_offline_metrics", "ndcg"),
    "article_system_evaluation/precision": Row("article_system_evaluation", "precision"),
    "article_system_evaluation/recall": Row("article_system_evaluation", "recall"),
    "article_system_evaluation/average_precision": Row("article_system_evaluation", "ap"),
    "article_system_evaluation/mean_average_precision": Row("article_system_evaluation", "map_rounded"),
    "article_system_evaluation/mean_reciprocal_rank": Row("article_system_evaluation", "rr"),
    "article_system_evaluation/dcg": Row("article_system_evaluation", "dcg"),
    "article_system_evaluation/ndcg_unrounded": Row("article_system_evaluation", "ndcg"),
    "article_ndcg_note/dcg_at_k(method=0)": Row("article_ndcg_note", "dcg_method0"),
    "article_ndcg_note/dcg_at_k(method=1)": Row("article_ndcg_note", "dcg"),
    "article_ndcg_note/get_ndcg(method=0)": Row("article_ndcg_note", "ndcg_method0"),
    "article_ndcg_note/get_ndcg(method=1)": Row("article_ndcg_note", "ndcg"),
    "article_ndcg_note/get_ndcg_2(best=truth,worst=None,method=0)": Row(
        "article_ndcg_note", "ndcg_2_method0"
    ),
    "article_ndcg_note/get_ndcg_2(best=truth,worst=None,method=1)": Row("article_ndcg_note", "ndcg_2"),
    "article_ndcg_note/get_ndcg_2(best=truth,worst=list,method=0)": Row(
        "article_ndcg_note", "ndcg_2_minmax_method0"
    ),
    "article_ndcg_note/get_ndcg_2(best=truth,worst=list,method=1)": Row("article_ndcg_note", "ndcg_2_minmax"),
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
