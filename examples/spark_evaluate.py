"""Lists in Spark, judged where they are: the users of a bucket are a part, and the parts are merged here.

PYSPARK_PYTHON=python spark-submit examples/spark_evaluate.py LISTS TRUTH N_ITEMS; both are Parquet, users are
whole numbers.
"""

import sys

import pyarrow as pa
from pyspark.sql import SparkSession

from recgauge import Part, PartTask


def main(lists_path: str, truth_path: str, n_items: int) -> None:
    """Print the result of all users."""
    spark = SparkSession.builder.getOrCreate()
    lists, truth = spark.read.parquet(lists_path), spark.read.parquet(truth_path)
    items = [row.item for row in lists.select("item").union(truth.select("item")).distinct().collect()]
    task = PartTask(metrics=("ndcg", "recall", "gini"), cutoffs=(10,), items=items, n_items=n_items)

    def judge(some_lists: pa.Table, some_truth: pa.Table) -> pa.Table:
        part = task.judge(some_lists.drop_columns("bucket"), some_truth.drop_columns("bucket"))
        return pa.table({"part": pa.array([part.to_bytes()], pa.binary())})

    # all rows of a user are in one bucket
    buckets = [rows.withColumn("bucket", rows.user % 8).groupBy("bucket") for rows in (lists, truth)]
    judged = buckets[0].cogroup(buckets[1]).applyInArrow(judge, "part binary")
    evaluation = task.merge(Part.from_bytes(row.part) for row in judged.toLocalIterator())
    print(evaluation.values())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
