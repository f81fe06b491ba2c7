"""What CAPRI computes under its names; each row is proven by values that it gave."""

from recgauge.conventions.convention import Convention
from recgauge.metrics import (
    NDCG,
    AveragePrecision,
    CatalogCoverage,
    Diversity,
    Novelty,
    Personalization,
    Precision,
    Recall,
)

CAPRI = Convention(
    name="capri",
    about="CAPRI's evaluator; nDCG keeps 4 decimals and its ideal list is not cut.",
    metrics={
        "precision": Precision(denominator="list"),
        "recall": Recall(),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "ndcg": NDCG(gain="binary", discount="ln", ideal="full"),
        "ndcg_graded": NDCG(gain="exponential", discount="ln", ideal="full"),
        "catalog_coverage": CatalogCoverage(scale="percent"),
        "personalization": Personalization(),
        "novelty": Novelty(divisor="k", unseen="zero"),
        "diversity": Diversity(similarity="matrix", single="raise"),
        "list_diversity": Diversity(similarity="matrix", single="raise"),
    },
    deviations={"precision": {"no_list": "raise"}, "ndcg": {"round": 4}, "ndcg_graded": {"round": 4}},
)
