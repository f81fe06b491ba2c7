# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["rectools==0.19.0"]
#
# [tool.uv]
# constraint-dependencies = [
#     "annotated-types==0.8.0",
#     "attrs==23.2.0",
#     "colorama==0.4.6 ; sys_platform == 'win32'",
#     "fastrlock==0.8.4 ; sys_platform != 'darwin'",
#     "numpy==1.26.4 ; python_full_version < '3.13'",
#     "numpy==2.4.6 ; python_full_version >= '3.13'",
#     "pandas==2.3.3",
#     "pm-implicit==0.7.3",
#     "pydantic==2.14.3",
#     "pydantic-core==2.50.4",
#     "python-dateutil==4.0.0",
#     "pytz==2026.6",
#     "scipy==1.15.3",
#     "threadpoolctl==3.8.0",
#     "tqdm==4.70.1",
#     "typeguard==4.6.0",
#     "typing-extensions==4.16.0",
#     "typing-inspection==0.4.5",
#     "tzdata==2026.6",
# ]
# ///
"""Trains a model of RecTools and takes its lists."""

from time import perf_counter
from typing import Any

import numpy as np
from serving import Answer, Array, SettingsError, Training, serve


def fit(job: Training) -> tuple[Answer, float]:
    """Train; users and items without a row are not shown to RecTools."""
    model = build(job)
    dataset = to_dataset(job.user, job.item, job.value, job.timestamp)
    start = perf_counter()
    model.fit(dataset)
    seconds = perf_counter() - start
    return RecToolsLists(model, dataset, job), seconds


def to_dataset(user: Array, item: Array, weight: Any, seconds: Array) -> Any:
    """Return rows as a data set of RecTools."""
    import pandas as pd
    from rectools import Columns
    from rectools.dataset import Dataset

    times = pd.to_datetime(seconds, unit="s")
    columns = {Columns.User: user, Columns.Item: item, Columns.Weight: weight, Columns.Datetime: times}
    return Dataset.construct(pd.DataFrame(columns))


def build(job: Training) -> Any:
    """Build the model; recgauge sets its seed and threads where it has such settings."""
    from rectools import models

    names = (job.name, f"{job.name}Model", f"{job.name}WrapperModel")
    kinds = sorted(name for name in models.__all__ if hasattr(getattr(models, name), "config_class"))
    kind = next((getattr(models, name) for name in names if name in kinds), None)
    if kind is None:
        raise SettingsError(f"name: RecTools has SASRec, BERT4Rec, {', '.join(kinds)}; got {job.name!r}")
    fields = kind.config_class.model_fields
    ours = {"random_state": job.seed, "recommend_n_threads": job.n_threads, "deterministic": True}
    settings: dict[str, Any] = {name: value for name, value in ours.items() if name in fields}
    settings.update(job.settings)
    if kind.__name__ in ("ImplicitALSWrapperModel", "ImplicitBPRWrapperModel"):
        inner = {"random_state": job.seed, "num_threads": job.n_threads, "use_gpu": False}
        settings["model"] = {**inner, **settings.get("model", {})}
    try:
        return kind.from_config(settings)
    except (TypeError, ValueError) as error:  # of pydantic, too
        raise SettingsError(f"settings: {job.name} of RecTools: {error}") from error


class RecToolsLists:
    """The n best items of users, by RecTools' own lists without its filter of viewed items."""

    def __init__(self, model: Any, dataset: Any, job: Training) -> None:
        self.model, self.dataset = model, dataset
        self.users = np.zeros(job.n_users, bool)
        self.users[dataset.user_id_map.external_ids] = True
        self.items = np.zeros(job.n_items, bool)
        self.items[dataset.item_id_map.external_ids] = True

    def __call__(self, users: Array, n: int, allowed: Array) -> tuple[Array, Array]:
        """Return items and scores; see `serving.Answer`."""
        items, scores = np.full((len(users), n), -1, np.int32), np.full((len(users), n), np.nan)
        trained = users[self.users[users]]
        only = None if allowed is None else allowed[self.items[allowed]]
        if len(trained) and (only is None or len(only)):
            table = self.model.recommend(
                trained, self.dataset, k=n, filter_viewed=False, items_to_recommend=only, add_rank_col=True
            )
            order = np.argsort(users)
            row = order[np.searchsorted(users, table["user_id"].to_numpy(), sorter=order)]
            cells = row, table["rank"].to_numpy() - 1
            items[cells], scores[cells] = table["item_id"].to_numpy(), table["score"].to_numpy()
        return items, scores


if __name__ == "__main__":
    serve(fit)
