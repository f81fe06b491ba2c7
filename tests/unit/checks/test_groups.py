"""Groups of users in a check: from any table as it is written, and nobody is dropped without a word."""

import pandas as pd
import pyarrow as pa
import pytest

import recgauge
from recgauge.errors import ConfigError, SchemaError

N = 300
IDS = pd.Index(range(1, N + 1), name="user")
RULES = {"segments": {"plan": {"ndcg@10": "10%"}}}


@pytest.fixture
def old(rng):
    return pd.DataFrame({"ndcg@10": 0.3 + 0.1 * rng.random(N)}, index=IDS)


@pytest.fixture
def plans():
    """A third of the users each: NA, 007 and 7."""
    return pd.Series(["NA", "007", "7"] * (N // 3), IDS, name="plan")


def verdicts(result):
    return {verdict.segment: verdict.outcome for verdict in result.verdicts}


def test_groups_are_the_texts_of_a_file_and_none_is_dropped(old, plans, tmp_path):
    plans.to_csv(tmp_path / "users.csv")
    for lost in ("NA", "007", "7"):
        new = old - 0.2 * (plans == lost).to_numpy()[:, None]
        for users in (plans, tmp_path / "users.csv", pa.Table.from_pandas(plans.reset_index())):
            found = verdicts(recgauge.check(new, old, RULES, users=users))
            assert found == {group: "worse" if group == lost else "shown" for group in ("NA", "007", "7")}


def test_numbers_of_a_file_are_cut_and_empty_cells_are_a_group(old, tmp_path):
    ages = pd.DataFrame({"plan": [*range(20, 20 + N - 1), None]}, index=IDS)
    ages.to_csv(tmp_path / "users.csv")
    found = recgauge.check(old, old, RULES | {"groups": 2}, users=tmp_path / "users.csv")
    assert [(one.segment, one.n_users) for one in found.verdicts] == [
        ("no group", 1),
        ("20–168", 149),
        ("169–318", 150),
    ]


def test_the_share_of_users_in_the_table_is_told_and_next_to_none_refused(old, plans):
    half = recgauge.check(old, old, RULES, users=plans.set_axis(IDS + 200))
    assert "100 in both, of 300 in the values (33.3 %)" in half.to_markdown().splitlines()[0]
    written = plans.set_axis(pd.Index([f"{user}.0" for user in IDS], name="user"))
    with pytest.raises(SchemaError, match=r"'1' only in the values and '1\.0'|a fraction of 0 is written"):
        recgauge.check(old, old, RULES, users=written)
    with pytest.raises(SchemaError, match="likely cause"):
        recgauge.check(old.set_axis(pd.Index([f"00{user}" for user in IDS], name="user")), old, RULES)


def test_tables_that_cannot_be_meant_are_refused(old, plans):
    with pytest.raises(SchemaError, match="Name the column user_id"):
        recgauge.check(old, old, RULES, users=plans.set_axis(range(N)))
    with pytest.raises(ConfigError, match="Name one of its columns"):
        recgauge.check(old, old, {"not_worse": {"ndcg@10": "2%"}}, users=plans)


def test_errors_of_users_and_metrics_of_ones_own_have_a_direction(old):
    for name in ("rmse_user", "MAE", "arp@10"):
        error = old.set_axis([name], axis=1)
        result = recgauge.check(1.5 * error, error, {"not_worse": {name: "2%"}})
        assert result.outcome == "worse"
    loss = old.set_axis(["loss"], axis=1)
    with pytest.raises(ConfigError, match=r"lower_is_better: \[loss\]"):
        recgauge.check(loss, loss, {"better_by": {"loss": 0}})
    for direction, outcome in (("lower_is_better", "worse"), ("higher_is_better", "shown")):
        rules = {"not_worse": {"loss": "2%"}, direction: ["loss"]}
        assert recgauge.check(1.5 * loss, loss, rules).outcome == outcome
    assert recgauge.check(loss, loss, {"at_most": {"loss": 0.5}}).passed
    with pytest.raises(ConfigError, match="there is no lss"):
        recgauge.check(loss, loss, {"at_most": {"loss": 0.5}, "lower_is_better": "lss"})
