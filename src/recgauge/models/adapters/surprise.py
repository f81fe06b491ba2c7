"""Models of Surprise."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.models import Factors, KnownRatings, RatingPredictor, not_fitted
from recgauge.models.adapters import Adapter
from recgauge.utils.checks import Count, FloatArray, IntArray

Algorithm = Literal[
    "SVD", "SVDpp", "NMF", "SlopeOne", "CoClustering", "BaselineOnly", "KNNBasic", "KNNWithMeans",
    "KNNWithZScore", "KNNBaseline",
]  # fmt: skip


@dataclass(eq=False)
class Surprise(Adapter, RatingPredictor):
    """Train a rating predictor of Surprise; it ranks by the ratings that it predicts.

    Parameters
    ----------
    algorithm : {"SVD", "SVDpp", "NMF", "SlopeOne", "CoClustering", "BaselineOnly", "KNNBasic", ...}
        Name of the class; also "KNNWithMeans", "KNNWithZScore" and "KNNBaseline".
    settings : dict of str to Any
        Of that model, under Surprise's names [1]_, such as ``n_factors``, ``k`` or ``sim_options``.
    n_threads : int
        Of training, >= 1; only linear algebra inside NumPy uses more than one.

    Notes
    -----
    Made for scikit-surprise 1.1.5. Predictions are Surprise's before clipping to the scale; where it says
    that a prediction is impossible, there is none, and the mean of the training ratings stands in, as there.
    Of ``SVD`` with biases the factors are kept. Other models are asked pair by pair, in Python: for lists of
    a large catalogue choose recgauge's own, which `make differential-models` compares with these.

    References
    ----------
    .. [1] https://surprise.readthedocs.io/

    Examples
    --------
    >>> Surprise("KNNBasic", {"k": 20}).algorithm
    'KNNBasic'
    """

    library: ClassVar[str] = "scikit-surprise"
    extra: ClassVar[str] = "surprise"
    ours: ClassVar[tuple[str, ...]] = ("random_state", "verbose")
    more_settings: ClassVar[tuple[str, ...]] = ("bsl_options",)  # of the KNN models

    algorithm: Algorithm = "SVD"
    settings: dict[str, Any] = field(default_factory=dict)
    n_threads: Count = 1

    def kind(self) -> Any:
        """Return the class."""
        import surprise

        return getattr(surprise, self.algorithm)

    def learn(self, train: Interactions, seed: int) -> Any:
        """Return the factors of ``SVD`` with biases, else Surprise's object."""
        import pandas as pd
        import surprise

        columns = {"user": train.user, "item": train.item, "rating": train.value.astype(np.float64)}
        scale = (float(train.value.min()), float(train.value.max()))
        rows = surprise.Dataset.load_from_df(pd.DataFrame(columns), surprise.Reader(rating_scale=scale))
        model = self.make(random_state=seed, verbose=False).fit(rows.build_full_trainset())
        self._known = KnownRatings.of(train)
        return _factors_of_svd(model, train) if self.algorithm == "SVD" and model.biased else model

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the predicted ratings, not clipped, shape (n,) float32; NaN where there is none."""
        learned = self._learned
        if learned is None:
            raise not_fitted(self)
        if isinstance(learned, Factors):
            products = (learned.user[users].astype(np.float64) * learned.item[items]).sum(axis=1)
            return np.asarray(products, np.float32)
        ratings: FloatArray = np.empty(len(users), np.float32)
        for n, (user, item) in enumerate(zip(users.tolist(), items.tolist(), strict=True)):
            guess = learned.predict(user, item, clip=False)
            ratings[n] = np.nan if guess.details["was_impossible"] else guess.est
        return ratings

    def their_scores(self, users: IntArray) -> FloatArray:
        """Return the predictions for all items."""
        training = self.training()
        items = np.arange(len(training.items), dtype=np.int32)
        ratings = self.predict(np.repeat(users, len(items)), np.tile(items, len(users)))
        return np.where(np.isnan(ratings), training.mean, ratings).reshape(len(users), len(items))


def _factors_of_svd(model: Any, train: Interactions) -> Factors:
    """Return factors with the biases, and the mean, as extra columns; 0 for those without a rating."""
    trainset = model.trainset
    n_factors = model.pu.shape[1]
    user = np.zeros((train.n_users, n_factors + 3))
    item = np.zeros((train.n_items, n_factors + 3))
    users = [trainset.to_raw_uid(inner) for inner in range(trainset.n_users)]
    items = [trainset.to_raw_iid(inner) for inner in range(trainset.n_items)]
    user[users, :n_factors], user[users, n_factors] = model.pu, model.bu
    item[items, :n_factors], item[items, n_factors + 1] = model.qi, model.bi
    item[:, n_factors] = user[:, n_factors + 1] = user[:, n_factors + 2] = 1.0
    item[:, n_factors + 2] = trainset.global_mean
    return Factors(user, item)
