# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["lenskit==2025.8.1", "torch==2.13.0"]
#
# [tool.uv]
# constraint-dependencies = [
#     "annotated-types==0.8.0",
#     "backports-zstd==1.8.0 ; python_full_version < '3.14'",
#     "certifi==2026.10.18",
#     "cffi==2.1.1 ; implementation_name == 'pypy'",
#     "charset-normalizer==3.5.2",
#     "click==8.5.1",
#     "cuda-bindings==13.5.0 ; sys_platform == 'linux'",
#     "cuda-pathfinder==1.9.0 ; sys_platform == 'linux'",
#     "cuda-toolkit==13.0.3.0 ; sys_platform == 'linux'",
#     "deepmerge==4.0.0",
#     "filelock==4.2.11",
#     "fsspec==2026.9.0",
#     "humanize==4.17.0",
#     "idna==3.20",
#     "isal==1.9.1 ; platform_machine in 'AMD64 aarch64 x86_64'",
#     "jinja2==3.1.6",
#     "lazy-loader==0.6",
#     "markdown-it-py==4.3.0",
#     "markupsafe==3.0.4",
#     "mdurl==0.1.2",
#     "more-itertools==11.2.1",
#     "mpmath==1.3.0",
#     "networkx==3.6.1 ; python_full_version < '3.12'",
#     "networkx==3.7 ; python_full_version >= '3.12'",
#     "numpy==2.4.6 ; python_full_version < '3.12'",
#     "numpy==2.5.5 ; python_full_version >= '3.12'",
#     "nvidia-cublas==13.1.1.3 ; sys_platform == 'linux'",
#     "nvidia-cuda-cupti==13.0.85 ; sys_platform == 'linux'",
#     "nvidia-cuda-nvrtc==13.0.88 ; sys_platform == 'linux'",
#     "nvidia-cuda-runtime==13.0.96 ; sys_platform == 'linux'",
#     "nvidia-cudnn-cu13==9.20.0.48 ; sys_platform == 'linux'",
#     "nvidia-cufft==12.0.0.61 ; sys_platform == 'linux'",
#     "nvidia-cufile==1.15.1.6 ; sys_platform == 'linux'",
#     "nvidia-curand==10.4.0.35 ; sys_platform == 'linux'",
#     "nvidia-cusolver==12.0.4.66 ; sys_platform == 'linux'",
#     "nvidia-cusparse==12.6.3.3 ; sys_platform == 'linux'",
#     "nvidia-cusparselt-cu13==0.8.1 ; sys_platform == 'linux'",
#     "nvidia-nccl-cu13==2.29.7 ; sys_platform == 'linux'",
#     "nvidia-nvjitlink==13.5.37 ; sys_platform == 'linux'",
#     "nvidia-nvshmem-cu13==3.4.5 ; sys_platform == 'linux'",
#     "nvidia-nvtx==13.0.85 ; sys_platform == 'linux'",
#     "packaging==26.3",
#     "pandas==2.3.3",
#     "prettytable==3.18.0",
#     "psutil==7.2.2",
#     "py-cpuinfo==9.0.0",
#     "pyarrow==26.0.1",
#     "pycparser==3.12 ; implementation_name == 'pypy'",
#     "pydantic==2.14.3",
#     "pydantic-core==2.50.4",
#     "pydantic-settings==2.16.3",
#     "pygments==2.21.0",
#     "python-dateutil==4.0.0",
#     "python-dotenv==1.2.4",
#     "pytz==2026.6",
#     "pyzmq==27.3.0",
#     "requests==2.34.2",
#     "rich==15.0.0",
#     "scipy==1.17.1 ; python_full_version < '3.12'",
#     "scipy==1.18.1 ; python_full_version >= '3.12'",
#     "setuptools==84.2.1",
#     "structlog==26.1.0",
#     "sympy==1.14.0",
#     "threadpoolctl==3.8.0",
#     "triton==3.7.1 ; sys_platform == 'linux'",
#     "typing-extensions==4.16.0",
#     "typing-inspection==0.4.5",
#     "tzdata==2026.6",
#     "urllib3==2.8.0",
#     "wcwidth==0.9.4",
#     "xopen==2.1.0",
#     "zlib-ng==1.1.0 ; platform_machine in 'AMD64 aarch64 x86_64'",
# ]
# ///
"""Trains a scorer of LensKit and scores all items with it."""

from time import perf_counter
from typing import Any

import numpy as np
from serving import Answer, Array, SettingsError, Training, from_scores, serve

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


def fit(job: Training) -> tuple[Answer, float]:
    """Train; users and items without a row are not shown to LensKit."""
    import pandas as pd
    from lenskit import score
    from lenskit.data import ItemList, from_interactions_df
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
    items, codes = ItemList(item_ids=rows.items.ids(), vocabulary=rows.items), np.unique(job.item)

    def scores(users: Array) -> Array:
        table = np.full((len(users), len(codes)), np.nan)
        for row, user in zip(table, users.tolist(), strict=True):
            scored = score(pipeline, user, items)
            row[np.searchsorted(codes, scored.ids())] = scored.scores()
        return table

    return from_scores(scores, job), seconds


def _scorer(job: Training) -> Any:
    from importlib import import_module

    if job.name not in SCORERS:
        raise SettingsError(f"name: LensKit has {', '.join(SCORERS)}; got {job.name!r}")
    module, _, kind = SCORERS[job.name].rpartition(".")
    try:
        return getattr(import_module(module), kind)(**job.settings)
    except (TypeError, ValueError) as error:  # of pydantic, too
        raise SettingsError(f"settings: {job.name} of LensKit: {error}") from error


if __name__ == "__main__":
    serve(fit)
