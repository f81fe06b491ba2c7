# /// script
# requires-python = ">=3.12.5,<3.15"
# dependencies = ["lenskit==2026.4.0", "torch==2.13.0"]
#
# [tool.uv]
# constraint-dependencies = [
#     "annotated-types==0.8.0",
#     "backports-zstd==1.8.0 ; python_full_version < '3.14'",
#     "certifi==2026.10.19.post1",
#     "cffi==2.1.1 ; implementation_name == 'pypy'",
#     "charset-normalizer==3.5.3",
#     "click==8.5.1",
#     "cuda-bindings==13.5.0 ; python_full_version < '3.15' and sys_platform == 'linux'",
#     "cuda-pathfinder==1.9.1 ; python_full_version < '3.15' and sys_platform == 'linux'",
#     "cuda-toolkit==13.0.3.0 ; sys_platform == 'linux'",
#     "filelock==4.3.1",
#     "fsspec==2026.9.0",
#     "humanize==4.17.0",
#     "idna==3.20",
#     "isal==1.9.1 ; platform_machine in 'AMD64 aarch64 x86_64'",
#     "jinja2==3.1.6",
#     "lazy-loader==0.6",
#     "markdown-it-py==4.3.0",
#     "markupsafe==3.0.4",
#     "mdurl==0.1.2",
#     "mpmath==1.3.0",
#     "networkx==3.7",
#     "numpy==2.5.5",
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
#     "packaging==26.4",
#     "pandas==3.1.1",
#     "prettytable==3.18.0",
#     "psutil==7.2.2",
#     "py-cpuinfo==9.0.0",
#     "pyarrow==26.0.1",
#     "pycparser==3.12 ; implementation_name == 'pypy'",
#     "pydantic==2.14.4",
#     "pydantic-core==2.50.5",
#     "pydantic-settings==2.16.3",
#     "pygments==2.21.0",
#     "python-dateutil==4.0.0",
#     "python-dotenv==1.2.4",
#     "pyzmq==27.3.0",
#     "requests==2.34.2",
#     "rich==15.0.0",
#     "scipy==1.18.1",
#     "setuptools==84.2.1",
#     "structlog==26.1.0",
#     "sympy==1.14.0",
#     "threadpoolctl==3.8.0",
#     "triton==3.7.1 ; python_full_version < '3.15' and sys_platform == 'linux'",
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

from typing import Any

import numpy as np
import pandas as pd
from lenskit import als, basic, flexmf, knn, score
from lenskit.config import ParallelSettings
from lenskit.data import ItemList, from_interactions_df
from lenskit.parallel import init_threading
from lenskit.pipeline import topn_pipeline
from lenskit.training import TrainingOptions
from serving import Array, Score, SettingsError, serve

SCORERS = {
    name.removesuffix("Scorer"): getattr(module, name)
    for module in (als, basic, flexmf, knn)
    for name in dir(module)
    if name.endswith("Scorer")
}


def fit(job: Any) -> Score:
    """Train; users and items without a row are not shown to LensKit."""
    init_threading(ParallelSettings(num_threads=job.n_threads, num_backend_threads=job.n_threads))
    columns = {"user_id": job.user, "item_id": job.item, "rating": job.value}
    times = {"timestamp": job.timestamp} if job.timestamp.any() else {}
    pipeline, rows = topn_pipeline(scorer(job)), from_interactions_df(pd.DataFrame({**columns, **times}))
    pipeline.train(rows, TrainingOptions(rng=job.seed, device="cpu"))
    items, with_rows = ItemList(item_ids=rows.items.ids(), vocabulary=rows.items), set(job.user.tolist())

    def scores(users: Array, _n: int) -> Array:
        table = np.full((len(users), job.n_items), np.nan)
        for row, user in zip(table, users.tolist(), strict=True):
            if user in with_rows:
                scored = score(pipeline, user, items)
                row[scored.ids()] = scored.scores()
        return table

    return scores


def scorer(job: Any) -> Any:
    """Return LensKit's object."""
    if job.name not in SCORERS:
        raise SettingsError(f"name: LensKit has {', '.join(SCORERS)}; got {job.name!r}")
    feedback = {"feedback": job.feedback} if job.name in ("ItemKNN", "UserKNN") else {}
    try:
        return SCORERS[job.name](**feedback | job.settings)
    except (TypeError, ValueError) as error:  # of pydantic, too
        raise SettingsError(f"settings: {job.name} of LensKit: {error}") from error


if __name__ == "__main__":
    serve(fit, "lenskit", "torch")
