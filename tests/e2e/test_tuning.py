"""tune=: settings are chosen by validation rows, a killed search goes on, MLflow has trials and final run."""

import csv
import json
import re
from functools import partial

import pytest
from mlflow import MlflowClient

from e2e.program import wait_until

pytestmark = pytest.mark.e2e
TUNED = ("model=bias", "tune=random", "split.validation_size=0.1", "metrics=[ndcg]")


def trials_in_mlflow(workplace):
    """Return the trials of the newest final run, which are runs below it."""
    client, final = MlflowClient(tracking_uri=workplace.uri), workplace.runs()[-1]
    below = f"tags.`mlflow.parentRunId` = '{final.info.run_id}'"
    found = client.search_runs([final.info.experiment_id], below)
    return sorted(found, key=lambda run: int(run.data.tags["recgauge.trial"]))


def numbers_in_mlflow(workplace):
    trials = trials_in_mlflow(workplace)
    assert {run.info.status for run in trials} == {"FINISHED"}
    return [int(run.data.tags["recgauge.trial"]) for run in trials]


def record(workplace):
    files = [folder / "record.json" for folder in workplace.output()]
    return json.loads(
        [file for file in files if file.is_file()][-1].read_text()
    )  # a reused run stays where it is


def test_a_search_its_final_run_and_what_is_reused(workplace):
    first = workplace.succeed(*TUNED, "tune.trials=3", "model.reg_u=20")
    assert "not searched, since the command line gives it: reg_u" in first.err
    assert [f"trial {n} of 3: " in first.err for n in range(1, 5)] == [True, True, True, False]
    final = workplace.runs()[-1]
    assert numbers_in_mlflow(workplace) == [1, 2, 3]
    assert final.data.tags["recgauge.tuned"].startswith("3 trials (random)")
    assert final.data.params["fit_on"] == "train_validation"
    kept = record(workplace)
    assert [trial["number"] for trial in kept["search"]["trials"]] == [0, 1, 2]
    assert all(set(trial["settings"]) == {"reg_i"} for trial in kept["search"]["trials"])
    for tracked, trial in zip(trials_in_mlflow(workplace), kept["search"]["trials"], strict=True):
        assert tracked.data.params == {"model.reg_i": str(trial["settings"]["reg_i"])}
        assert tracked.data.metrics["validation/ndcg_at_10"] == trial["value"]

    more = workplace.run(*TUNED, "tune.trials=5", "model.reg_u=20", "reuse=true")
    assert "3 trials of this search are done; going on" in more.err
    assert numbers_in_mlflow(workplace) == [1, 2, 3, 4, 5]
    assert record(workplace)["search"]["trials"][:3] == kept["search"]["trials"]

    again = workplace.run(*TUNED, "tune.trials=5", "model.reg_u=20", "reuse=true")
    assert "nothing is left to do" in again.err
    assert "reused run" in again.out
    chosen = record(workplace)["settings"]["model"]["reg_i"]
    plain = (TUNED[0], *TUNED[2:], "fit_on=train_validation", "model.reg_u=20", f"model.reg_i={chosen!r}")
    assert "reused run" not in workplace.run(*plain, "reuse=true").out  # which no search has chosen


OWN = """
from recgauge.models import Factors
from recgauge.models.bias import Bias

class Turned(Bias):
    def fit(self, train, *, rng):
        from turning import FACTOR
        super().fit(train, rng=rng)
        self._factors = Factors(self._factors.user * FACTOR, self._factors.item)
        return self
"""


def ndcg_of(workplace, done):
    assert done.code == 0, done.err
    return next(entry["value"] for entry in record(workplace)["results"] if entry["key"] == "ndcg_at_10")


def test_trials_and_runs_are_of_the_sources_that_they_are_taken_for(workplace):
    """An edit of what the model imports makes other trials and another run."""
    (workplace.folder / "turned.py").write_text(OWN)
    own = ("allowed_targets=[turned]", "model._target_=turned.Turned", "tracking=off", "reuse=true")
    values = []
    for factor in (1, -1):
        (workplace.folder / "turning.py").write_text(f"FACTOR = {factor}\n")
        done = workplace.run(*TUNED, *own, "tune.trials=2", PYTHONPATH=str(workplace.folder))
        values.append(ndcg_of(workplace, done))
        assert "trials of this search are done" not in done.err
    assert values[0] > 2 * values[1]
    again = workplace.run(*TUNED, *own, "tune.trials=2", PYTHONPATH=str(workplace.folder))
    assert "nothing is left to do" in again.err
    assert "reused the run" in again.out


def has_trials(workplace, least):
    files = (workplace.folder / "outputs" / "searches").glob("*.json")
    return any(len(json.loads(file.read_text())) >= least for file in files)


def test_a_killed_search_ends_as_one_that_was_not(workplace, tmp_path_factory):
    words = ("model=biased_mf", *TUNED[1:], "tune.trials=6", "model.n_factors=8", "tracking=off")
    for least in (1, 3):
        process = workplace.start(*words)
        wait_until(partial(has_trials, workplace, least))
        process.kill()
        process.communicate(timeout=60)
    workplace.succeed(*words)
    other = type(workplace)(tmp_path_factory.mktemp("other"))
    assert other.run(*words).code == 0
    killed, whole = record(workplace), record(other)
    kept = [
        [(t["number"], t["settings"], t["value"]) for t in r["search"]["trials"]] for r in (killed, whole)
    ]
    assert kept[0] == kept[1]
    assert len(kept[0]) == 6
    assert killed["results"] == whole["results"]


def test_a_sweep_has_tuned_and_untuned_rows_with_their_costs(workplace):
    words = (
        "model=popularity,bias",
        "seed=0,1",
        "tune.seed=${seed}",
        *TUNED[1:],
        "tune.trials=10",
        "tracking=off",
    )
    done = workplace.succeed("-m", *words, RECGAUGE_REPORT="true")
    (file,) = workplace.folder.glob("outputs/*/*/summary.csv")
    untuned, *_, tuned = csv.DictReader(file.read_text().splitlines())
    assert (untuned["trials"], tuned["trials"]) == ("0", "10")
    assert untuned["reason"].startswith("not tuned: conf/search declares nothing")
    assert float(tuned["search_seconds"]) > 0
    assert float(tuned["fit_seconds"]) > 0
    assert tuned["budget"] == "10 trials"
    assert re.search(r"10 trials \(random\).*; what mattered: reg_[iu] \.\d\d, reg_", done.out)
    page = file.with_name("report.html").read_text()
    assert re.search(r">reg_[iu] \.\d\d, reg_[iu] \.\d\d ", page)
    assert ", chosen with each seed or fold in 10 trials (random)" in page
    assert "left out, since not every option has them" not in page  # each seed's own settings are one model


REFUSED = {
    "tune.metric=ndcg@7": "Choose ndcg@10, or add cutoffs=[1,5,7,10,20].",
    "search.reg_i={low: -1.0, high: -0.5, log: false}": "search.reg_i: -1.0 is no value for it",
    "search.reg_i={low: 1, high: 2, log: false}": "the model's reg_i is 10.0. Write 1.0 and 2.0.",
    "+search.reg=[1,2]": "the model has no setting reg; it has",
    "evaluate_on=validation": "a search chooses by validation rows",
    "model=random": "there is nothing to search",
    "split.validation_size=0": "there are no validation rows",
}


def test_what_cannot_be_searched_is_refused_in_one_line(workplace):
    keys = [word.partition("=")[0] for word in REFUSED]
    kept = [[word for word in TUNED if word.partition("=")[0] != key] for key in keys]
    commands = [("tracking=off", *words, word) for words, word in zip(kept, REFUSED, strict=True)]
    for done, expected in zip(workplace.run_each(commands), REFUSED.values(), strict=True):
        assert done.code == 1
        assert expected in done.err
        assert len(done.err.strip().splitlines()) == 1


def test_numbers_of_validation_rows_are_called_so_everywhere(workplace):
    done = workplace.run("model=popularity", "evaluate_on=validation", *TUNED[2:])
    assert "numbers of validation rows" in done.out
    (run,) = workplace.runs()
    assert "validation" in run.info.run_name
    assert run.data.tags["recgauge.evaluate_on"] == "validation"
    assert all(name.startswith("validation/") for name in run.data.metrics if "ndcg" in name)
    card = (workplace.output()[-1] / "data_card.md").read_text()
    assert "sha256 of validation" in card
    assert "| test |" not in card


def test_learning_curves_are_in_mlflow(workplace):
    words = ("model=ials", "learning.watch=true", "learning.patience=3", "model.n_epochs=5")
    done = workplace.succeed(*words, "model.n_factors=8", *TUNED[2:])
    assert "the model is that of epoch" in done.out
    client, (run,) = MlflowClient(tracking_uri=workplace.uri), workplace.runs()
    loss = client.get_metric_history(run.info.run_id, "train/loss")
    values = client.get_metric_history(run.info.run_id, "validation/ndcg_at_10")
    steps = sorted(point.step for point in loss)
    assert steps == list(range(1, len(steps) + 1))
    assert sorted(point.step for point in values) == steps
