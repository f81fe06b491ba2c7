"""A set of lists under every convention: the numbers of runs under these conventions."""

import csv

import pytest

from finished import experiment_of, finished
from recgauge.cli.commands.cli import main
from recgauge.experiment import run_experiment
from recgauge.experiments.stability.list_axes import with_a_list_each
from recgauge.report.conventions import convention_values
from recgauge.runs.finished import FinishedRun
from recgauge.sweeps.artifacts import CONVENTIONS

WORDS = ("metrics=[ranking]", "cutoffs=[5]", "filters=[sample_users]", "dataset.relevant_from=5")
"""Many users have test rows and nothing relevant; conventions do not agree whether they count."""
OTHERS = ("sklearn", "omnirec", "recbole", "dacrema_2021")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return finished(folder, "popularity", *WORDS, "conventions_table=true")


@pytest.fixture(scope="module")
def in_runs():
    """The values of a run under each convention, by convention and result."""
    found = {}
    for name in OTHERS:
        result = run_experiment(experiment_of("model=popularity", *WORDS, f"conventions={name}"))
        found |= {(name, key): value for key, value in result.ranking.evaluation.values().items()}
    assert len({result for (_, key), result in found.items() if key == "ndcg_at_5"}) > 1
    return found


def check(values, in_runs):
    assert {"sklearn", "omnirec"} <= {convention for convention, _ in values}
    for (convention, key), value in values.items():
        assert value == pytest.approx(in_runs[convention, key], abs=1e-12), (convention, key)


def test_the_table_of_a_run_has_the_numbers_of_runs(folder, in_runs):
    rows = csv.DictReader((folder / CONVENTIONS).read_text().splitlines())
    check(
        {(r["convention"], r["metric"]): float(r["value"]) for r in rows if r["convention"] in OTHERS},
        in_runs,
    )


def test_so_have_stored_lists_where_each_user_has_one(folder, in_runs):
    """As stability compares conventions."""
    run = FinishedRun.read(folder)
    lists = with_a_list_each(run.lists().inputs(run.record.dataset.relevant_from))
    values = convention_values(["ndcg", "recall", "map"], lists, cutoffs=(5,))
    check({(v.convention, v.key): v.value for v in values if v.convention in OTHERS}, in_runs)


def test_the_command_tells_whom_the_lists_lack(folder, capsys):
    assert main(["conventions", str(folder)]) == 0
    stored = FinishedRun.read(folder).lists()
    lacking = stored.test["user_id"].nunique() - stored.lists["user"].nunique()
    assert lacking > 0
    assert f"users    {lacking:,} users" in capsys.readouterr().out
