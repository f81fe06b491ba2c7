"""Lists that do not fit into memory: `recgauge evaluate` on generated Parquet folders, beside a scan of them.

    python benchmarks/scale.py [--rows MILLIONS] [--folder FOLDER] [--mixed] [--peers PYTHON]

Lists of 100 for rows / 100 users, two relevant items each, in files of 10 million rows. They are sorted by
user; with --mixed, the users of each file are from everywhere and its rows in random order, so that rows
are written to parts first. Measured are a scan (pyarrow reads every column of every file with two threads),
recgauge (6 metrics at 3 cutoffs) and, where PYTHON has them, nDCG@10 alone in SQL by DuckDB and by polars'
streaming engine. Each is a process of its own; MiB is the most memory it held, or one of its workers. CPU
seconds tell more than seconds where other programs run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from _measure import save
from pyarrow import parquet

LENGTH, N_ITEMS, USERS_PER_FILE = 100, 200_003, 100_000
METRICS = ",".join(
    f"{name}@{k}" for name in ("precision", "recall", "ndcg", "map", "mrr", "hit_rate") for k in (10, 20, 100)
)

SCAN = """
import sys, pyarrow as pa
from pathlib import Path
from pyarrow import parquet
pa.set_cpu_count(2)
rows = 0
for folder in sys.argv[1:]:
    for file in sorted(Path(folder).glob("*.parquet")):
        opened = parquet.ParquetFile(file)
        for place in range(opened.num_row_groups):
            rows += len(opened.read_row_group(place))
print(rows)
"""

DUCKDB = """
import sys, duckdb
lists, truth = (f"read_parquet('{folder}/*.parquet')" for folder in sys.argv[1:])
duckdb.execute("SET threads=2; SET memory_limit='2GB'; SET preserve_insertion_order=false")
print(duckdb.execute(f'''
with hits as (
  select t.user, sum(1 / log2(rank + 1)) as dcg from {truth} t join {lists} l
  on t.user = l.user and t.item = l.item where rank <= 10 group by t.user),
ideal as (
  select user, count(*) as n from {truth} group by user),
best as (
  select user, list_sum(list_transform(range(1, least(n, 10) + 1),
    lambda r: 1 / log2(r + 1))) as idcg from ideal)
select avg(coalesce(dcg, 0) / idcg) from best left join hits using (user)
''').fetchone()[0])
"""

POLARS = """
import sys, polars as pl
lists, truth = (pl.scan_parquet(f"{folder}/*.parquet") for folder in sys.argv[1:])
hits = (
    lists.filter(pl.col("rank") <= 10).join(truth, on=["user", "item"])
    .group_by("user").agg(dcg=(1 / (pl.col("rank") + 1).log(2)).sum())
)
weights = pl.LazyFrame({"n": range(1, 11)}).with_columns(w=1 / (pl.col("n") + 1).log(2)).with_columns(
    idcg=pl.col("w").cum_sum(), n=pl.col("n").cast(pl.UInt32))
best = truth.group_by("user").agg(n=pl.len().clip(upper_bound=10)).join(weights, on="n")
value = best.join(hits, on="user", how="left").select((pl.col("dcg").fill_null(0) / pl.col("idcg")).mean())
print(value.collect(engine="streaming").item())
"""


def generate(folder, n_users, *, mixed):
    """Write lists and relevant items, unless they are there."""
    if (folder / "complete").exists():
        return
    rng = np.random.default_rng(0)
    for name in ("lists", "truth"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for at, first in enumerate(range(0, n_users, USERS_PER_FILE)):
        n = min(USERS_PER_FILE, n_users - first)
        users = np.arange(first, first + n, dtype=np.int64)
        start, step = rng.integers(0, N_ITEMS, n), rng.integers(1, N_ITEMS, n)
        place = np.arange(LENGTH)
        items = ((start[:, None] + step[:, None] * place) % N_ITEMS).astype(np.int32).ravel()
        ranks = np.tile(np.arange(1, LENGTH + 1, dtype=np.int32), n)
        rows = {"user": np.repeat(users, LENGTH), "item": items, "rank": ranks}
        hit = np.where(rng.random(n) < 0.4, rng.integers(0, LENGTH, n), rng.integers(LENGTH, 5_000, n))
        other = rng.integers(5_000, N_ITEMS, n)
        both = np.stack([start + step * hit, start + step * other], axis=1) % N_ITEMS
        relevant = {"user": np.repeat(users, 2), "item": both.astype(np.int32).ravel()}
        for name, table in (("lists", rows), ("truth", relevant)):
            if mixed:
                # a bijection that puts the users of every file all over the range
                table["user"] = (table["user"] * 7_919 + 13) % n_users
                order = rng.permutation(len(table["user"]))
                table = {column: values[order] for column, values in table.items()}
            parquet.write_table(pa.table(table), folder / name / f"{at:04}.parquet")
    (folder / "complete").touch()


def measured(command, environment=None):
    """Return seconds, the highest memory in MiB and the output of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | (environment or {})
    )
    output, _ = process.stdout.read(), process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[:4]} failed")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def main():
    """Measure, and print a row for each contestant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100, help="millions")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "recgauge-scale")
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--memory-mib", type=int, default=1024)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--peers")
    options = parser.parse_args()
    folder = options.folder / f"{options.rows}m-{'mixed' if options.mixed else 'sorted'}"
    generate(folder, options.rows * 10_000, mixed=options.mixed)
    data = [str(folder / name) for name in ("lists", "truth")]
    rows = []

    def tell(name, command, environment=None):
        seconds, cpu, mib, output = measured(command, environment)
        scan = rows[0] if rows else {"seconds": seconds, "cpu": cpu}
        row = {"who": name, "seconds": round(seconds, 1), "cpu": round(cpu, 1), "MiB": round(mib)}
        row |= {"scans": round(seconds / scan["seconds"], 1), "cpu scans": round(cpu / scan["cpu"], 1)}
        rows.append(row)
        print(row, flush=True)
        return output

    measured([sys.executable, "-c", SCAN, *data])  # brings the files into memory, from which all then read
    tell("scan", [sys.executable, "-c", SCAN, *data])
    with tempfile.TemporaryDirectory(dir=options.folder) as work:
        out = Path(work) / "out.json"
        command = [sys.executable, "-m", "recgauge", "evaluate", "--run", data[0], "--truth", data[1]]
        command += ["--metrics", METRICS, "--memory-mib", str(options.memory_mib), "--work", f"{work}/parts"]
        tell("recgauge", [*command, "--jobs", str(options.jobs), "--out", str(out)])
        (run,) = json.loads(out.read_text())["runs"].values()
        ours = run["values"]["ndcg_at_10"]
    for name, code in (("duckdb", DUCKDB), ("polars", POLARS)) if options.peers else ():
        value = float(tell(name, [options.peers, "-c", code, *data], {"POLARS_MAX_THREADS": "2"}).split()[-1])
        rows[-1]["value"] = value
        rows[1]["value"] = ours
    workers = "_one_worker" if options.jobs == 1 else ""
    save(f"scale_{folder.name.replace('-', '_')}{workers}", rows, quick=False)


if __name__ == "__main__":
    main()
