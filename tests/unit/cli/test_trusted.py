"""Addresses that only a file names get nothing, however they are written and wherever they stand."""

import pytest
from omegaconf import open_dict, read_write

from recgauge.cli.settings import register_schema
from recgauge.cli.trust import check_addresses, check_trusted
from recgauge.cli.words import CommandLine
from recgauge.errors import ConfigError

TYPED = ["tracking.uri=http://ours:5000", "dataset.path=s3://mine/2025"]
VARIABLES = {"MLFLOW_TRACKING_URI": "postgresql://ann@data/db", "RECGAUGE_ROWS": "gs://b/a"}
TRUSTED = [
    *("sqlite:///a.db", "http://ours:5000", "postgresql://ann@data/db"),
    *("s3://mine/2025", "gs://b/a", "a:b/c.csv"),
]
STRANGE = [
    *("http://ours:5000/x", "http://bob:x@OURS:5000", "postgresql://bob:x@data/db", "s3://mine/2026"),
    *("http://attacker", "http://ours@attacker", "http://ours:5000@attacker", "http://ours.attacker:5000"),
    *("http://attacker/ours:5000", "http://[::1", "mysql://attacker/db", "postgresql:///db?host=attacker"),
    *("postgresql://data/db?host=attacker", "postgresql://data/host=attacker", "s3://bucket/rows"),
    *("s3://bucket/rows?endpoint_override=http://attacker:9000", "S3://bucket/rows"),
    *("s3://bucket/rows?endpoint_override=attacker:9000&scheme=http", "http://attacker/rows.parquet"),
    *("s3://mine/x?endpoint_override=attacker", "s3://mine/x|?endpoint_override=attacker"),
    *("webhdfs://attacker:9870/rows", "hdfs://attacker/rows", "zip://rows.parquet::http://attacker/a.zip"),
    *("simplecache::s3://bucket/rows", "file:///tmp/a::http://attacker/rows", "reference://refs.json"),
    *("sftp://attacker/rows", r"\\attacker\share\rows.csv"),
]
PLACES = {
    "tracking.uri": lambda text: {"tracking": {"uri": text}},
    "dataset.path": lambda text: {"dataset": {"path": ["rows.csv", text]}},
    "split.test": lambda text: {"split": {"test": text}},
    "model.path": lambda text: {"model": {"path": text}},
    "candidates.path": lambda text: {"candidates": {"path": text}},
    "dataset.train.address": lambda text: {"dataset": {"train": {"address": text}}},
    "filters.mine.anything": lambda text: {"filters": {"mine": {"anything": text}}},
}


@pytest.mark.parametrize("text", TRUSTED)
def test_files_and_addresses_that_the_user_names_are_used(text):
    check_addresses({"split": {"test": text}}, TYPED, VARIABLES)
    check_addresses({"dataset": {"source": "https://example.org/only-shown", "path": text}}, TYPED, VARIABLES)


@pytest.mark.parametrize("text", STRANGE)
@pytest.mark.parametrize("path", PLACES)
def test_another_address_counts_only_if_it_is_typed(path, text):
    settings, words = PLACES[path](text), [word for word in TYPED if not word.startswith(f"{path}=")]
    with pytest.raises(ConfigError, match=f"^{path}: a file of settings, not you, names"):
        check_addresses(settings, words, VARIABLES)
    check_addresses(settings, [f"{path}={text}"], {})


def test_a_key_that_a_newer_hydra_brings_is_covered():
    register_schema()
    config = CommandLine(()).composed()
    check_trusted(config, [])
    with read_write(config.hydra), open_dict(config.hydra):
        config.hydra.hooks = {"start": {"_target_": "stranger.Thing"}}
    with pytest.raises(ConfigError, match=r"^hydra\.hooks: stays as it is"):
        check_trusted(config, [])
