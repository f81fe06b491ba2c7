"""What CAPRI computes under its names; each row is proven by values that it gave."""

from recgauge import metrics as m
from recgauge.conventions import Convention

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
