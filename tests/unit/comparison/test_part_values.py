"""Runs compared part by part have the numbers of all users at once."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from recgauge.comparison import UserValues, compare, read_run
from recgauge.comparison.comparing import compare_parts


def test_parts_say_what_all_users_say(rng) -> None:
    users = pd.Index(range(900), name="user")
    frames = {
        name: pd.DataFrame({"ndcg@10": rng.integers(0, 9, 900) / 8, "rmse": rng.random(900)}, users)
        for name in "abc"
    }
    frames["b"].loc[::7, "ndcg@10"] = np.nan
    edges = (0, 250, 251, 900)
    parts = [
        UserValues.paired(
            {name: read_run(frame[low:high]) for name, frame in frames.items()},
            {"ndcg_at_10": True, "rmse": False},
        )
        for low, high in pairwise(edges)
    ]
    found, expected = compare_parts(parts), compare(frames, interval="normal", correction="holm")
    for metric in ("ndcg_at_10", "rmse"):
        for pair, other in zip(found.result(metric).pairs, expected.result(metric).pairs, strict=True):
            assert (pair.a, pair.b, pair.better) == (other.a, other.b, other.better)
            assert (pair.low, pair.high, pair.p_adjusted) == pytest.approx(
                (other.low, other.high, other.p_adjusted)
            )
