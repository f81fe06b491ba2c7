"""Trains a scorer of LensKit and scores all items with it."""

from time import perf_counter
from typing import Any

import numpy as np

from .serving import Answer, Array, SettingsError, Training, from_scores, invalid_settings, serve

SCORERS = {
    "ItemKNN": "lenskit.knn.ItemKNNScorer",
    "UserKNN": "lenskit.knn.UserKNNScorer",
    "EASE": "lenskit.knn.EASEScorer",
    "ImplicitMF": "lenskit.als.ImplicitMFScorer",
    "BiasedMF": "lenskit.als.BiasedMFScorer",
    "FlexMFImplicit": "lenskit.flexmf.FlexMFImplicitScorer",
    "FlexMFExplicit": "lenskit.flexmf.FlexMFExplicitScorer",
    "Pop": "lenskit.basic.PopScorer",
    "Bias": "lenskit.basic.BiasScorer",
}


def main() -> None:
    """Serve."""
    serve(fit)


def fit(job: Training) -> tuple[Answer, float]:
    """Train; users and items without a row are not shown to LensKit."""
    import pandas as pd
    from lenskit.data import from_interactions_df
    from lenskit.parallel import initialize
    from lenskit.pipeline import topn_pipeline
    from lenskit.training import TrainingOptions

    initialize(processes=1, threads=job.n_threads, backend_threads=job.n_threads)
    scorer = _scorer(job)
    columns = {"user_id": job.user, "item_id": job.item, "rating": job.value}
    times = {"timestamp": job.timestamp} if job.timestamp.any() else {}
    rows = from_interactions_df(pd.DataFrame({**columns, **times}))
    pipeline = topn_pipeline(scorer)
    start = perf_counter()
    pipeline.train(rows, TrainingOptions(rng=job.seed, device="cpu"))
    seconds = perf_counter() - start
    return from_scores(_Scores(pipeline, rows, job), job.n_items), seconds


def _scorer(job: Training) -> Any:
    from importlib import import_module

    from pydantic import ValidationError

    if job.name not in SCORERS:
        raise SettingsError(f"name: LensKit has {', '.join(SCORERS)}; got {job.name!r}")
    module, _, kind = SCORERS[job.name].rpartition(".")
    try:
        return getattr(import_module(module), kind)(**job.settings)
    except (TypeError, ValidationError) as error:
        raise invalid_settings(f"{job.name} of LensKit", error) from error


class _Scores:
    """Scores of all our items, NaN where LensKit gives none."""

    def __init__(self, pipeline: Any, rows: Any, job: Training) -> None:
        from lenskit.data import ItemList

        self.pipeline, self.n_items = pipeline, job.n_items
        self.known = set(rows.users.ids().tolist())
        self.items = rows.items.ids()
        self.list = ItemList(item_ids=self.items, vocabulary=rows.items)

    def __call__(self, users: Array) -> Array:
        from lenskit import score

        scores = np.full((len(users), self.n_items), np.nan)
        for row, user in enumerate(users.tolist()):
            if user in self.known:
                found = score(self.pipeline, user, self.list)
                scores[row, found.ids()] = found.scores()
        return scores
