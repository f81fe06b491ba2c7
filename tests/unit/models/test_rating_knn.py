"""Neighbours that rate, against a plain loop over dictionaries."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.models.rating_knn import RatingKNN, mean_of_pairs

RNG = np.random.default_rng(0)


def random_ratings(seed, n_users=12, n_items=9, share=0.5):
    """Ratings of all users and items but the last of each, in a random order."""
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((n_users, n_items)) < share)
    order = rng.permutation(len(user))
    values = rng.choice([1.0, 2.0, 3.5, 4.0, 5.0], len(user))
    ids = np.arange(n_users + 1), np.arange(n_items + 1)
    return Interactions(user[order], item[order], values[order], None, *ids)


def similarity(a, b, kind, biases, shrinkage):
    common = sorted(set(a) & set(b))
    if not common:
        return 0.0
    n = len(common)
    x, y = np.array([a[c] for c in common]), np.array([b[c] for c in common])
    if kind == "msd":
        return 1 / (1 + ((x - y) ** 2).mean())
    if kind == "pearson":
        x, y = x - x.mean(), y - y.mean()
    if kind == "pearson_baseline":
        own, other = biases
        x = x - own[0] - [other[c] for c in common]
        y = y - own[1] - [other[c] for c in common]
    spread = np.sqrt((x @ x) * (y @ y))
    found = 0.0 if spread < 1e-12 else x @ y / spread
    return found * (n - 1) / (n - 1 + shrinkage) if kind == "pearson_baseline" else found


class Plain:
    """The definition by loops, with the model's biases."""

    def __init__(self, model, train):
        self.model, self.mean = model, model.training().mean
        rows = zip(train.user.tolist(), train.item.tolist(), train.value.tolist(), strict=True)
        biases = model._user_bias, model._item_bias
        self.turn = 1 if model.user_based else -1
        self.bias, self.other_bias = biases[:: self.turn]
        self.taken, self.raters = {}, {}
        for user, item, value in rows:
            own, other = (user, item)[:: self.turn]
            self.taken.setdefault(own, {})[other] = value
            self.raters.setdefault(other, set()).add(own)
        self.overall = np.std([value for own in self.taken.values() for value in own.values()])

    def centre(self, own, other):
        if self.model.method == "baseline":
            return self.mean + self.bias[own] + self.other_bias[other]
        return 0.0 if self.model.method == "basic" else np.mean(list(self.taken[own].values()))

    def unit(self, own):
        return (
            (np.std(list(self.taken[own].values())) or self.overall) if self.model.method == "zscore" else 1.0
        )

    def similarity(self, one, two):
        biases = (self.mean + self.bias[one], self.mean + self.bias[two]), self.other_bias
        a, b = self.taken.get(one, {}), self.taken[two]
        return similarity(a, b, self.model.similarity, biases, self.model.shrinkage)

    def predict(self, user, item):
        own, other = (user, item)[:: self.turn]
        known = own in self.taken and other in self.raters
        if self.model.method != "baseline" and not known:
            return np.nan
        near = []
        for one in sorted(self.raters.get(other, set()) - {own}):
            deviation = (self.taken[one][other] - self.centre(one, other)) / self.unit(one)
            near.append((self.similarity(own, one), deviation))
        near = sorted((pair for pair in near if pair[0] > 1e-12), key=lambda pair: -pair[0])[: self.model.k]
        if len(near) < self.model.min_k:
            return np.nan if self.model.method == "basic" else self.centre(own, other)
        votes = sum(s * d for s, d in near) / sum(s for s, _ in near)
        return self.centre(own, other) + self.unit(own) * votes


@pytest.mark.parametrize("method", ["basic", "means", "zscore", "baseline"])
@pytest.mark.parametrize("kind", ["msd", "cosine", "pearson", "pearson_baseline"])
@pytest.mark.parametrize("user_based", [True, False])
def test_predictions_are_those_of_the_definition(method, kind, user_based):
    for seed, k, min_k in [(1, 40, 1), (2, 3, 1), (3, 2, 2)]:
        train = random_ratings(seed)
        model = RatingKNN(method, user_based, kind, k, min_k, shrinkage=5.0).fit(train, rng=RNG)
        users, items = np.divmod(np.arange(train.n_users * train.n_items, dtype=np.int32), train.n_items)
        plain = Plain(model, train)
        expected = [plain.predict(*pair) for pair in zip(users, items, strict=True)]
        found = model.predict(users, items)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        scores = model.score(np.arange(train.n_users, dtype=np.int32))
        filled = np.where(np.isnan(found), np.float32(model.training().mean), found)
        assert np.array_equal(scores.ravel(), filled)


def test_few_ratings_in_common_are_none():
    train = Interactions.from_ids([0, 0, 1, 1, 1, 2, 2], [0, 1, 0, 1, 2, 1, 2], [3, 4, 3, 4, 5, 4, 1])
    pair = np.array([0], np.int32), np.array([2], np.int32)
    both = RatingKNN(method="basic").fit(train, rng=RNG).predict(*pair)
    first = RatingKNN(method="basic", min_support=2).fit(train, rng=RNG).predict(*pair)
    assert (both.tolist(), first.tolist()) == ([3.0], [5.0])


def test_of_a_pair_rated_twice_the_mean_counts():
    train = Interactions.from_ids([0, 0, 1], [0, 0, 0], [1.0, 4.0, 3.0])
    assert mean_of_pairs(train).toarray().tolist() == [[2.5], [3.0]]


@pytest.mark.parametrize("user_based", [True, False])
@pytest.mark.parametrize("method", ["means", "zscore", "baseline"])
def test_users_folded_in_are_predicted_as_if_nobody_else_knew_them(user_based, method):
    everybody = random_ratings(4)
    held_out = np.isin(everybody.user, [3, 7])
    train, histories = everybody.take(~held_out), everybody.take(held_out)
    model = RatingKNN(method, user_based).fit(train, rng=RNG)
    others = np.array([0, 1, 2], np.int32)
    before, new = model.score(others), np.array([3, 7], np.int32)
    unknown = model.score(new)
    model.fold_in(histories.take(histories.user == 3)).fold_in(histories.take(histories.user == 7))
    assert np.array_equal(model.score(others), before)
    assert not np.array_equal(model.score(new), unknown)
    at_once = RatingKNN(method, user_based).fit(train, rng=RNG).fold_in(histories)
    assert np.array_equal(at_once.score(new), model.score(new))
    if user_based and method != "baseline":  # biases of the others would move
        whole = RatingKNN(method).fit(train.followed_by(histories.take(histories.user == 3)), rng=RNG)
        alone = RatingKNN(method).fit(train, rng=RNG).fold_in(histories.take(histories.user == 3))
        known = slice(0, -1)  # the last item has no row
        found, expected = (model.score(new[:1])[:, known] for model in (alone, whole))
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_ratings_of_zero_count():
    train = Interactions.from_ids([0, 0, 1, 1], [0, 1, 0, 1], [0.0, 0.0, 0.0, 0.0])
    model = RatingKNN(method="basic").fit(train, rng=RNG)
    assert model.predict(np.array([0], np.int32), np.array([1], np.int32)).tolist() == [0.0]
