"""What libraries compute under their names; each row is proven by values that the library gave."""

from dataclasses import replace

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

_BINARY_AT_K = {
    "precision": m.Precision(),
    "recall": m.Recall(),
    "hit_rate": m.HitRate(),
    "map": m.AveragePrecision(normalizer="min_relevant_k"),
    "mrr": m.ReciprocalRank(),
    "ndcg": m.NDCG(gain="binary"),
}
"""Relevant or not, everything cut at k: what RecBole and RePlay compute."""


CAPRI = Convention(
    name="capri",
    about="CAPRI's evaluator; nDCG keeps 4 decimals and its ideal list is not cut.",
    notes="Proven with CAPRI, commit dbbb506cf5.",
    metrics={
        "precision": m.Precision(denominator="list"),
        "recall": m.Recall(),
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "ndcg": m.NDCG(gain="binary", discount="ln", ideal="full"),
        "ndcg_graded": m.NDCG(gain="exponential", discount="ln", ideal="full"),
        "catalog_coverage": m.CatalogCoverage(scale="percent"),
        "personalization": m.Personalization(),
        "novelty": m.Novelty(divisor="k", unseen="zero"),
        "diversity": m.Diversity(similarity="matrix", single="raise"),
        "list_diversity": m.Diversity(similarity="matrix", single="raise"),
    },
    deviations={"precision": {"no_list": "raise"}, "ndcg": {"round": 4}, "ndcg_graded": {"round": 4}},
)


CORNAC = Convention(
    name="cornac",
    about="Cornac's ranking metrics; its MRR refuses a list without a hit.",
    notes="Proven with Cornac 3.0.1.",
    metrics={
        "precision": m.Precision(zero="nan"),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "mrr": m.ReciprocalRank(miss="raise"),
        "ndcg": m.NDCG(gain="binary"),
        "ncrr": m.NDCG(gain="binary", discount="reciprocal", ideal="list_length"),
        "mae": m.MAE(),
        "mse": m.MSE(),
        "rmse": m.RMSE(),
    },
)


ELLIOT = Convention(
    name="elliot",
    about="Elliot; its MAP and MAR average over every rank, not over hits.",
    notes="Proven with Elliot, commit fc27efedad.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(normalizer="k", at="ranks"),
        "mar": m.AverageRecall(),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(gain="exponential"),
        "ndcg_rendle": m.NDCG(gain="binary"),
        "limited_auc": m.LimitedAUC(),
        "lauc": m.LimitedAUC(),
        "catalog_coverage": m.CatalogCoverage(scale="count"),
        "item_coverage": m.CatalogCoverage(scale="count"),
        "gini": m.GiniComplement(normalizer="n_minus_1"),
        "gini_index": m.GiniComplement(normalizer="n_minus_1"),
        "entropy": m.Entropy(weight="users"),
        "shannon_entropy": m.Entropy(weight="users"),
        "popularity": m.ItemPopularity(),
        "arp": m.ItemPopularity(),
        "efd": m.ExpectedFreeDiscovery(),
        "epc": m.ExpectedPopularityComplement(),
    },
    policies=Policies(lists_of="relevant"),
)


IMPLICIT = Convention(
    name="implicit",
    about="implicit's ranking_metrics_at_k; its precision pools all users.",
    notes="Proven with implicit 0.7.3.",
    metrics={
        "precision": m.PooledPrecision(),
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "ndcg": m.NDCG(gain="binary"),
        "auc": m.CompletedAUC(),
        "completed_auc": m.CompletedAUC(),
    },
)


IRSPACK = Convention(
    name="irspack",
    about="irspack's evaluate_recommendation_df: only users who have both a list and relevant items.",
    notes="Proven with irspack 0.5.2.",
    metrics={
        "precision": m.Precision(denominator="list"),
        "recall": m.Recall(),
        "recall_with_cutoff": m.Recall(denominator="min_relevant_list"),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(),
        "ndcg": m.NDCG(gain="binary", ideal="list_length"),
        "catalog_coverage": m.CatalogCoverage(),
        "appeared_item": m.CatalogCoverage(scale="count"),
        "entropy": m.Entropy(base="e"),
        "gini": m.Gini(),
        "gini_index": m.Gini(),
    },
    policies=Policies(lists_of="relevant", no_list="skip", ties="item_code"),
)


LENSKIT = Convention(
    name="lenskit",
    about="LensKit's list metrics; undefined users are NaN and left out of the mean.",
    notes="Proven with LensKit 2025.8.1; what 2026.2 changed is `lenskit_2026`.",
    metrics={
        "precision": m.Precision(denominator="list", zero="nan"),
        "recall": m.Recall(denominator="min_relevant_k"),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(normalizer="min_relevant_list", zero="nan"),
        "mrr": m.ReciprocalRank(),
        "dcg": m.DCG(gain="binary", discount="jarvelin2"),
        "dcg_graded": m.DCG(discount="jarvelin2"),
        "ndcg": m.NDCG(gain="binary", discount="jarvelin2"),
        "ndcg_graded": m.NDCG(discount="jarvelin2"),
        "rbp": m.RankBiasedPrecision(p=0.85),
        "rbp_normalized": m.RankBiasedPrecision(p=0.85, normalization="ideal"),
        "mae": m.MAE(aggregate="user"),
        "rmse": m.RMSE(aggregate="user"),
    },
    policies=Policies(no_relevant="nan"),
    deviations={
        "precision": {"no_relevant": "zero"},
        "dcg": {"no_relevant": "zero"},
        "dcg_graded": {"no_relevant": "zero"},
    },
)

LENSKIT_2026 = replace(
    LENSKIT,
    name="lenskit_2026",
    about="LensKit since 2026.2; the same, but DCG of users without relevant items is undefined, too.",
    notes=(
        "Proven with LensKit 2026.4.0, list by list and by the means of its MeasurementCollector. Its "
        "average precision stops with a ZeroDivisionError at a user without relevant items; here such a user "
        "is undefined."
    ),
    deviations={"precision": {"no_relevant": "zero"}},
)


_OMNIREC = {
    "precision": m.Precision(),
    "recall": m.Recall(denominator="min_relevant_k"),
    "hit_rate": m.HitRate(),
    "ndcg": m.NDCG(gain="binary"),
    "mae": m.MAE(),
    "rmse": m.RMSE(),
}

OMNIREC = Convention(
    name="omnirec",
    about="OmniRec up to 1.0; its nDCG compares with a list of k hits, its recall divides by at most k.",
    notes=(
        "Proven with OmniRec 1.0.0. Every user with a list counts, with 0 where nothing is relevant; recall "
        "is 0/0 for such a user, so that OmniRec's own mean is then NaN: here it is the mean of the others."
    ),
    metrics={**_OMNIREC, "ndcg": m.NDCG(gain="binary", ideal="k_ones")},
    policies=Policies(no_relevant="zero", no_list="skip"),
    deviations={"recall": {"no_relevant": "nan"}},
)

OMNIREC_1_1 = Convention(
    name="omnirec_1_1",
    about="OmniRec since 1.1; the ideal of its nDCG has at most as many hits as the user has relevant items.",
    notes="Proven with OmniRec 1.1.0. Only users who have both a list and relevant items count.",
    metrics=_OMNIREC,
    policies=Policies(no_list="skip"),
)


RANX = Convention(
    name="ranx",
    about="ranx.evaluate with make_comparable=True; it puts ties in no order in lists of over 15 items.",
    notes="Proven with ranx 0.3.21.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "r_precision": m.RPrecision(),
        "map": m.AveragePrecision(),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(),
        "ndcg_burges": m.NDCG(gain="exponential"),
        "dcg": m.DCG(),
        "dcg_burges": m.DCG(gain="exponential"),
        "rbp": m.RankBiasedPrecision(gain="linear"),
    },
    policies=Policies(no_positive_grade="zero"),
)


RECBOLE = Convention(
    name="recbole",
    about="RecBole's top-k metrics.",
    notes="Proven with RecBole 1.2.1.",
    metrics={
        **_BINARY_AT_K,
        "catalog_coverage": m.CatalogCoverage(),
        "item_coverage": m.CatalogCoverage(),
        "entropy": m.Entropy(base="e", divisor="recommended"),
        "shannon_entropy": m.Entropy(base="e", divisor="recommended"),
        "gini": m.Gini(),
        "gini_index": m.Gini(),
        "popularity": m.ItemPopularity(divisor="k"),
        "average_popularity": m.ItemPopularity(divisor="k"),
        "tail_percentage": m.TailPercentage(),
        "mae": m.MAE(),
        "rmse": m.RMSE(),
    },
    policies=Policies(lists_of="relevant"),
)


RECMETRICS = Convention(
    name="recmetrics",
    about="recmetrics; its MAR is average precision by relevant items, precision and recall keep 4 decimals.",
    notes="Proven with recmetrics 0.1.5 and commit b21222d389.",
    metrics={
        "precision": m.Precision(denominator="list"),
        "recall": m.Recall(),
        "map": m.AveragePrecision(normalizer="hits"),
        "mar": m.AveragePrecision(),
        "prediction_coverage": m.CatalogCoverage(scale="percent"),
        "personalization": m.Personalization(),
        "novelty": m.Novelty(divisor="k", unseen="raise"),
        "intra_list_similarity": m.IntraListSimilarity(single="raise"),
        "mse": m.MSE(),
        "rmse": m.RMSE(),
    },
    policies=Policies(no_relevant="zero"),
    deviations={
        "precision": {"round": 4, "no_list": "raise"},
        "recall": {"round": 4, "no_relevant": "raise"},
    },
)


RECOMMENDERS = Convention(
    name="recommenders",
    about="Microsoft recommenders; users need a list and relevant items, but for nDCG.",
    notes="Proven with recommenders 1.2.1.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "r_precision": m.RPrecision(zero="nan"),
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "map_full": m.AveragePrecision(),
        "ndcg": m.NDCG(gain="binary"),
        "ndcg_raw": m.NDCG(),
        "ndcg_exp": m.NDCG(gain="exponential", discount="ln"),
        "catalog_coverage": m.CatalogCoverage(catalog="train", intersect=False),
        "entropy": m.Entropy(),
        "distributional_coverage": m.Entropy(),
        "novelty": m.PooledNovelty(),
        "diversity": m.Diversity(similarity="cooccurrence"),
        "diversity_features": m.Diversity(),
        "serendipity": m.HistorySerendipity(),
        "serendipity_features": m.HistorySerendipity(similarity="features"),
        "serendipity_relevant": m.HistorySerendipity(relevance=True),
        "serendipity_features_relevant": m.HistorySerendipity(similarity="features", relevance=True),
        "mae": m.MAE(),
        "rmse": m.RMSE(),
    },
    policies=Policies(no_list="skip"),
    deviations={name: {"no_list": "zero"} for name in ("ndcg", "ndcg_raw", "ndcg_exp")},
)


RECTOOLS = Convention(
    name="rectools",
    about="RecTools' calc_metrics; its default nDCG compares with a list of k hits.",
    notes="Proven with RecTools 0.19.0.",
    metrics={
        "precision": m.Precision(),
        "r_precision": m.Precision(denominator="min_relevant_k"),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(),
        "map_divide_by_k": m.AveragePrecision(normalizer="k"),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(gain="binary", ideal="k_ones"),
        "ndcg_achievable": m.NDCG(gain="binary"),
        "partial_auc": m.PartialAUC(),
        "pap": m.PartialAUC(positives="min_relevant_k"),
        "catalog_coverage": m.CatalogCoverage(),
        "diversity": m.Diversity(single=0),
        "intra_list_diversity": m.Diversity(single=0),
        "novelty": m.Novelty(),
        "mean_inv_user_freq": m.Novelty(),
        "popularity": m.ItemPopularity(),
        "avg_rec_popularity": m.ItemPopularity(),
        "popularity_share": m.ItemPopularity(value="share"),
        "serendipity": m.RankSerendipity(),
        "rank_serendipity": m.RankSerendipity(),
    },
    policies=Policies(repeats="distinct"),
    deviations={"serendipity": {"no_relevant": "zero"}, "rank_serendipity": {"no_relevant": "zero"}},
)


REPLAY = Convention(
    name="replay",
    about="RePlay's metrics over dictionaries; every user of the ground truth counts.",
    notes="Proven with RePlay 0.22.0.",
    metrics={
        **_BINARY_AT_K,
        "list_auc": m.ListAUC(),
        "roc_auc": m.ListAUC(),
        "catalog_coverage": m.CatalogCoverage(catalog="train"),
        "coverage": m.CatalogCoverage(catalog="train"),
        "novelty": m.UnseenShare(empty="unseen"),
        "unseen_share": m.UnseenShare(empty="unseen"),
        "surprisal": m.Novelty(divisor="k", scale="log_users"),
    },
    policies=Policies(no_relevant="zero"),
)


SKLEARN = Convention(
    name="sklearn",
    about="scikit-learn's ndcg_score and average_precision_score, user by user; equal scores share ranks.",
    notes="Proven with scikit-learn 1.9.1.",
    metrics={
        "map": m.AveragePrecision(),
        "dcg": m.DCG(),
        "ndcg": m.NDCG(),
        "ndcg_exp": m.NDCG(gain="exponential"),
        "mae": m.MAE(),
        "mse": m.MSE(),
        "rmse": m.RMSE(),
        "median_absolute_error": m.MedianAbsoluteError(),
        "r2": m.RSquared(),
    },
    policies=Policies(no_positive_grade="zero", no_list="skip", ties="average", threshold=0.0),
)


_GDEVAL = {"score_precision": "double", "round": 5, "rounding": "printf"}

TREC = Convention(
    name="trec",
    about="ir_measures: trec_eval, exponential nDCG and ERR as gdeval prints them, RBP of cwl_eval.",
    notes="Proven with ir_measures 0.4.3.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "hit_rate": m.HitRate(),
        "r_precision": m.RPrecision(),
        "map": m.AveragePrecision(),
        "mrr": m.ReciprocalRank(),
        "mrr_ms_marco": m.ReciprocalRank(),
        "ndcg": m.NDCG(),
        "ndcg_exp": m.NDCG(gain="exponential"),
        "rbp": m.RankBiasedPrecision(),
        "err": m.ExpectedReciprocalRank(),
    },
    policies=Policies(no_positive_grade="zero", ties="id_descending", score_precision="single"),
    deviations={
        "mrr_ms_marco": {"ties": "item_code", "score_precision": "double"},
        "rbp": {"ties": "stable"},
        "ndcg_exp": _GDEVAL,
        "err": _GDEVAL,
    },
)


WARPREC = Convention(
    name="warprec",
    about="WarpRec; its nDCG gains 2^(grade + 1) - 1, its MAR sums recall at hits only.",
    notes=(
        "Proven with WarpRec 2.2.8. WarpRec computes in 32 bits: what it prints agrees to 1e-6, its own code "
        "run in 64 bits to 1e-9. It shuffles equal scores with a seed of its own, which cannot be repeated "
        "here: the order of the list counts. It always fills a list to k items; here a list may be shorter. "
        "Not defined here: AUC and GAUC, which need the score of every item, and ARP, EFD and EPC, which "
        "count an item without training rows as known to one user."
    ),
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "mrr": m.ReciprocalRank(),
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "mar": m.AverageRecall(normalizer="min_relevant_k", at="hits"),
        "ndcg": m.NDCG(gain="exponential", gain_offset=-1.0),
        "ndcg_rendle": m.NDCG(gain="binary"),
        "limited_auc": m.LimitedAUC(),
        "lauc": m.LimitedAUC(),
        "catalog_coverage": m.CatalogCoverage(scale="count"),
        "item_coverage": m.CatalogCoverage(scale="count"),
        "gini": m.Gini(normalizer="n_minus_1"),
        "entropy": m.Entropy(base="e"),
        "shannon_entropy": m.Entropy(base="e"),
        "mae": m.MAE(aggregate="user"),
        "mse": m.MSE(aggregate="user"),
        "rmse": m.RMSE(aggregate="user"),
    },
    policies=Policies(lists_of="relevant"),
)
