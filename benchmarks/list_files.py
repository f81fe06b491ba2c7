"""Size and time of a run's stored lists against pyarrow's default encoding.

    python benchmarks/list_files.py [--quick]

Generated lists: items drawn by a long-tailed popularity, scores falling in a list.
"""

import argparse
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import save, side_by_side

from recgauge.sweeps.artifacts import COLUMNS, ROWS_OF_A_GROUP

SHAPES = ((20_000, 500, 12_000, False), (20_000, 100, 30_000, True), (138_000, 100, 26_000, False))


def generate(n_users, k, n_items, texts):
    """Return a table of lists (user_id, item_id, rank, score)."""
    rng = np.random.default_rng(5)
    weight = (np.arange(n_items) + 5.0) ** -0.95
    item = rng.choice(n_items, n_users * k, p=weight / weight.sum())
    user = np.repeat(np.arange(n_users), k)
    score = -np.sort(-rng.gamma(1.5, size=(n_users, k)), axis=1).astype(np.float32).ravel()
    name = (lambda codes, sign: np.char.add(sign, codes.astype(str))) if texts else (lambda codes, _: codes)
    return pa.table(
        {
            "user_id": name(user, "user-"),
            "item_id": name(item, "item-"),
            "rank": np.tile(np.arange(1, k + 1, dtype=np.int32), n_users),
            "score": score,
        }
    )


def all_rows(quick):
    """Give one row a shape."""
    for n_users, k, n_items, texts in SHAPES:
        shape = (n_users // 20 if quick else n_users, k, n_items, texts)
        lists = generate(*shape)
        with TemporaryDirectory() as folder:
            plain, ours = Path(folder) / "plain.parquet", Path(folder) / "ours.parquet"
            way = {"row_group_size": ROWS_OF_A_GROUP, **COLUMNS}
            repeats = 1 if quick else 3
            written = side_by_side(
                {
                    "plain": partial(pq.write_table, lists, plain),
                    "ours": partial(pq.write_table, lists, ours, **way),
                },
                repeats,
            )
            read = side_by_side(
                {"plain": partial(pq.read_table, plain), "ours": partial(pq.read_table, ours)}, repeats
            )
            yield {
                "lists": f"{shape[0]:,} users x {k} of {n_items:,} items{', ids are texts' if texts else ''}",
                "default MB": plain.stat().st_size / 1e6,
                "stored MB": ours.stat().st_size / 1e6,
                "write, CPU ratio": written["ours"][1] / written["plain"][1],
                "read, CPU ratio": read["ours"][1] / read["plain"][1],
            }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the users")
    options = parser.parse_args()
    save("list_files", all_rows(options.quick), options.quick)
