"""A table of ratings, large enough that what is read of it is kept in the cache and its lists are shared."""

from pathlib import Path

import numpy as np


def write_ratings(path: Path, n_users: int = 1200, n_items: int = 800, n_rows: int = 60_000) -> None:
    pairs = np.random.default_rng(5).permutation(n_users * n_items)[:n_rows]
    lines = (f"{pair // n_items},{pair % n_items},{1 + pair % 5},{900_000_000 + pair}" for pair in pairs)
    path.write_text("\n".join(["user,item,rating,time", *lines]))
    assert path.stat().st_size > 1 << 20
