"""Which convention and metric reproduce each row of a library beyond accuracy, and why some are left out."""

from golden.ranking_rows import BOTH, FLOAT32, FULL, Row, plain_rows

POP_PLUS_ONE = "novelty(pop+1)"
"""The row that counts one training user more, who had everything, so that no item is unknown."""
NAMED_ITEMS_ONLY = "irspack/df:gini_index"
"""The row whose catalogue is what a data frame shows: the items of lists and relevant items."""

PLAIN = {
    "article_system_evaluation": {
        "catalog_coverage": "catalog_coverage", "serendipity": "serendipity", "diversity": "diversity",
    },
    "recmetrics": {
        "prediction_coverage": "prediction_coverage", "personalization": "personalization",
        "novelty": "novelty", POP_PLUS_ONE: "novelty", "intra_list_similarity": "intra_list_similarity",
    },
    "rectools": {
        "MeanInvUserFreq": "mean_inv_user_freq", "AvgRecPopularity": "avg_rec_popularity",
        "AvgRecPopularity(normalize=True)": "popularity_share", "Serendipity": "serendipity",
        "CatalogCoverage(normalize=True)": "catalog_coverage",
        "IntraListDiversity(cosine)": "intra_list_diversity", "PartialAUC": "partial_auc", "PAP": "pap",
    },
    "capri": {
        "novelty": "novelty", "catalogCoverage": "catalog_coverage", "personalization": "personalization",
        "listDiversity": "list_diversity",
    },
    "recbole": {
        "ItemCoverage": "item_coverage", "ShannonEntropy": "shannon_entropy", "GiniIndex": "gini_index",
        "AveragePopularity": "average_popularity", "TailPercentage": "tail_percentage",
    },
    "replay": {"Novelty": "novelty", "Surprisal": "surprisal", "Coverage": "coverage", "RocAuc": "roc_auc"},
    "elliot": {
        "EFD": "efd", "EPC": "epc", "GiniIndex": "gini_index", "ShannonEntropy": "shannon_entropy",
        "ItemCoverage": "item_coverage", "ARP": "arp", "LAUC": "lauc",
    },
    "recommenders": {
        "novelty": "novelty", "catalog_coverage": "catalog_coverage",
        "distributional_coverage": "distributional_coverage",
        "diversity(item_feature_vector)": "diversity_features",
        "serendipity(item_feature_vector)": "serendipity_features",
        "serendipity(item_feature_vector,relevance)": "serendipity_features_relevant",
        "diversity(cooccurrence)": "diversity", "serendipity(cooccurrence)": "serendipity",
    },
    "implicit": {"auc": "auc"},
}  # fmt: skip
BEYOND_ROWS: dict[str, Row] = plain_rows(PLAIN) | {
    NAMED_ITEMS_ONLY: Row("irspack", "gini_index", lists=BOTH),
    "irspack/df:entropy": Row("irspack", "entropy", lists=BOTH),
    "irspack/df:appeared_item": Row("irspack", "appeared_item", lists=BOTH),
    "irspack/gini_index": Row("irspack", "gini_index", lists=FULL),
    "irspack/entropy": Row("irspack", "entropy", lists=FULL),
    "irspack/catalog_coverage": Row("irspack", "catalog_coverage", lists=FULL),
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
