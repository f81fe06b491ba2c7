"""Searching settings: trials, budgets, pruning, and going on after a kill."""

import pytest

from recgauge.errors import ConfigError, FitError, SearchError
from recgauge.search.space import parse_space
from recgauge.search.trials import Search, Trial, best, run_search

SPACE = {
    "l2": {"low": 1.0, "high": 1e4, "log": True},
    "k": {"low": 1, "high": 9, "step": 2},
    "kind": ["a", "b"],
}


def measure(settings, _report):
    return -abs(settings["k"] - 5) - abs(settings["l2"] - 100) / 1e4 + (settings["kind"] == "b")


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_a_search_has_its_trials_finds_a_good_one_and_follows_from_its_seed(tmp_path, sampler):
    search, space = Search(trials=40, sampler=sampler, seed=3), parse_space(SPACE)
    one, two = (run_search(search, space, measure, tmp_path / f"{n}.json") for n in "ab")
    assert [trial.number for trial in one] == list(range(40))
    assert best(one).settings["kind"] == "b"
    assert [trial.settings for trial in one] == [trial.settings for trial in two]
    other = run_search(Search(trials=2, sampler=sampler, seed=4), space, measure, tmp_path / "c.json")
    assert [trial.settings for trial in one][:2] != [trial.settings for trial in other]


def test_the_models_own_settings_are_tried_first(tmp_path):
    first = {"l2": 250.0, "k": 7, "kind": "a", "other": 1}
    trials = run_search(Search(trials=2), parse_space(SPACE), measure, tmp_path / "s.json", first=first)
    assert trials[0].settings == {"l2": 250.0, "k": 7, "kind": "a"}
    outside = run_search(
        Search(trials=1), parse_space(SPACE), measure, tmp_path / "t.json", first=first | {"k": 90}
    )
    assert outside[0].settings["k"] <= 9


def test_hopeless_trials_are_pruned_and_never_win(tmp_path):
    def by_epochs(settings, report):
        for epoch in range(1, 6):
            report(epoch, settings["x"] * epoch)
        return settings["x"] * 5

    space = parse_space({"x": {"low": 0.0, "high": 1.0}})
    trials = run_search(Search(trials=30, sampler="random"), space, by_epochs, tmp_path / "s.json")
    pruned = [trial for trial in trials if trial.state == "pruned"]
    assert pruned
    assert all(len(trial.by_epoch) < 5 for trial in pruned)
    assert best(trials).value == max(trial.value for trial in trials)
    all_of_them = run_search(
        Search(trials=30, sampler="random", prune=False), space, by_epochs, tmp_path / "t.json"
    )
    assert {trial.state for trial in all_of_them} == {"finished"}


def test_a_training_that_fails_is_a_trial_and_is_told(tmp_path):
    def failing(settings, report):
        if settings["kind"] == "a":
            raise FitError("diverged")
        return measure(settings, report)

    trials = run_search(Search(trials=12, sampler="random"), parse_space(SPACE), failing, tmp_path / "s.json")
    failed = [trial for trial in trials if trial.state == "failed"]
    assert failed
    assert {trial.reason for trial in failed} == {"diverged"}
    assert best(trials).settings["kind"] == "b"
    with pytest.raises(SearchError, match="none of 1 trials finished \\(diverged\\)"):
        best(failed[:1])


NO_RANGES = [{"low": 1}, {"low": 1, "high": "2"}, {"low": 0.0, "high": 1.0, "log": True}]


@pytest.mark.parametrize("declared", [{}, *({"x": node} for node in NO_RANGES)])
def test_spaces_that_are_none_are_refused(declared):
    with pytest.raises(ConfigError, match=r"search\.x|nothing to search"):
        parse_space(declared)


def test_a_budget_of_seconds_ends_the_search():
    done = [Trial(number, {}, "finished", 0.5, seconds=2.0) for number in range(3)]
    search = Search(trials=None, seconds=3.0)
    assert [search.goes_on(done[:n]) for n in range(4)] == [True, True, False, False]
    assert len(search.within(done)) == 2
