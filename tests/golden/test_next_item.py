"""Next items: figures measured with plain numpy. Published lists: differential/test_published_lists.py."""

import numpy as np
import pytest

from recgauge.data.histories import newer_rows, oldest_first
from recgauge.datasets.movielens import MovieLens
from recgauge.filters import NCore
from recgauge.models.ease import EASE
from recgauge.models.item_knn import ItemKNN
from recgauge.models.recommend import recommend
from recgauge.models.sequential_rules import SequentialRules
from recgauge.utils.randomness import stream

pytestmark = [pytest.mark.slow, pytest.mark.data]

MODELS = {
    "markov": SequentialRules(steps=1, normalize="none", last_n=1, popularity=0.5),
    "rules": SequentialRules(normalize="none", last_n=1, popularity=0.001),
    "rules, rows": SequentialRules(),
    "rules, cosine": SequentialRules(normalize="cosine", last_n=20, decay=0.9),
    "item_knn": ItemKNN(k=10_000),
    "item_knn, newest": ItemKNN(k=10_000, last_n=10, decay=0.8),
    "ease": EASE(300.0),
    "ease, newest": EASE(300.0, last_n=20, decay=0.9),
}
# HR@10 and nDCG@10, last item held out, 5-core: history without and with the validation row, seen items
# removed; then the latter with seen items
MEASURED = {
    "ml_100k": {
        "markov": ".1315 .0678 .1442 .0759 .1103 .0555",
        "rules": ".1516 .0761 .1697 .0899 .1188 .0639",
        "rules, rows": ".1866 .0959 .2025 .1119 .1294 .0682",
        "rules, cosine": ".1835 .0926 .2025 .1081 .1336 .0714",
        "item_knn": ".1050 .0546 .1092 .0569 .0551 .0296",
        "item_knn, newest": ".1697 .0887 .1750 .0975 .0997 .0510",
        "ease": ".1432 .0736 .1442 .0753 .0297 .0127",
        "ease, newest": ".1707 .0870 .1856 .1000 .0848 .0425",
    },
    "ml_latest_small": {
        "markov": ".0787 .0440 .0869 .0524 .0803 .0440",
        "rules": ".0934 .0515 .0951 .0547 .0820 .0466",
        "rules, rows": ".1098 .0588 .1311 .0723 .1049 .0561",
        "rules, cosine": ".1098 .0557 .1344 .0719 .0934 .0487",
        "item_knn": ".0541 .0231 .0557 .0256 .0213 .0109",
        "item_knn, newest": ".1033 .0491 .1295 .0662 .0803 .0367",
        "ease": ".0770 .0343 .0803 .0362 .0049 .0016",
        "ease, newest": ".1066 .0526 .1361 .0706 .0443 .0171",
    },
    "ml_1m": {
        "markov": ".1344 .0691 .2136 .1256 .1892 .1074",
        "rules": ".1644 .0860 .2228 .1299 .1919 .1096",
        "rules, rows": ".2088 .1125 .2694 .1575 .2156 .1210",
        "rules, cosine": ".1833 .0995 .2421 .1402 .1917 .1083",
        "item_knn": ".0675 .0345 .0699 .0361 .0452 .0224",
        "item_knn, newest": ".1432 .0752 .1672 .0921 .1152 .0609",
        "ease": ".0985 .0481 .1094 .0543 .0296 .0136",
        "ease, newest": ".1805 .0948 .2194 .1198 .1285 .0647",
    },
}


def figures(model, history, seen, target):
    lists = recommend(model.with_histories(history), target.user, 10, excluded=seen)
    hits = lists.items == target.item[:, None]
    gains = hits / np.log2(np.arange(2, 12))
    return [f"{hits.any(axis=1).mean():.4f}"[1:], f"{gains.sum(axis=1).mean():.4f}"[1:]]


@pytest.mark.parametrize("name", MEASURED)
def test_figures_are_those_measured_with_numpy(mirror, name):
    source = MovieLens(name, mirror=mirror, offline=True)
    rows = NCore(5).apply(source.load(), rng=stream(0, "filters")).interactions
    rows = rows.take(oldest_first(rows))
    newer = newer_rows(rows)
    train, grown, target = rows.take(newer > 1), rows.take(newer > 0), rows.take(newer == 0)
    for label, model in MODELS.items():
        fitted = model.fit(train, rng=stream(0, "fit"))
        found = figures(fitted, train, train.to_csr(), target) + figures(
            fitted, grown, grown.to_csr(), target
        )
        assert " ".join(found + figures(fitted, grown, None, target)) == MEASURED[name][label], label
