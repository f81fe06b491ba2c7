import sys

import pytest

from recgauge.errors import ConfigError
from recgauge.models import Recommender
from recgauge.models.svd import SVD
from recgauge.runs.targets import allowed_packages
from recgauge.sweeps.compose import build

OURS = ("recgauge",)
SVD_TARGET = "recgauge.models.svd.SVD"


def test_a_component_gets_its_settings():
    model = build({"_target_": SVD_TARGET, "n_factors": 3}, Recommender, "model", OURS)
    assert isinstance(model, SVD)
    assert model.n_factors == 3


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (None, "model: expected a mapping with a _target_, got None"),
        ({"n_factors": 3}, "model: expected a mapping with a _target_"),
        ({"_target_": "os.getcwd"}, r"model._target_: 'os.getcwd' is not one of recgauge"),
        ({"_target_": "recgauge.models.nope.Nope"}, "model._target_: cannot import"),
        ({"_target_": SVD_TARGET, "n_factor": 3}, "SVD has no setting n_factor; it has n_factors, values"),
        ({"_target_": SVD_TARGET, "n_factors": "abc"}, r"model: SVD: n_factors must be a whole number >= 1"),
        ({"_target_": "recgauge.datasets.demo.Demo"}, "is not a Recommender"),
    ],
)
def test_what_cannot_be_built_is_refused_with_its_path(node, message):
    with pytest.raises(ConfigError, match=message):
        build(node, Recommender, "model", OURS)


MINE = """
from fractions import Fraction
from recgauge.models.popularity import Popularity


class Mine(Popularity):
    pass
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "ownmodels.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("ownmodels", None)


def test_a_class_of_a_package_that_the_user_trusts_is_built(own_module):
    packages = allowed_packages(["ownmodels"])
    model = build({"_target_": "ownmodels.Mine", "by": "sum"}, Recommender, "model", packages)
    assert (type(model).__module__, model.by) == ("ownmodels", "sum")


def test_a_short_name_of_ours_is_as_good_as_the_full_one():
    assert isinstance(build({"_target_": "recgauge.SVD", "n_factors": 2}, Recommender, "model", OURS), SVD)
