"""``recgauge evaluate`` on lists in an S3 store, spoken to over the network of this machine."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import fs, parquet

from recgauge.cli.commands.cli import main

SERVER = """
import sys
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


class Store:
    """A server; with `refuse` it asks for keys that nobody has."""

    def __init__(self, port):
        self.address = f"127.0.0.1:{port}"

    def refuse(self, *, after):
        where, how = f"http://{self.address}/moto-api/reset-auth", {"Content-Type": "text/plain"}
        urlopen(Request(where, str(after).encode(), how)).close()

    def __call__(self, path):
        return f"s3://{path}?scheme=http&endpoint_override={self.address}&region=us-east-1"


@pytest.fixture(scope="module")
def server():
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    yield Store(int(process.stdout.readline()))
    process.communicate(timeout=60)


@pytest.fixture
def store(server, monkeypatch, tmp_path):
    """The server with lists of 20,000 users in three files, and the same as a file here."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "any")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(tmp_path)
    system = fs.S3FileSystem(
        endpoint_override=server.address, scheme="http", region="us-east-1", allow_bucket_creation=True
    )
    rng = np.random.default_rng(2)
    user = np.repeat(np.arange(20_000), 20)
    item = rng.permuted(np.tile(np.arange(20), (20_000, 1)), axis=1).ravel()
    lists = pa.table({"user": user, "item": item, "rank": np.tile(np.arange(20), 20_000)})
    truth = pa.table({"user": np.arange(20_000), "item": rng.integers(0, 40, 20_000)})
    system.create_dir("bucket")
    for name, table in (("lists", lists), ("truth", truth)):
        parquet.write_table(table, tmp_path / f"{name}.parquet")
        for at in range(4):
            rows, file = table.slice(at * len(table) // 4, len(table) // 4), f"bucket/{name}/{at}.parquet"
            parquet.write_table(rows, file, filesystem=system, row_group_size=20_000)
    yield server
    server.refuse(after=10**9)


def evaluate(run, truth, out):
    words = ["--metrics", "ndcg@10,recall@5,catalog_coverage@5,gini@5", "--n-items", "40"]
    assert main(["evaluate", "--run", run, "--truth", truth, *words, "--memory-mib", "16", "--out", out]) == 0
    (found,) = json.loads(Path(out).read_text())["runs"].values()
    return found["values"], found["stderrs"], found["counts"]


def test_lists_in_a_store_give_the_numbers_of_files(store) -> None:
    here = evaluate("lists.parquet", "truth.parquet", "here.json")
    assert evaluate(store("bucket/lists"), store("bucket/truth"), "there.json") == here


def test_what_a_store_refuses_is_one_line(store, capsys, monkeypatch) -> None:
    def refused(run):
        capsys.readouterr()
        assert main(["evaluate", "--run", run, "--truth", store("bucket/truth"), "--metrics", "ndcg"]) == 1
        (line,) = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
        assert run in line
        return line

    assert "Correct --run" in refused(store("bucket/nothing"))
    assert "Correct --run" in refused(store("bucket/lists/9.parquet"))
    assert "nothing can be read there: nowhere/lists" in refused(store("nowhere/lists"))
    store.refuse(after=0)
    assert "ACCESS_DENIED" in refused(store("bucket/lists"))
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"AWS_{name}")
    refused(store("bucket/lists"))
