import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.models.bias import Bias

RNG = np.random.default_rng(0)


def ratings(rows):
    users, items, values = zip(*rows, strict=True)
    return Interactions(users, items, values, None, np.arange(4), np.arange(4))


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from([1.0, 2.5, 4.0, 5.0])),
    min_size=1,
    max_size=20,
)


def reference_als(rows, n_epochs, reg_i, reg_u):
    """Loops and dictionaries: one bias after the other."""
    mean = sum(value for _, _, value in rows) / len(rows)
    b_u, b_i = dict.fromkeys(range(4), 0.0), dict.fromkeys(range(4), 0.0)
    for _ in range(n_epochs):
        for item in {i for _, i, _ in rows}:
            own = [value - mean - b_u[u] for u, i, value in rows if i == item]
            b_i[item] = sum(own) / (reg_i + len(own))
        for user in {u for u, _, _ in rows}:
            own = [value - mean - b_i[i] for u, i, value in rows if u == user]
            b_u[user] = sum(own) / (reg_u + len(own))
    return {(u, i): mean + b_u[u] + b_i[i] for u in range(4) for i in range(4)}


@given(rows=ROWS, n_epochs=st.integers(1, 3), reg=st.sampled_from([0.0, 2.5, 10.0]))
def test_alternating_estimator_equals_a_loop(rows, n_epochs, reg):
    model = Bias(n_epochs=n_epochs, reg_i=reg, reg_u=reg + 5).fit(ratings(rows), rng=RNG)
    expected = reference_als(rows, n_epochs, reg, reg + 5)
    users, items = np.array(list(expected), np.int32).T
    np.testing.assert_allclose(model.predict(users, items), list(expected.values()), rtol=1e-5)


@pytest.mark.parametrize(
    ("method", "expected"), [("global_mean", 3.0), ("user_mean", 4.0), ("item_mean", 2.0)]
)
def test_plain_means(method, expected):
    train = ratings([(0, 0, 4.0), (1, 1, 2.0)])
    model = Bias(method=method).fit(train, rng=RNG)
    assert model.predict(np.array([0], np.int32), np.array([1], np.int32)).tolist() == [expected]


def test_no_rating_to_learn_from():
    empty = ratings([(0, 0, 4.0)]).take(np.zeros(1, bool))
    with pytest.raises(SchemaError, match="at least one rating"):
        Bias().fit(empty, rng=RNG)
