"""The answer in plain words says no more than the test shows."""

import numpy as np
import pandas as pd
import pytest

from recgauge.comparison import compare
from recgauge.comparison.plain import plain_claim, sure_winner

USERS = pd.Index(range(200), name="user")


def answer(metric, means, noise, **options):
    rng = np.random.default_rng(3)
    runs = {
        name: pd.DataFrame({metric: mean + noise * rng.standard_normal(len(USERS))}, USERS)
        for name, mean in means.items()
    }
    comparison = compare(runs, n_resamples=200, **options)
    result = comparison.results[0]
    return plain_claim(comparison), sure_winner(result, comparison.procedure)


@pytest.mark.parametrize(
    ("metric", "means", "noise", "options", "begin", "winner"),
    [
        (
            "ndcg@10",
            {"a": 0.6, "b": 0.5},
            0.01,
            {},
            "a ranks what people want 20 % better than b (nDCG@10)",
            "a",
        ),
        ("recall@10", {"a": 0.6, "b": 0.5}, 0.01, {}, "a finds 20 % more of what people want ", "a"),
        ("rmse", {"a": 0.8, "b": 1.0}, 0.01, {}, "a errs 20 % less ", "a"),
        ("mrr", {"a": 0.6, "b": 0.5}, 0.01, {}, "a ranks what people want 20 % better ", "a"),
        ("ndcg", {"a": 0.5, "b": 0.5, "c": 0.1}, 0.2, {}, "Whether ", None),
        ("ndcg", {"a": 0.5, "b": 0.5, "c": 0.5}, 0.2, {}, "Which is the best of ", None),
        ("ndcg", {"a": 0.4, "b": 0.5}, 0.01, {"baseline": "b"}, "a ranks what people want 20 % worse ", None),
        ("ndcg", {"a": 0.5, "b": 0.5}, 0.0, {}, "a and b are equal for every user.", None),
    ],
)
def test_the_answer_claims_what_is_shown(metric, means, noise, options, begin, winner):
    text, sure = answer(metric, means, noise, **options)
    assert text.startswith(begin)
    assert sure == winner
    assert ("shown to be better than c" in text) == (len(means) == 3 and means["c"] == 0.1)


def test_what_no_metric_can_differ_by_is_no_detectable_difference():
    users = pd.Index(range(3), name="user")
    values = {"a": [0.0, 1.0, 0.5], "b": [1.0, 0.0, 0.6]}
    runs = {name: pd.DataFrame({"ndcg@2": own}, users) for name, own in values.items()}
    (claim,) = compare(runs, n_resamples=200).results[0].claims
    assert claim.endswith("; too few users to tell.")
