"""Hosts that only a file names get nothing, however the address is written."""

import pytest

from recgauge.cli.settings import check_hosts
from recgauge.errors import ConfigError

WORDS = ["tracking.uri=http://ours:5000"]
ENVIRONMENT = {"MLFLOW_TRACKING_URI": "postgresql://ann@data/db"}


@pytest.mark.parametrize(
    "uri", ["sqlite:///a.db", "http://ours:5000/x", "http://bob:x@OURS:5000", "postgresql://bob:x@data/db"]
)
def test_files_and_hosts_that_the_user_names_are_used(uri):
    check_hosts({"tracking.uri": uri}, WORDS, ENVIRONMENT)


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
        "mysql://attacker/db",
        "http://[::1",
    ],
)
def test_other_hosts_are_refused(uri):
    with pytest.raises(ConfigError, match=r"^tracking\.uri: a file of settings, not you, names"):
        check_hosts({"tracking.uri": uri}, ["model=svd"], ENVIRONMENT)
