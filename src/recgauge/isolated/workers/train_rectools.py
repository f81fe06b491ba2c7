"""Trains a model of RecTools and takes its lists."""

from time import perf_counter
from typing import Any

import numpy as np

from .serving import Answer, Array, SettingsError, Training, invalid_settings, serve


def main() -> None:
    """Serve."""
    serve(fit)


def fit(job: Training) -> tuple[Answer, float]:
    """Train; users and items without a row are not shown to RecTools."""
    import pandas as pd
    from rectools import Columns
    from rectools.dataset import Dataset

    model = _model(job)
    rows = pd.DataFrame(
        {
            Columns.User: job.user,
            Columns.Item: job.item,
            Columns.Weight: job.value,
            Columns.Datetime: pd.to_datetime(job.timestamp, unit="s"),
        }
    )
    dataset = Dataset.construct(rows)
    start = perf_counter()
    model.fit(dataset)
    seconds = perf_counter() - start
    return _Lists(model, dataset, job), seconds


def _model(job: Training) -> Any:
    """Build the model; recgauge sets its seed and threads where it has such settings."""
    from pydantic import ValidationError
    from rectools import models

    names = (job.name, f"{job.name}Model", f"{job.name}WrapperModel")
    known = sorted(one for one in models.__all__ if one.endswith("Model"))
    kind = next((getattr(models, one) for one in names if one in known), None)
    if kind is None or not hasattr(kind, "config_class"):
        raise SettingsError(f"name: RecTools has {', '.join(known)}; got {job.name!r}")
    fields = kind.config_class.model_fields
    ours = {"random_state": job.seed, "recommend_n_threads": job.n_threads}
    settings: dict[str, Any] = {name: value for name, value in ours.items() if name in fields}
    settings.update(job.settings)
    if kind.__name__ in ("ImplicitALSWrapperModel", "ImplicitBPRWrapperModel"):
        inner = {"random_state": job.seed, "num_threads": job.n_threads, "use_gpu": False}
        settings["model"] = {**inner, **settings.get("model", {})}
    try:
        return kind.from_config(settings)
    except (TypeError, ValueError, ValidationError) as error:
        raise invalid_settings(f"{job.name} of RecTools", error) from error


class _Lists:
    """The n best items of users, by RecTools' own lists without its filter of viewed items."""

    def __init__(self, model: Any, dataset: Any, job: Training) -> None:
        self.model, self.dataset = model, dataset
        self.users = np.zeros(job.n_users, bool)
        self.users[dataset.user_id_map.external_ids] = True
        self.items = np.zeros(job.n_items, bool)
        self.items[dataset.item_id_map.external_ids] = True

    def __call__(self, users: Array, n: int, allowed: Array) -> tuple[Array, Array]:
        items, scores = np.full((len(users), n), -1, np.int32), np.full((len(users), n), np.nan)
        known = users[self.users[users]]
        only = None if allowed is None else allowed[self.items[allowed]]
        if len(known) and (only is None or len(only)):
            # asked for in rising order, since its lists come in the order of the users asked for
            table = self.model.recommend(
                known, self.dataset, k=n, filter_viewed=False, items_to_recommend=only, add_rank_col=True
            )
            order = np.argsort(users)
            row = order[np.searchsorted(users, table["user_id"].to_numpy(), sorter=order)]
            place = table["rank"].to_numpy() - 1
            items[row, place], scores[row, place] = table["item_id"].to_numpy(), table["score"].to_numpy()
        return items, scores
