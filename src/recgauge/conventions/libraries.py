"""What other libraries compute under the names of metrics; each row is proven by cases that they computed."""

from recgauge.conventions import Convention
from recgauge.metrics.average_precision import AveragePrecision
from recgauge.metrics.average_recall import AverageRecall
from recgauge.metrics.dcg import DCG
from recgauge.metrics.expected_reciprocal_rank import ExpectedReciprocalRank
from recgauge.metrics.f_score import FScore
from recgauge.metrics.hit_rate import HitRate
from recgauge.metrics.ndcg import NDCG
from recgauge.metrics.pooled_precision import PooledPrecision
from recgauge.metrics.precision import Precision
from recgauge.metrics.r_precision import RPrecision
from recgauge.metrics.rank_biased_precision import RankBiasedPrecision
from recgauge.metrics.recall import Recall
from recgauge.metrics.reciprocal_rank import ReciprocalRank
from recgauge.policies import Policies

BINARY_NDCG = NDCG(gain="binary")

TREC = Convention(
    name="trec",
    about="trec_eval, as pytrec_eval calls it; exponential nDCG and ERR as gdeval prints them.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "hit_rate": HitRate(),
        "r_precision": RPrecision(),
        "map": AveragePrecision(),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(),
        "ndcg_exp": NDCG(gain="exponential"),
        "rbp": RankBiasedPrecision(),
        "err": ExpectedReciprocalRank(),
    },
    policies=Policies(ties="id_descending"),
    deviations={"ndcg_exp": {"round": 5}, "err": {"round": 5}},
)

RANX = Convention(
    name="ranx",
    about="ranx.evaluate with make_comparable=True.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "f1": FScore(),
        "hit_rate": HitRate(),
        "r_precision": RPrecision(),
        "map": AveragePrecision(),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(),
        "ndcg_burges": NDCG(gain="exponential"),
        "dcg": DCG(),
        "dcg_burges": DCG(gain="exponential"),
        "rbp": RankBiasedPrecision(gain="linear"),
    },
)

RECBOLE = Convention(
    name="recbole",
    about="RecBole's top-k metrics.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "mrr": ReciprocalRank(),
        "ndcg": BINARY_NDCG,
    },
)

LENSKIT = Convention(
    name="lenskit",
    about="LensKit's list metrics; undefined users are NaN and left out of the mean.",
    metrics={
        "precision": Precision(denominator="list", zero="nan"),
        "recall": Recall(denominator="min_relevant_k"),
        "hit_rate": HitRate(),
        "map": AveragePrecision(normalizer="min_relevant_list", zero="nan"),
        "mrr": ReciprocalRank(),
        "dcg": DCG(gain="binary", discount="jarvelin2"),
        "dcg_graded": DCG(discount="jarvelin2"),
        "ndcg": NDCG(gain="binary", discount="jarvelin2"),
        "ndcg_graded": NDCG(discount="jarvelin2"),
        "rbp": RankBiasedPrecision(p=0.85),
        "rbp_normalized": RankBiasedPrecision(p=0.85, normalization="ideal"),
    },
    policies=Policies(no_relevant="nan"),
    deviations={
        "precision": {"no_relevant": "zero"},
        "dcg": {"no_relevant": "zero"},
        "dcg_graded": {"no_relevant": "zero"},
    },
)

RECTOOLS = Convention(
    name="rectools",
    about="RecTools' calc_metrics; its default nDCG compares with a list of k hits.",
    metrics={
        "precision": Precision(),
        "r_precision": Precision(denominator="min_relevant_k"),
        "recall": Recall(),
        "f1": FScore(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(),
        "map_divide_by_k": AveragePrecision(normalizer="k"),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(gain="binary", ideal="k_ones"),
        "ndcg_achievable": BINARY_NDCG,
    },
)

CORNAC = Convention(
    name="cornac",
    about="Cornac's ranking metrics; its MRR refuses a list without a hit.",
    metrics={
        "precision": Precision(zero="nan"),
        "recall": Recall(),
        "f1": FScore(),
        "hit_rate": HitRate(),
        "mrr": ReciprocalRank(miss="raise"),
        "ndcg": BINARY_NDCG,
        "ncrr": NDCG(gain="binary", discount="reciprocal", ideal="list_length"),
    },
)

IRSPACK = Convention(
    name="irspack",
    about="irspack's evaluate_recommendation_df: only users who have both a list and relevant items.",
    metrics={
        "precision": Precision(denominator="list"),
        "recall": Recall(),
        "recall_with_cutoff": Recall(denominator="min_relevant_list"),
        "hit_rate": HitRate(),
        "map": AveragePrecision(),
        "ndcg": NDCG(gain="binary", ideal="list_length"),
    },
    policies=Policies(no_list="skip", ties="id_ascending"),
)

REPLAY = Convention(
    name="replay",
    about="RePlay's metrics over dictionaries; every user of the ground truth counts.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "mrr": ReciprocalRank(),
        "ndcg": BINARY_NDCG,
    },
    policies=Policies(no_relevant="zero"),
)

ELLIOT = Convention(
    name="elliot",
    about="Elliot; its MAP and MAR average over every rank, not over hits.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "f1": FScore(),
        "hit_rate": HitRate(),
        "map": AveragePrecision(normalizer="k", at="ranks"),
        "mar": AverageRecall(),
        "mrr": ReciprocalRank(),
        "ndcg": NDCG(gain="exponential"),
        "ndcg_rendle": BINARY_NDCG,
    },
)

RECOMMENDERS = Convention(
    name="recommenders",
    about="Microsoft recommenders; users need a list and relevant items, but for nDCG.",
    metrics={
        "precision": Precision(),
        "recall": Recall(),
        "r_precision": RPrecision(zero="nan"),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "map_full": AveragePrecision(),
        "ndcg": BINARY_NDCG,
        "ndcg_raw": NDCG(),
        "ndcg_exp": NDCG(gain="exponential", discount="ln"),
    },
    policies=Policies(no_list="skip"),
    deviations={name: {"no_list": "zero"} for name in ("ndcg", "ndcg_raw", "ndcg_exp")},
)

RECMETRICS = Convention(
    name="recmetrics",
    about="recmetrics; its MAR is average precision by relevant items, precision and recall keep 4 decimals.",
    metrics={
        "precision": Precision(denominator="list"),
        "recall": Recall(),
        "map": AveragePrecision(normalizer="hits"),
        "mar": AveragePrecision(),
    },
    policies=Policies(no_relevant="zero"),
    deviations={
        "precision": {"round": 4, "no_list": "raise"},
        "recall": {"round": 4, "no_relevant": "raise"},
    },
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
    },
    deviations={"precision": {"no_list": "raise"}, "ndcg": {"round": 4}, "ndcg_graded": {"round": 4}},
)

IMPLICIT = Convention(
    name="implicit",
    about="implicit's ranking_metrics_at_k; its precision pools all users.",
    metrics={
        "precision": PooledPrecision(),
        "map": AveragePrecision(normalizer="min_relevant_k"),
        "ndcg": BINARY_NDCG,
    },
)

SKLEARN = Convention(
    name="sklearn",
    about="scikit-learn's ndcg_score and average_precision_score, user by user; equal scores share places.",
    metrics={
        "map": AveragePrecision(),
        "dcg": DCG(),
        "ndcg": NDCG(),
        "ndcg_exp": NDCG(gain="exponential"),
    },
    policies=Policies(no_list="skip", ties="average"),
)

LIBRARIES = (
    TREC,
    RANX,
    RECBOLE,
    LENSKIT,
    RECTOOLS,
    CORNAC,
    IRSPACK,
    REPLAY,
    ELLIOT,
    RECOMMENDERS,
    RECMETRICS,
    CAPRI,
    IMPLICIT,
    SKLEARN,
)
