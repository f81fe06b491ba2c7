import pytest

from recgauge.app.compose import build
from recgauge.errors import ConfigError
from recgauge.models import Recommender
from recgauge.models.svd import SVD

OURS = ("recgauge.",)
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
        (
            {"_target_": "os.getcwd"},
            r"model._target_: 'os.getcwd' is not one of recgauge",
        ),
        ({"_target_": "recgauge.models.nope.Nope"}, "model._target_: cannot import"),
        ({"_target_": SVD_TARGET, "n_factor": 3}, "SVD has no setting n_factor; it has n_factors, values"),
        ({"_target_": SVD_TARGET, "n_factors": "abc"}, r"model: SVD: n_factors must be a whole number >= 1"),
        ({"_target_": "recgauge.datasets.demo.Demo"}, "is not a Recommender"),
    ],
)
def test_what_cannot_be_built_is_refused_with_its_path(node, message):
    with pytest.raises(ConfigError, match=message):
        build(node, Recommender, "model", OURS)


def test_packages_the_user_trusts_are_allowed():
    with pytest.raises(ConfigError, match="is not a Recommender"):
        build({"_target_": "fractions.Fraction"}, Recommender, "model", (*OURS, "fractions."))
