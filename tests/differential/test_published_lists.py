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


@pytest.mark.slow
def test_rules_make_the_lists_that_session_rec_published(mirror: str) -> None:
    """The committed comparison of lists and numbers comes out again."""
    study = replace(study_of("session_lists"), mirror=mirror, offline=True)
    try:
        rows = study.rows([], FOLDER / "session_lists")
    except MissingDataError as error:
        pytest.skip(str(error))
    if any(row["verdict"] == OPEN for row in rows):
        pytest.skip("files of rn5l/session-rec are missing or altered")
    committed = read_results(FOLDER / "session_lists" / "results.csv")
    for column in ("verdict", "kind", "lists"):
        assert [row[column] for row in rows] == [row[column] for row in committed]
    for column in ("ours", "listed", "expected", "low", "high"):
        ours, theirs = ([float(row[column]) for row in side if row["ours"]] for side in (rows, committed))
        assert ours == pytest.approx(theirs, abs=1e-6)
    for row in committed:
        if row["ours"]:
            assert float(row["low"]) <= float(row["listed"]) <= float(row["high"])
            assert float(row["listed"]) == pytest.approx(float(row["published"]), abs=1e-7)
    assert sum(int(row["lists"]) for row in committed if row["kind"] == "scores differ") == 0
