import numpy as np
import pytest

from recgauge.models.co_clustering import CoClustering


def fit(train, seed=0, **settings):
    return CoClustering(**{"n_epochs": 5} | settings).fit(train, rng=np.random.default_rng(seed))


def by_definition(train, seed, n_epochs, shape):
    """All predictions, by loops over the ratings of each user and each item."""
    rng = np.random.default_rng(seed)
    group, cluster = rng.integers(shape[0], size=30), rng.integers(shape[1], size=20)
    rows = list(zip(train.user.tolist(), train.item.tolist(), train.value.tolist(), strict=True))
    mean = np.mean([r for *_, r in rows])

    def average(which):
        """Mean rating of the rows (user, item) that are chosen."""
        chosen = [r for u, i, r in rows if which((u, i))]
        return np.mean(chosen) if chosen else mean

    of_user = [average(lambda row, user=user: row[0] == user) for user in range(30)]
    of_item = [average(lambda row, item=item: row[1] == item) for item in range(20)]

    def predictor():
        g_mean = [average(lambda row, g=g: group[row[0]] == g) for g in range(shape[0])]
        h_mean = [average(lambda row, h=h: cluster[row[1]] == h) for h in range(shape[1])]
        cells = [
            [average(lambda row, c=(g, h): (group[row[0]], cluster[row[1]]) == c) for h in range(shape[1])]
            for g in range(shape[0])
        ]
        return lambda u, i, g, h: cells[g][h] + of_user[u] - g_mean[g] + of_item[i] - h_mean[h]

    for _ in range(n_epochs):
        predict = predictor()
        for user in range(29):
            errors = [
                sum((r - predict(u, i, g, cluster[i])) ** 2 for u, i, r in rows if u == user)
                for g in range(shape[0])
            ]
            group[user] = np.argmin(errors)
        for item in range(19):
            errors = [
                sum((r - predict(u, i, group[u], h)) ** 2 for u, i, r in rows if i == item)
                for h in range(shape[1])
            ]
            cluster[item] = np.argmin(errors)
    predict = predictor()
    return np.array([[predict(u, i, group[u], cluster[i]) for i in range(19)] for u in range(29)])


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (1, 1)])
def test_predictions_are_those_of_the_definition(train, shape):
    model = CoClustering(*shape, n_epochs=4)
    losses = list(model.epochs(train, rng=np.random.default_rng(1)))
    expected = by_definition(train, 1, 4, shape)
    users, items = (codes.ravel().astype(np.int32) for codes in np.mgrid[:29, :19])
    np.testing.assert_allclose(model.predict(users, items).reshape(29, 19), expected, rtol=1e-5)
    error = np.mean((expected[train.user, train.item] - train.value) ** 2)
    assert losses[-1] == pytest.approx(error, rel=1e-6)
    assert losses == sorted(losses, reverse=True)


def test_scores_with_one_known_side_are_its_mean(train):
    model = fit(train)
    scores = model.score(np.arange(30, dtype=np.int32))
    user_means = [train.value[train.user == u].mean() for u in range(29)]
    item_means = [train.value[train.item == i].mean() for i in range(19)]
    np.testing.assert_allclose(scores[:29, 19], user_means, rtol=1e-5)
    np.testing.assert_allclose(scores[29, :19], item_means, rtol=1e-5)
    assert scores[29, 19] == pytest.approx(train.value.mean(), rel=1e-6)
    pairs = np.array([29, 0, 29], np.int32), np.array([0, 19, 19], np.int32)
    assert np.isnan(model.predict(*pairs)).all()
