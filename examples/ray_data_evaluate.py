"""Lists in Ray Data, judged where they are: the users of a bucket are a part, and the parts are merged here.

python examples/ray_data_evaluate.py LISTS TRUTH N_ITEMS; both are Parquet, users are whole numbers.
"""

import sys

import pyarrow as pa
import ray

from recgauge import Part, PartTask


def main(lists_path: str, truth_path: str, n_items: int) -> None:
    """Print the result of all users."""
    lists, truth = (ray.data.read_parquet(path) for path in (lists_path, truth_path))
    items = lists.select_columns("item").union(truth.select_columns("item")).unique("item")
    task = PartTask(metrics=("ndcg", "recall", "gini"), cutoffs=(10,), items=items, n_items=n_items)

    def labelled(rows: pa.Table, of_truth: bool) -> pa.Table:
        columns = {name: rows[name] for name in ("user", "item")}
        columns["rank"] = pa.nulls(len(rows), pa.int64()) if of_truth else rows["rank"].cast(pa.int64())
        # all rows of a user are in one bucket
        return pa.table(columns | {"bucket": pa.array(rows["user"].to_numpy() % 8)})

    def judge(bucket: pa.Table) -> pa.Table:
        of_truth = bucket["rank"].is_null()
        part = task.judge(
            bucket.filter(pa.compute.invert(of_truth)).drop_columns("bucket"),
            bucket.filter(of_truth).select(["user", "item"]),
        )
        return pa.table({"part": pa.array([part.to_bytes()], pa.binary())})

    how = {"batch_format": "pyarrow"}
    both = lists.map_batches(labelled, fn_args=[False], **how).union(
        truth.map_batches(labelled, fn_args=[True], **how)
    )
    judged = both.groupby("bucket", num_partitions=8).map_groups(judge, **how)
    print(task.merge(Part.from_bytes(row["part"]) for row in judged.iter_rows()).values())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
