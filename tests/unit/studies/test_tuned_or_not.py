"""Models with unequal tuning: who is best, and which pairs turn."""

from recgauge.experiments.tuned_or_not.study import TunedOrNot
from recgauge.runs.record import SearchFacts
from recgauge.search.trials import Trial
from records import ended, metric, record_with

STUDY = TunedOrNot("tuned_or_not")
VALUES = {"ease": {1: 0.30, 5: 0.33}, "svd": {1: 0.31, 5: 0.32}, "bpr": {1: 0.20, 5: 0.29}}


def run(folder, model, trials, value):
    drawn = {"ease": 0.2, "svd": 0.1, "bpr": 0.05}.get(model)
    values = [0.25, *[drawn] * (trials - 1)]
    found = tuple(Trial(i, {"k": i}, "finished", each, 1.0) for i, each in enumerate(values))
    search = SearchFacts("d", "ndcg_at_10", True, "random", "", found)
    record = record_with(metric("ndcg", 10, value, stderr=0.002), search=search)
    return ended({"dataset": "d", "model": model}, {"seed": 0, "tune": {"trials": trials}}, record, folder)


def test_the_page_says_who_is_best_if_who_is_tuned_and_which_pairs_either_can_win(tmp_path):
    runs = [run(tmp_path, model, trials, v) for model, own in VALUES.items() for trials, v in own.items()]
    page = STUDY.markdown(STUDY.rows(runs, tmp_path))
    assert "| ease | 0.3000 | 0.3300 | +0.0300 |" in page
    assert "| nobody | svd |  | svd > ease > bpr |" in page
    assert "| everybody | ease |  | ease > svd > bpr |" in page
    assert "| bpr alone | svd | 3 | svd > ease > bpr |" in page
    assert "| 5 | 1 | 0 | 1 | ease, svd |" in page
    assert "| ease | 0.2000 | 0.2000 | 100 % | 100 % | 100 % | 100 % |" in page  # of what was drawn alone
