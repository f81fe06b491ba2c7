"""Every mistake gets one message that says what to do, no traceback and a non-zero exit code."""

import json

import pytest

pytestmark = pytest.mark.e2e


WRONG = [
    (["model=svdd"], "model=svdd: model has no such option. Did you mean svd?"),
    (["metrics=[HitRate@5]"], "there is no such suite or metric. Did you mean hit_rate?"),
    (["model.n_factor=3"], "Did you mean n_factors?"),
    (["model.n_factors=5000"], "below the 1000 users and 1500 items"),
    (["model=null"], "model=null: model takes one option"),
    (["filters=[n_core]", "filters.min_rating.rating=3"], "Settings: n_core. Choose a filter first"),
    (["cutoffs=[]"], "at least one cutoff"),
    (["dataset.path=shop.csv"], "Settings: relevant_from. A file of yours: dataset=table"),
    (["dataset.relevant_from=6"], "none of the 12000 held-out rows is relevant"),
    (["tracking.uri=sqlite:////nowhere/at/all/mlflow.db"], "does not exist"),
    (["metrics=[]"], "metrics: none is chosen. Name suites or metrics"),
    (["metrics=ndgc"], "metrics=ndgc: there is no such suite or metric. Did you mean ndcg?"),
    (["-m", "seed=1,2", "seed=3,4"], "seed is set twice: seed=1,2 and seed=3,4"),
    (["svd"], "svd: expected GROUP=OPTION or KEY=VALUE"),
    (["model=svd,random"], "To run each of them, add -m: recgauge run -m model=svd,random."),
    (["-m", "hydra/launcher=submitit_local", "jobs=2"], "write hydra.launcher.array_parallelism=N"),
    (
        ["cutoffs=10"],
        "cutoffs=10: Invalid value assigned: int is not a ListConfig, list or tuple. Expected a list",
    ),
    (["cutoffs=[ten]"], "could not be converted to Integer. Expected a whole number, such as 1"),
    (["seed=abc"], "could not be converted to Integer. Expected a whole number, such as 1"),
    (["search.n_factor.low=4"], "search.n_factor: search has no such setting. Did you mean n_factors?"),
    (
        ["tune.trials=5"],
        "tune.trials: tune has no such setting. Settings: none. Choose a search first: tune=tpe",
    ),
    (["+learning.patiense=3"], "learning: expected the fields watch, metric, every, patience; got patiense."),
    (["learning.patience=3", "model=biased_mf"], "learning.patience would change nothing"),
    (["model=bias", "metrics=rating", "ties=random"], "Add metrics=[ranking], or leave ties out"),
    (["metrics.recall=ndcg"], "metrics.recall: ndcg would be printed under the name recall"),
    (["model.n_factors=[3"], "model.n_factors=[3: expected GROUP=OPTION or KEY=VALUE"),
]


@pytest.fixture(scope="module")
def refusals(shared_workplace):
    """How each of the wrong commands ended, by the command."""
    commands = []
    for words, _ in WRONG:
        tracking = [] if any("tracking" in word for word in words) else ["tracking=off"]
        commands.append([*tracking, *words])
    ended = shared_workplace.run_each(commands)
    return {" ".join(words): done for (words, _), done in zip(WRONG, ended, strict=True)}


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_a_wrong_setting(refusals, arguments, message):
    done = refusals[" ".join(arguments)]
    assert done.code == 1
    assert message in done.err
    assert done.err.count("error:") == 1
    assert "Traceback" not in done.err + done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["metrics=rating"], "need predicted ratings"),
        (["dataset=ml_100k", "data.offline=true", "data.mirror=nope", "data.cache=cache"], "nope"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_what_can_be_known_before_is_said_before_the_store_is_opened(workplace, words, message):
    done = workplace.fail(*words)
    assert message in done.err
    assert not (workplace.folder / "mlflow.db").exists()


def test_a_setting_that_one_of_several_models_lacks_is_told_of_that_model(workplace):
    (workplace.folder / "own" / "model").mkdir(parents=True)
    text = "_target_: recgauge.models.svd.SVD\nn_factors: 4\nshrink: 1\n"
    (workplace.folder / "own" / "model" / "itemknn.yaml").write_text(text)
    inheriting = "defaults: [popularity, _self_]\ndamping: 2\n"
    (workplace.folder / "own" / "model" / "mine.yaml").write_text(inheriting)
    done = workplace.fail(
        "--config-dir", "own", "-m", "model=itemknn,svd", "model.shrink=1,10", "tracking=off"
    )
    assert "model.shrink: model (SVD) has no such setting. Settings: n_" in done.err
    done = workplace.run("--config-dir", "own", "model=mine", "model.b=sum", "tracking=off")
    assert (
        "model (Popularity) has no such setting. Did you mean by? Settings: by, damping, last_days."
        in done.err
    )
    done = workplace.run("--config-dir", "own", "-m", "model=svd,itemkn", "tracking=off")
    assert "Did you mean itemknn?" in done.err


def test_metrics_are_chosen_by_name(workplace):
    workplace.succeed("metrics=[ndcg,r_precision]", "cutoffs=[10]", "tracking=off")
    (folder,) = workplace.output()
    record = json.loads((folder / "record.json").read_text())
    assert [entry["key"] for entry in record["results"]] == ["ndcg_at_10", "r_precision_at_10"]
    assert record["names"]["metrics"] == "ndcg+r_precision"


def test_all_metrics_are_those_that_the_model_can_give(workplace):
    done = workplace.succeed("metrics=all", "model=popularity", "tracking=off", "cutoffs=[5]")
    (folder,) = workplace.output()
    names = {entry["name"] for entry in json.loads((folder / "record.json").read_text())["results"]}
    assert {"ndcg", "gini", "rbp"} <= names
    assert "rmse" not in names
    assert "metrics: left out are" in done.err


def test_settings_may_stand_behind_an_option(workplace):
    done = workplace.succeed("model=popularity", "--cfg", "job", "seed=3")
    assert "seed: 3" in done.out
