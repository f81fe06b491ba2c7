"""The study of tuned models: a table ordered by quality, with what choosing and training cost."""

from recgauge.experiments.tuned_models.study import COLUMNS, TunedModels
from recgauge.runs.record import SearchFacts
from recgauge.search.trials import Trial
from records import ended, metric, record_with

STUDY = TunedModels("tuned_models", shown=("ndcg_at_10", "rmse"))
TRIALS = (Trial(0, {"l2": 5.0}, "finished", 0.2, 1.5), Trial(1, {"l2": 7.5}, "finished", 0.3, 2.5))
SEARCH = SearchFacts("digest", "ndcg_at_10", True, "tpe", "2 trials", TRIALS)


def finished(folder, model, *results, **facts):
    seconds = {"fit": 1.25, "recommend": 0.5}
    record = record_with(*results, seconds=seconds, **facts)
    return ended({"dataset": "ml_1m", "model": model}, {}, record, folder)


def rows_of(folder):
    error = metric("rmse", None, 0.87, higher_is_better=False)
    return STUDY.rows(
        [
            finished(folder, "popularity", metric("ndcg", 10, 0.12, stderr=0.002)),
            finished(folder, "ease", metric("ndcg", 10, 0.31, stderr=0.003), search=SEARCH),
            finished(folder, "bias", metric("ndcg", 10, 0.05), error),
            ended({"dataset": "ml_1m", "model": "slim"}, {}, None, folder, "no memory\nat length"),
        ],
        folder,
    )


def test_rows_have_the_numbers_and_costs_of_every_model(tmp_path):
    rows = rows_of(tmp_path)
    assert {tuple(row) for row in rows} == {COLUMNS}
    ease = next(row for row in rows if row["model"] == "ease")
    assert (ease["trials"], ease["search s"], ease["fit s"], ease["chosen"]) == ("2", "4", "1.25", "l2=7.5")
    assert (ease["decided by"], ease["validation"]) == ("ndcg_at_10", "0.3000")
    assert [row["reason"] for row in rows if row["model"] == "slim"] == ["no memory"]
