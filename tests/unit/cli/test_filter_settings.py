"""What the command line says about filters: their order, a filter twice, and settings that are not there."""

import pytest

from finished import experiment_of
from recgauge.cli.explain import Choices, explain_config_error
from recgauge.errors import ConfigError
from recgauge.sweeps.names import check_repeats


def filters(*overrides):
    return [str(rule) for rule in experiment_of(*overrides).filters]


def test_filters_run_in_the_order_of_the_command_line():
    core, low = "users and items outside the 5-core", "ratings below 4"
    assert filters("filters=[n_core,min_rating]") == [core, low]
    assert filters("filters=[min_rating,n_core]") == [low, core]
    assert filters("filters=[n_core,min_rating,n_core_again]") == [core, low, core]


def test_any_filter_can_be_added_again_under_another_name():
    again = "+filters.again={_target_:recgauge.filters.MinRating,rating:3}"
    assert filters("filters=[min_rating,n_core]", again)[-1] == "ratings below 3"


def test_a_filter_named_twice_is_refused_with_the_way_to_say_it():
    with pytest.raises(ConfigError) as caught:
        check_repeats(["seed=1", "filters=[n_core, min_rating,n_core]"])
    assert "n_core more often" in str(caught.value)
    assert "+filters.again={_target_:recgauge.filters.NCore,n:5," in str(caught.value)
    check_repeats(["filters=[n_core,min_rating]", "model=svd"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["filters=[n_core]", "filters.n_core.m=3"],
            "n_core has no such setting. Settings: n, item_n, repeat.",
        ),
        (["filters=[n_core]", "filters.min_rating.rating=3"], "Choose it: filters=[n_core,min_rating]."),
        (["filters.n_core.n=3"], "n_core is not among the filters. Choose it: filters=[n_core]."),
        (["filters.ncore.n=3"], "there is no such filter. Did you mean n_core?"),
        (["filters=[ncore]"], "filters has no such option. Did you mean n_core?"),
    ],
)
def test_a_setting_that_is_not_there(words, message):
    with pytest.raises(Exception, match="filters") as caught:
        filters(*words)
    assert message in explain_config_error(caught.value, Choices(words))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit_on=test"], "fit_on must be one of train, train_validation, all; got 'test'"),
        (["filters=[date_range]", "filters.date_range.start=2018"], "ISO date or time such as 2018-01-31"),
        (["filters=[user_rows]", "filters.user_rows.at_most=3"], "no one can meet both"),
        (["+filters.x=n_core"], "filters.x: expected a mapping with a _target_, got 'n_core'"),
    ],
)
def test_a_value_that_cannot_be_used(words, message):
    with pytest.raises(ConfigError) as caught:
        filters(*words)
    assert message in str(caught.value)
