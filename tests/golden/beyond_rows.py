"""Which convention and metric reproduce each row of a library beyond accuracy, and why some are left out."""

from golden.ranking_rows import BOTH, FLOAT32, FULL, Row

POP_PLUS_ONE = "novelty(pop+1)"
"""The row that counts one training user more, who had everything, so that no item is unknown."""
NAMED_ITEMS_ONLY = "irspack/df:gini_index"
"""The row whose catalogue is what a data frame shows: the items of lists and relevant items."""

ARTICLE = "article_system_evaluation"
RECMETRICS = {
    f"recmetrics/{name}": Row("recmetrics", metric)
    for name, metric in {
        "prediction_coverage": "prediction_coverage",
        "personalization": "personalization",
        "novelty": "novelty",
        POP_PLUS_ONE: "novelty",
        "intra_list_similarity": "intra_list_similarity",
    }.items()
}

BEYOND_ROWS: dict[str, Row] = {
    f"{ARTICLE}/catalog_coverage": Row(ARTICLE, "catalog_coverage"),
    f"{ARTICLE}/serendipity": Row(ARTICLE, "serendipity"),
    f"{ARTICLE}/diversity": Row(ARTICLE, "diversity"),
    "rectools/MeanInvUserFreq": Row("rectools", "mean_inv_user_freq"),
    "rectools/AvgRecPopularity": Row("rectools", "avg_rec_popularity"),
    "rectools/AvgRecPopularity(normalize=True)": Row("rectools", "popularity_share"),
    "rectools/Serendipity": Row("rectools", "serendipity"),
    "rectools/CatalogCoverage(normalize=True)": Row("rectools", "catalog_coverage"),
    "rectools/IntraListDiversity(cosine)": Row("rectools", "intra_list_diversity"),
    "rectools/PartialAUC": Row("rectools", "partial_auc"),
    "rectools/PAP": Row("rectools", "pap"),
    **RECMETRICS,
    "capri/novelty": Row("capri", "novelty"),
    "capri/catalogCoverage": Row("capri", "catalog_coverage"),
    "capri/personalization": Row("capri", "personalization"),
    "capri/listDiversity": Row("capri", "list_diversity"),
    "recbole/ItemCoverage": Row("recbole", "item_coverage"),
    "recbole/ShannonEntropy": Row("recbole", "shannon_entropy"),
    "recbole/GiniIndex": Row("recbole", "gini_index"),
    "recbole/AveragePopularity": Row("recbole", "average_popularity"),
    "recbole/TailPercentage": Row("recbole", "tail_percentage"),
    "replay/Novelty": Row("replay", "novelty"),
    "replay/Surprisal": Row("replay", "surprisal"),
    "replay/Coverage": Row("replay", "coverage"),
    "replay/RocAuc": Row("replay", "roc_auc"),
    NAMED_ITEMS_ONLY: Row("irspack", "gini_index", lists=BOTH),
    "irspack/df:entropy": Row("irspack", "entropy", lists=BOTH),
    "irspack/df:appeared_item": Row("irspack", "appeared_item", lists=BOTH),
    "irspack/gini_index": Row("irspack", "gini_index", lists=FULL),
    "irspack/entropy": Row("irspack", "entropy", lists=FULL),
    "irspack/catalog_coverage": Row("irspack", "catalog_coverage", lists=FULL),
    "elliot/EFD": Row("elliot", "efd"),
    "elliot/EPC": Row("elliot", "epc"),
    "elliot/GiniIndex": Row("elliot", "gini_index"),
    "elliot/ShannonEntropy": Row("elliot", "shannon_entropy"),
    "elliot/ItemCoverage": Row("elliot", "item_coverage"),
    "elliot/ARP": Row("elliot", "arp"),
    "elliot/LAUC": Row("elliot", "lauc"),
    "recommenders/novelty": Row("recommenders", "novelty"),
    "recommenders/catalog_coverage": Row("recommenders", "catalog_coverage"),
    "recommenders/distributional_coverage": Row("recommenders", "distributional_coverage"),
    "recommenders/diversity(item_feature_vector)": Row("recommenders", "diversity_features"),
    "recommenders/serendipity(item_feature_vector)": Row("recommenders", "serendipity_features"),
    "recommenders/serendipity(item_feature_vector,relevance)": Row(
        "recommenders", "serendipity_features_relevant"
    ),
    "recommenders/diversity(cooccurrence)": Row("recommenders", "diversity"),
    "recommenders/serendipity(cooccurrence)": Row("recommenders", "serendipity"),
    "implicit/auc": Row("implicit", "auc"),
    **{
        f"warprec/{name}{precision}": Row("warprec", metric, tolerance)
        for name, metric in {
            "LAUC": "lauc",
            "ItemCoverage": "item_coverage",
            "Gini": "gini",
            "ShannonEntropy": "shannon_entropy",
        }.items()
        for precision, tolerance in (("", 1e-9), (" (float32)", FLOAT32))
    },
}

FULL_RANKINGS = {
    # need the score of every candidate: compared with those metrics
    "cornac/AUC",
    "elliot/AUC",
    "elliot/GAUC",
    "recbole/AUC",
    "recbole/GAUC",
    "sklearn/roc_auc_score_per_user",
}

UNSTABLE = "one list makes no pair: the library's infinity is noise, ours is undefined"
LEFT_OUT = {
    "personalization": "the library cannot take lists of unequal length, ours is defined for them",
    "diversity": "the article's code fails on an empty list, ours has no pair there",
    "ARP": "the library fails on an empty list, ours leaves the user out",
}
"""Metrics that a library could not compute and we can, and why."""
