"""One module for each library whose numbers recgauge computes, and the table that several of them share."""

from recgauge import metrics as m

BINARY_AT_K = {
    "precision": m.Precision(),
    "recall": m.Recall(),
    "hit_rate": m.HitRate(),
    "map": m.AveragePrecision(normalizer="min_relevant_k"),
    "mrr": m.ReciprocalRank(),
    "ndcg": m.NDCG(gain="binary"),
}
"""Relevant or not, everything cut at k: what RecBole and RePlay compute."""
