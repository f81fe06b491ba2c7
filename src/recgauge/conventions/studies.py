"""What the code of reproducibility studies computes, to compare with the numbers that they publish."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

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
