"""One contestant of load.py, as a process of its own: reads the file once and says what it took.

    python benchmarks/_loader.py NAME FILE FOLDER

Prints seconds, CPU seconds and the highest resident memory as JSON. Readers are imported before the clock
starts; what recgauge imports while it loads counts. Needs the contestant's own package.
"""

import json
import sys
import time
from pathlib import Path


def pandas_c(path):
    """Give the types, use the C engine."""
    import numpy as np
    import pandas as pd

    types = {"userId": np.int32, "movieId": np.int32, "rating": np.float32, "timestamp": np.int64}
    return lambda: pd.read_csv(path, engine="c", dtype=types)


def pandas_pyarrow(path):
    """Use the pyarrow engine, into a pandas frame."""
    import pandas as pd
    import pyarrow.csv  # noqa: F401 - pandas imports it when it is needed

    return lambda: pd.read_csv(path, engine="pyarrow")


def pyarrow_typed(path):
    """Give the types, into an arrow table."""
    import pyarrow as pa
    from pyarrow import csv

    types = {"userId": pa.int32(), "movieId": pa.int32(), "rating": pa.float32(), "timestamp": pa.int64()}
    return lambda: csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types))


def polars(path):
    """Give the types, into a polars frame."""
    import polars as pl

    types = {"userId": pl.Int32, "movieId": pl.Int32, "rating": pl.Float32, "timestamp": pl.Int64}
    return lambda: pl.read_csv(path, schema=types)


def recgauge(path, cache):
    """Read, check, code and keep; or map what is kept, if it is there."""
    from recgauge.datasets.table import Table

    return Table(path, cache=cache, prepared=cache is not None).load


def main(name, path, cache):
    """Run once and report."""
    readers = {
        "pandas, C engine": pandas_c,
        "pandas, pyarrow engine": pandas_pyarrow,
        "pyarrow": pyarrow_typed,
        "polars": polars,
    }
    try:
        run = recgauge(path, cache or None) if name == "recgauge" else readers[name](path)
    except ImportError as error:
        print(json.dumps({"reason": f"not installed: {error.name}"}))
        return
    wall, cpu = time.perf_counter(), time.process_time()
    kept = run()
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    digest = kept.interactions.sha256() if name == "recgauge" else None
    print(json.dumps({"seconds": seconds, "peak_mib": peak / 1024, "sha256": digest}))


if __name__ == "__main__":
    main(*sys.argv[1:])
