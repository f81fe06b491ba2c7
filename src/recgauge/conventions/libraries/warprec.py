"""What WarpRec computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention
from recgauge.judging import Policies

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
