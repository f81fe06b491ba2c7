"""What five articles on evaluating recommenders and the code of two reproducibility studies compute.

The articles, in the order below; the texts themselves are no part of recgauge:

1. A blog post on offline metrics for recommender systems, from precision at k to nDCG; author and address are
   not known here.
2. "Recommendation System Evaluation", a blog article of 3 October 2023.
3. CAPRI (CapriRecSys/CAPRI), the documentation page "Evaluation Metrics".
4. Claire Longo, "Evaluation Metrics for Recommender Systems", Towards Data Science, 23 November 2018,
   with the library recmetrics.
5. A note on recommendation metrics: MAE, RMSE, Minkowski, averages of precision, recall and F1, and two DCG
   methods; the author is not known here.

The studies are cited in their notes; their conventions compare with the numbers that they publish.
"""

from dataclasses import replace

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.conventions.libraries import CAPRI, RECMETRICS
from recgauge.judging import Policies

ARTICLE_OFFLINE_METRICS = Convention(
    name="article_offline_metrics",
    about="A blog from precision to nDCG: AP by hits; where its code crashes, the user is undefined.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScore(zero="nan"),
        "map": m.AveragePrecision(normalizer="hits", zero="nan"),
        "mrr": m.ReciprocalRank(),
        "cg": m.CumulativeGain(),
        "ndcg": m.NDCG(),
    },
    policies=Policies(no_relevant="zero", repeats="every"),
    deviations={
        "recall": {"no_relevant": "nan", "repeats": "miss"},
        "precision": {"repeats": "miss"},
        "ndcg": {"no_relevant": "nan"},
    },
)

ARTICLE_SYSTEM_EVALUATION = Convention(
    name="article_system_evaluation",
    about="A long article from MAE to serendipity: precision by list length, the ideal list of nDCG not cut.",
    metrics={
        "precision": m.Precision(denominator="list"),
        "recall": m.Recall(),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(),
        "map_rounded": m.AveragePrecision(),
        "mrr": m.ReciprocalRank(),
        "dcg": m.DCG(gain="binary"),
        "ndcg": m.NDCG(gain="binary", ideal="full"),
        "ndcg_rounded": m.NDCG(gain="binary", ideal="full"),
        "mae": m.MAE(),
        "mse": m.MSE(),
        "rmse": m.RMSE(),
        "pearson": m.Pearson(),
        "spearman": m.Spearman(),
        "rbp": m.RankBiasedPrecision(),
        "err": m.ExpectedReciprocalRank(),
        "catalog_coverage": m.CatalogCoverage(),
        "catalog_coverage_train": m.CatalogCoverage(catalog="train"),
        "prediction_coverage": m.PredictionCoverage(),
        "diversity": m.PooledDiversity(),
        "novelty": m.Novelty(),
        "popularity": m.ItemPopularity(),
        "serendipity": m.UnpopularSerendipity(),
    },
    policies=Policies(no_relevant="zero"),
    deviations={"map_rounded": {"round_mean": 2}, "ndcg_rounded": {"round": 2}},
)

ARTICLE_CAPRI = replace(
    CAPRI,
    name="article_capri",
    about="CAPRI's page on its metrics: the same as CAPRI's own evaluator.",
    metrics={
        **CAPRI.metrics,
        "catalog_coverage_train": m.CatalogCoverage(scale="percent", catalog="train", intersect=False),
    },
)

ARTICLE_RECMETRICS = replace(
    RECMETRICS,
    name="article_recmetrics",
    about="The article that introduces recmetrics; its MAP divides by min(relevant, k).",
    metrics={
        **RECMETRICS.metrics,
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "prediction_coverage_train": m.CatalogCoverage(scale="percent", catalog="train", intersect=False),
    },
)

AVERAGES = {
    **{
        f"{score}_{average}": m.LikedScore(score=score, average=average)
        for score in ("precision", "recall", "f1")
        for average in ("micro", "macro", "weighted", "binary")
    },
    **{f"{score}_samples": m.LikedScore("user", score, "binary") for score in ("precision", "recall", "f1")},
}
"""Of the labels liked and not liked; where a row is a user with several labels, the average over samples."""

ARTICLE_NDCG_NOTE = Convention(
    name="article_ndcg_note",
    about="A note with two nDCG methods: the list's own gains re-sorted, stretched from worst to best.",
    metrics={
        "mae": m.MAE(),
        "rmse": m.RMSE(),
        "minkowski": m.Minkowski(),
        **AVERAGES,
        "dcg": m.DCG(),
        "dcg_method0": m.DCG(discount="jarvelin2"),
        "ndcg": m.NDCG(ideal="own_list", normalization="minmax"),
        "ndcg_method0": m.NDCG(discount="jarvelin2", ideal="own_list", normalization="minmax"),
        "ndcg_plain": m.NDCG(ideal="own_list"),
        "ndcg_plain_method0": m.NDCG(discount="jarvelin2", ideal="own_list"),
        "ndcg_2": m.NDCG(),
        "ndcg_2_method0": m.NDCG(discount="jarvelin2"),
        "ndcg_2_minmax": m.NDCG(normalization="minmax"),
        "ndcg_2_minmax_method0": m.NDCG(discount="jarvelin2", normalization="minmax"),
    },
    policies=Policies(no_relevant="zero"),
)


DACREMA_2021 = Convention(
    name="dacrema_2021",
    about="Ferrari Dacrema et al., TOIS 2021: MAP by at most k items, the ideal list of nDCG is not cut.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScoreOfMeans(),
        "map": m.AveragePrecision(normalizer="min_relevant_k"),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(gain="binary", ideal="full"),
        "novelty": m.Novelty(total="interactions", divisor="catalog", unseen="zero"),
        "mean_inter_list_diversity": m.Personalization(),
        "herfindahl": m.Herfindahl(),
        "catalog_coverage": m.CatalogCoverage(),
        "item_coverage": m.CatalogCoverage(),
        "gini": m.GiniComplement(normalizer="n_plus_1"),
        "entropy": m.Entropy(),
        "shannon_entropy": m.Entropy(),
    },
    policies=Policies(lists_of="relevant"),
    notes=(
        "Read in the code of M. Ferrari Dacrema, S. Boglio, P. Cremonesi, D. Jannach, 'A troubling analysis "
        "of reproducibility and progress in recommender systems research', ACM TOIS 39(2), 2021: "
        "MaurizioFD/RecSys2019_DeepLearning_Evaluation, commit f5618c65. Where a list is shorter than k, the "
        "code divides precision and MAP by its length. Its nDCG gains 2^rating - 1 of what the test matrix "
        "holds, which is 1 in the study. Its gini rises with diversity. Not defined here: what it calls hit "
        "rate, the mean number of hits. NumPy's partition, by which it ranks, has no order of equal scores: "
        "runs come closest with ties=random."
    ),
)

INTENT_AWARE_2025 = Convention(
    name="intent_aware_2025",
    about="Shehzad et al., SIGIR 2025, on intent-aware models: MAP by k, F1 of mean precision and recall.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScoreOfMeans(),
        "map": m.AveragePrecision(normalizer="k"),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(gain="binary"),
        "novelty": m.Novelty(total="interactions", divisor="catalog", unseen="zero"),
        "catalog_coverage": m.CatalogCoverage(),
        "item_coverage": m.CatalogCoverage(),
    },
    policies=Policies(lists_of="relevant"),
    notes=(
        "Read in the code of F. Shehzad, M. Ferrari Dacrema, D. Jannach, 'A worrying reproducibility study "
        "of intent-aware recommendation models', SIGIR 2025: Faisalse/IntentAwareRS, commit 63ece444. Where "
        "a list is shorter than k, the code divides precision and MAP by its length. NumPy's partition, by "
        "which it ranks, has no order of equal scores: runs come closest with ties=random."
    ),
)

DI_PALMA_2023 = Convention(
    name="di_palma_2023",
    about="Di Palma et al., 2023, on ChatGPT as a recommender: Elliot, where repeats hit again.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "f1": m.FScore(),
        "hit_rate": m.HitRate(),
        "map": m.AveragePrecision(normalizer="k", at="ranks"),
        "mar": m.AverageRecall(),
        "mrr": m.ReciprocalRank(),
        "ndcg": m.NDCG(gain="exponential", gain_offset=-1.0),
        "ndcg_rendle": m.NDCG(gain="binary"),
        "efd": m.ExpectedFreeDiscovery(),
        "epc": m.ExpectedPopularityComplement(),
        "arp": m.ItemPopularity(empty="zero"),
        "aclt": m.LongTailCount(head_items="given"),
        "aplt": m.LongTailShare(head_items="given", untrained="neither", repeats="once", empty="zero"),
        "pop_reo": m.PopularityOpportunity(head_items="given"),
        "pop_rsp": m.PopularityParity(head_items="given"),
        "item_coverage": m.CatalogCoverage(scale="count"),
        "user_coverage": m.UserCount(),
        "gini_index": m.GiniComplement(normalizer="n_minus_1", catalog="train"),
        "shannon_entropy": m.Entropy(weight="users"),
    },
    policies=Policies(
        unknown="drop",
        seen="drop",
        repeats="every",
        longest=50,
        threshold=0.0,
        no_list="skip",
        lists_of="evaluated",
    ),
    notes=(
        "D. Di Palma, G. M. Biancofiore, V. W. Anelli, F. Narducci, T. Di Noia, E. Di Sciascio, 'Evaluating "
        "ChatGPT as a recommender system: a rigorous approach', arXiv 2309.03613: "
        "sisinflab/Recommender-ChatGPT, commit 41e97b6d, with Elliot's commit 3af4d851. The short head is a "
        "file, since Elliot breaks ties of popularity at its border by the order of a Python set."
    ),
)

ZANON_2022 = Convention(
    name="zanon_2022",
    about="Zanon et al., 2022, with CaseRec: MAP by hits in the list, the ideal of nDCG is the list itself.",
    metrics={
        "precision": m.Precision(),
        "recall": m.Recall(),
        "map": m.AveragePrecision(normalizer="hits"),
        "ndcg": m.NDCG(gain="binary", discount="jarvelin2", ideal="own_at_k"),
        "item_coverage": m.CatalogCoverage(scale="count"),
        "catalog_coverage": m.CatalogCoverage(catalog="train", intersect=False),
        "entropy": m.Entropy(base="10"),
        "gini": m.Gini(catalog="n_train", smoothing=1e-8),
    },
    notes=(
        "A. L. Zanon, L. C. D. da Rocha, M. G. Manzato, 'Balancing the trade-off between accuracy and "
        "diversity in recommender systems with personalized explanations based on Linked Open Data', "
        "Knowledge-Based Systems 252, 2022: andlzanon/lod-personalized-recommender, commit 425fcc0c. Its MAP "
        "without a cutoff is that at 10."
    ),
)
