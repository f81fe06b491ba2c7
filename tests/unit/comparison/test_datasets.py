"""Runs over several data sets: ranks and what follows, against published numbers and other libraries."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recgauge.comparison import compare_datasets
from recgauge.comparison.over_datasets import friedman, ranked
from recgauge.errors import ConfigError

VALUES = np.array([
    [.30, .31, .25, .10], [.22, .20, .21, .05], [.45, .41, .41, .30],
    [.12, .15, .11, .11], [.33, .28, .29, .20], [.51, .47, .49, .22],
])  # fmt: skip
RUNS = "abcd"
# scikit-posthocs 0.17: posthoc_nemenyi_friedman(VALUES); posthoc_siegel_friedman(VALUES, p_adjust="holm")
NEMENYI = {"ab": 0.6078087080927659, "ac": 0.39863136331743276, "ad": 0.002969436990049812,
           "bc": 0.9870044339435377, "bd": 0.11358109885511547, "cd": 0.2276967625814521}  # fmt: skip
HOLM = {"ab": 0.4375160090667851, "ac": 0.3525746042899175, "ad": 0.003170695487519723,
        "bc": 0.7373156772164182, "bd": 0.12673659338734125, "cd": 0.22938740760546558}  # fmt: skip


def by_name(values):
    return {run: {f"data{i}": float(row[j]) for i, row in enumerate(values)} for j, run in enumerate(RUNS)}


@pytest.fixture
def published(mirror):
    folder = Path(mirror).parent / "published"
    if not (folder / "dozens_ndcg_10.csv").is_file():
        pytest.skip("no folder published beside the mirror")
    return folder


@pytest.mark.data
def test_ranks_of_eleven_models_on_thirty_data_sets_are_as_published(published):
    values: dict = {}
    with (published / "dozens_ndcg_10.csv").open() as file:
        for row in csv.DictReader(file):
            values.setdefault(row["model"], {})[row["dataset"]] = float(row["value"])
    result = compare_datasets(values)
    with (published / "dozens_ndcg_10_expected.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert result.mean_ranks == pytest.approx({r["model"]: float(r["mean_rank"]) for r in rows}, abs=1e-9)
    assert (len(result.runs), len(result.datasets)) == (11, 30)


def test_friedman_is_scipys_also_with_ties():
    assert friedman(ranked(VALUES))[0] == pytest.approx(stats.friedmanchisquare(*VALUES.T).pvalue, rel=1e-9)
    statistic = stats.friedmanchisquare(*VALUES.T).statistic
    f = 5 * statistic / (6 * 3 - statistic)
    assert friedman(ranked(VALUES))[1] == pytest.approx(stats.f.sf(f, 3, 15), rel=1e-9)
    assert friedman(np.full((4, 3), 2.0)) == (1.0, 1.0)


def test_nemenyi_and_holm_are_scikit_posthocs():
    nemenyi = compare_datasets(by_name(VALUES))
    holm = compare_datasets(by_name(VALUES), post_hoc="holm")
    assert {"".join(sorted(k)): p for k, p in nemenyi.p_adjusted.items()} == pytest.approx(NEMENYI, abs=1e-6)
    assert {"".join(sorted(k)): p for k, p in holm.p_adjusted.items()} == pytest.approx(HOLM, abs=1e-9)
    # Demsar 2006, table 5: q = 2.569 for four classifiers at 0.05
    assert nemenyi.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 6)), abs=1e-3)
    assert holm.critical_difference is None


def test_groups_and_claims():
    result = compare_datasets(by_name(VALUES), metric="ndcg_at_10")
    assert result.runs == ("a", "b", "c", "d")
    assert result.groups == (("a", "b", "c"), ("b", "c", "d"))
    assert result.claims == (
        "nDCG@10 by ranks on 6 data sets: a has the best mean rank and differs from d.",
        "nDCG@10 by ranks on 6 data sets: a is not shown to be better than b, c.",
    )
    for post_hoc in ("nemenyi", "holm"):  # two runs that are first and last on each of three data sets
        few = compare_datasets({run: by_name(VALUES[3:])[run] for run in "ad"}, post_hoc=post_hoc)
        assert few.claims == ("value by ranks: 3 data sets are too few to show a difference between 2 runs.",)
    lower = compare_datasets(by_name(VALUES), higher_is_better=False)
    assert lower.runs[0] == "d"


def test_what_cannot_be_ranked_is_told():
    with pytest.raises(ConfigError, match="two runs and two data sets are needed, got 1 and 2"):
        compare_datasets({"a": {"x": 1.0, "y": 1.0}})
    with pytest.raises(ConfigError, match=r"b needs a finite value on each data set .*; y differ"):
        compare_datasets({"a": {"x": 1.0, "y": 1.0}, "b": {"x": 1.0}})
    with pytest.raises(ConfigError, match=r"got DataFrame.*frame.to_dict\(\)"):
        compare_datasets(pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 3.0]}))
    with pytest.raises(ConfigError, match="higher_is_better=True or False"):
        compare_datasets(by_name(VALUES), metric="loss")
