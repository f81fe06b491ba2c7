"""A model that gives every item one score: the run says so, and its expected values lie at chance."""

import json

import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.e2e

ARGUMENTS = ("model=bias", "filters=[binarise]", "split=leave_one_out")
SAMPLED = ("candidates=sampled", "candidates.n=99", "cutoffs=[1,10]", "tracking=off", "hydra.run.dir=out")


def record_of(workplace, done):
    assert done.code == 0, done.err
    return json.loads((workplace.folder / "out" / "record.json").read_text())


def test_constant_scores_are_called_so_and_expected_at_chance(workplace):
    done = workplace.run(*ARGUMENTS, *SAMPLED)
    record = record_of(workplace, done)
    assert record["ties"]["share_at_cutoff"] == {"1": 1.0, "10": 1.0}
    # one relevant item among a hundred candidates
    assert record["ties"]["expected"]["hit_rate_at_1"] == pytest.approx(0.01, abs=1e-12)
    assert record["ties"]["expected"]["hit_rate_at_10"] == pytest.approx(0.1, abs=1e-12)
    harmonic = sum(1 / rank for rank in range(1, 11))
    assert record["ties"]["expected"]["mrr_at_10"] == pytest.approx(harmonic / 100, abs=1e-12)
    guards = json.loads((workplace.folder / "out" / "guards.json").read_text())
    (found,) = [guard for guard in guards if guard["name"] == "ties_at_cutoff"]
    assert (found["value"], found["level"]) == (1.0, "warning")
    value = next(entry["value"] for entry in record["results"] if entry["key"] == "hit_rate_at_10")
    assert f"hit_rate@10 is {value:.4f}, 0.1000 expected" in found["message"]
    assert "use ties=expected" in found["message"]
    assert "warning  ties_at_cutoff: For 100.0% (@1), 100.0% (@10) of evaluated users" in done.out

    expected = record_of(workplace, workplace.run(*ARGUMENTS, *SAMPLED, "ties=expected", "force=true"))
    values = {entry["key"]: entry["value"] for entry in expected["results"]}
    assert values == pytest.approx(record["ties"]["expected"], abs=1e-12)
    assert "ties=expected" in expected["policies"]
    (fair,) = [guard for guard in expected["guards"] if guard["name"] == "ties_at_cutoff"]
    assert (fair["value"], fair["level"]) == (1.0, "note")
    assert all("[ties=expected]" in entry["definition"] for entry in expected["results"])


def test_random_ties_are_stored_as_they_were_judged(workplace):
    settings = ("model=bias", "model.method=global_mean", "ties=random", "tracking=off", "hydra.run.dir=out")
    record = record_of(workplace, workplace.run(*settings))
    table = pq.read_table(workplace.folder / "out" / "recommendations.parquet").to_pandas()
    test = pq.read_table(workplace.folder / "out" / "test.parquet").to_pandas()
    relevant = test[test.rating >= record["dataset"]["relevant_from"]]
    hits = table[table["rank"] <= 10].merge(relevant, on=["user_id", "item_id"])
    value = next(entry["value"] for entry in record["results"] if entry["key"] == "precision_at_10")
    assert value == pytest.approx(len(hits) / record["counts"]["users_evaluated"] / 10)
    # by item code, everybody would get nearly the same few items
    assert table.item_id.nunique() > 0.9 * record["dataset"]["n_items"]
