"""Hosts that only a file names get nothing, however the address is written and wherever it stands."""

import pytest
from omegaconf import open_dict, read_write

from recgauge.cli.settings import register_schema
from recgauge.cli.trust import check_addresses, check_trusted
from recgauge.cli.words import CommandLine
from recgauge.errors import ConfigError

WORDS = ["tracking.uri=http://ours:5000"]
ENVIRONMENT = {"MLFLOW_TRACKING_URI": "postgresql://ann@data/db"}


@pytest.mark.parametrize(
    "uri", ["sqlite:///a.db", "http://ours:5000/x", "http://bob:x@OURS:5000", "postgresql://bob:x@data/db"]
)
def test_files_and_hosts_that_the_user_names_are_used(uri):
    check_addresses({"tracking": {"uri": uri}}, WORDS, ENVIRONMENT)


@pytest.mark.parametrize(
    "uri",
    [
        "http://attacker",
        "http://ours@attacker",
        "http://ours:5000@attacker",
        "http://attacker/ours:5000",
        "http://ours.attacker:5000",
        "postgresql:///db?host=attacker",
        "postgresql://data/db?host=attacker",
        "postgresql://data/host=attacker",
        "mysql://attacker/db",
        "http://[::1",
    ],
)
def test_other_hosts_are_refused(uri):
    with pytest.raises(ConfigError, match=r"^tracking\.uri: a file of settings, not you, names"):
        check_addresses({"tracking": {"uri": uri}}, ["model=svd"], ENVIRONMENT)


ADDRESSES = [
    "s3://bucket/rows",
    "s3://bucket/rows?endpoint_override=http://attacker:9000",
    "s3://bucket/rows?endpoint_override=attacker:9000&scheme=http",
    "S3://bucket/rows",
    "http://attacker/rows.parquet",
    "webhdfs://attacker:9870/rows",
    "hdfs://attacker/rows",
    "zip://rows.parquet::http://attacker/a.zip",
    "simplecache::s3://bucket/rows",
    "file:///tmp/a::http://attacker/rows",
    "reference://refs.json",
    "sftp://attacker/rows",
    r"\\attacker\share\rows.csv",
]
SETTINGS = {
    "dataset.path": lambda text: {"dataset": {"path": text}},
    "dataset.path of several": lambda text: {"dataset": {"path": ["rows.csv", text]}},
    "split.test": lambda text: {"split": {"test": text}},
    "model.path": lambda text: {"model": {"path": text}},
    "candidates.path": lambda text: {"candidates": {"path": text}},
    "dataset.train.address": lambda text: {"dataset": {"train": {"address": text}}},
    "filters.mine.anything": lambda text: {"filters": {"mine": {"anything": text}}},
}


@pytest.mark.parametrize("text", ADDRESSES)
@pytest.mark.parametrize("name", SETTINGS)
def test_an_address_counts_if_it_is_typed(name, text):
    settings, path = SETTINGS[name](text), name.partition(" ")[0]
    with pytest.raises(ConfigError, match=f"^{path}: .* not you, names"):
        check_addresses(settings, ["model=svd"], {})
    check_addresses(settings, [f"{path}={text}"], {})


def test_a_bucket_that_is_typed_stands_for_its_folders_but_for_no_other_endpoint():
    words = ["dataset.path=s3://mine/2025"]
    check_addresses({"split": {"test": "s3://mine/2026/rows"}}, words, {})
    for text in ("s3://mine/x?endpoint_override=attacker", "s3://mine/x|?endpoint_override=attacker"):
        with pytest.raises(ConfigError, match=r"split\.test"):
            check_addresses({"split": {"test": text}}, words, {})


def test_the_users_variables_and_what_is_only_shown_are_no_strangers():
    check_addresses({"dataset": {"path": "gs://b/a"}}, [], {"RECGAUGE_ROWS": "gs://b/a"})
    check_addresses({"dataset": {"source": "https://example.org/a", "path": "a:b/c.csv"}}, [], {})


def test_a_key_that_a_newer_hydra_brings_is_covered():
    register_schema()
    config = CommandLine(()).composed()
    check_trusted(config, [])
    with read_write(config.hydra), open_dict(config.hydra):
        config.hydra.hooks = {"start": {"_target_": "stranger.Thing"}}
    with pytest.raises(ConfigError, match=r"^hydra\.hooks: stays as it is"):
        check_trusted(config, [])
