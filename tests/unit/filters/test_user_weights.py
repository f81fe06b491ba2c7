"""Ratings weighed by a value of their user: by hand, from a table, and what cannot be weighed."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, MissingDataError, SchemaError
from recgauge.filters import MinRating, UserWeights, apply_filters

RNG = np.random.default_rng(0)


@pytest.fixture
def few(dataset_of):
    return dataset_of(Interactions.from_ids(["a", "a", "b"], [1, 2, 1], [2.0, 4.0, 5.0]))


@pytest.mark.parametrize(
    ("method", "values"),
    [("divide_by_mean", [2 / 3, 4 / 3, 1]), ("subtract_mean", [-1, 1, 0]), ("divide_by_rows", [1, 2, 5])],
)
def test_weights_by_hand(few, method, values):
    weighted = UserWeights(method, relevant_from=1.0).apply(few, rng=RNG)
    assert weighted.interactions.value.tolist() == pytest.approx(values)
    assert weighted.relevant_from == 1.0
    assert UserWeights(method).apply(few, rng=RNG).relevant_from is None


def test_the_scale_is_that_of_the_weighted_ratings(demo):
    weighted, steps = apply_filters(demo, (UserWeights("subtract_mean"), MinRating(0.0)))
    low, high = weighted.rating_scale()
    assert -5 < low < 0 < high < 5
    assert "relevant is every row" in steps[0].note
    assert steps[1].note == ""


def test_weights_from_a_table(few, tmp_path):
    path = tmp_path / "worth.csv"
    path.write_text("\ufeffuser,name,weight\r\na,Ann,0.5\r\nb,Bob,3\r\nz,Zoe,9\r\n", encoding="utf-8")
    weighted = UserWeights("table", path=str(path)).apply(few, rng=RNG)
    assert weighted.interactions.value.tolist() == [1.0, 2.0, 15.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,value\na,1\n", "weight.*user, value"),
        ("user,weight\na,1\n", "none for 'b'"),
        ("user,weight\na,1\nb,0\n", "line 3.*got 0"),
        ("user,weight\na,1\na,2\nb,1\n", "line 3.*'a'"),
    ],
)
def test_a_table_that_cannot_be_used(few, tmp_path, text, message):
    path = tmp_path / "worth.csv"
    path.write_text(text)
    with pytest.raises(SchemaError, match=message):
        UserWeights("table", path=str(path)).apply(few, rng=RNG)


def test_what_cannot_be_weighed_is_refused(few, tmp_path):
    with pytest.raises(ConfigError, match="path"):
        UserWeights("table")
    with pytest.raises(MissingDataError, match="no such file"):
        UserWeights("table", path=str(tmp_path / "none.csv")).apply(few, rng=RNG)
    centred = UserWeights("subtract_mean").apply(few, rng=RNG)
    with pytest.raises(SchemaError, match="got 0 for user 'a'"):
        UserWeights("divide_by_mean").apply(centred, rng=RNG)
