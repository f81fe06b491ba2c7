"""The experiments on published lists give their committed results again, from the lists at hand."""

from dataclasses import replace

import pytest

from recgauge.cli.commands.experiments import study_of
from recgauge.errors import MissingDataError
from recgauge.experiments import FOLDER
from recgauge.studies import read_results
from recgauge.studies.published_table import OPEN


@pytest.mark.slow
@pytest.mark.parametrize("name", ["language_model_lists", "lod_personalized"])
def test_lists_have_the_committed_numbers(mirror: str, name: str) -> None:
    study = replace(study_of(name), mirror=mirror, offline=True)
    try:
        rows = study.rows([], FOLDER / name)
    except MissingDataError as error:
        pytest.skip(str(error))
    committed = read_results(FOLDER / name / "results.csv")
    pairs = [pair for pair in zip(rows, committed, strict=True) if pair[0]["verdict"] != OPEN]
    assert len(pairs) >= 1456
    for column in ("verdict", "letters", "users"):
        assert [row.get(column) for row, _ in pairs] == [row.get(column) for _, row in pairs]
    ours, theirs = ([float(row["ours"]) for row in side] for side in zip(*pairs, strict=True))
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)
