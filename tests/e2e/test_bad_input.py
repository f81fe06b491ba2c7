"""Every mistake gets one message that says what to do, no traceback and a non-zero exit code."""

import json

import pytest

pytestmark = pytest.mark.e2e


WRONG = [
    (["tune=true"], "tune=true: tune has no such option. Options: off, random, tpe. To tune"),
    (["dataset=./shop.csv"], "dataset=table dataset.path=./shop.csv."),
    (["seed=0-4"], "-m 'seed=range(0,5)'"),
    (["--seeds", "3"], "write seed=3."),
    (["-m=svd"], "write -m model=svd."),
    (["metrics=[ndcg10]"], "Did you mean ndcg@10?"),
    (["metrics=[Hit_Rate@5]"], "there is no such suite or metric. Did you mean hit_rate?"),
    (["model.n_factor=3"], "Did you mean n_factors?"),
    (["filters=[n_core]", "filters.min_rating.rating=3"], "Settings: n_core. Choose a filter first"),
    (["dataset.path=shop.csv"], "Settings: relevant_from. A file of yours: dataset=table"),
    (["dataset.relevant_from=6"], "none of the 12000 held-out rows is relevant"),
    (["tracking.uri=sqlite:////nowhere/at/all/mlflow.db"], "does not exist"),
    (["-m", "seed=1,2", "seed=3,4"], "seed is set twice: seed=1,2 and seed=3,4"),
    (["model=svd", "seed=0,1"], "add -m: recgauge run -m tracking=off model=svd seed=0,1.\n"),
    (["cutoffs=[5,10"], "cutoffs=[5,10: a bracket is missing"),
    (["-m", "hydra/launcher=submitit_local", "jobs=2"], "write hydra.launcher.array_parallelism=N"),
    (["cutoffs=(5;10)"], "a list has square brackets and commas: 'cutoffs=[5,10]'.\n"),
    (["help"], "help: is an option: recgauge run --help.\n"),
    (["cutoffs=10"], "cutoffs=10: expected a list, which is written in brackets: cutoffs=[10]."),
    (["split.test_size=0,2"], "split.test_size=0.2."),
    (["cutoffs=[10,foo]"], "cutoffs[1] is 'foo'; expected a whole number, such as 1.\n"),
    (["data=ml_100k"], "data: has settings of its own, which docs/settings.md lists. Did you mean dataset="),
    (["--cfg=all"], "--cfg/-c: invalid choice: 'all'"),
    (["tune.trials=5"], "Choose a search first: tune=tpe"),
    (["tune=tpe", "model=svd", "search.n_factors.low=300"], "Set both: search.n_factors.low=A"),
    (["-m", "model=ease,svd", "tune=tpe", "search.l2.high=5000"], "write search.MODEL.l2."),
    (["-m", "model=ease,svd", "model.bpr.l2=1"], "model.bpr: holds beside model=bpr alone"),
    (["model=bias", "metrics=rating", "ties=random"], "Add metrics=[ranking], or leave ties out"),
    (["metrics.recall=ndcg"], "metrics.recall: ndcg would be printed under the name recall"),
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
)
def test_what_can_be_known_before_is_said_before_the_store_is_opened(workplace, words, message):
    done = workplace.fail(*words)
    assert message in done.err
    assert not (workplace.folder / "mlflow.db").exists()


def test_all_metrics_are_those_that_the_model_can_give(workplace):
    done = workplace.succeed("metrics=all", "model=popularity", "tracking=off", "cutoffs=[5]")
    (folder,) = workplace.output()
    names = {entry["name"] for entry in json.loads((folder / "record.json").read_text())["results"]}
    assert {"ndcg", "gini", "rbp"} <= names
    assert "rmse" not in names
    assert "metrics: left out are" in done.err
