import pytest

from recgauge.errors import SchemaError
from recgauge.studies import BEGIN, END, marked_part, read_results, results_text, with_marked_part


def test_results_survive_their_file(tmp_path):
    rows = [{"a": "1", "b": 'with, "quotes"\nand lines'}, {"a": "", "b": "é"}]
    path = tmp_path / "results.csv"
    path.write_text(results_text(rows), encoding="utf-8")
    assert read_results(path) == rows
    assert results_text(read_results(path)) == results_text(rows)


@pytest.mark.parametrize("rows", [[], [{"a": "1"}, {"b": "1"}]])
def test_rows_that_make_no_table_are_refused(rows):
    with pytest.raises(SchemaError, match=r"results\.csv"):
        results_text(rows)


def test_only_the_marked_part_changes():
    readme = f"# Title\n\n{BEGIN}\nold\n{END}\n\nafter\n"
    new = with_marked_part(readme, "new\n\nlines")
    assert marked_part(new) == "new\n\nlines"
    assert new.startswith("# Title\n")
    assert new.endswith("after\n")
    assert with_marked_part(new, "new\n\nlines") == new


@pytest.mark.parametrize("readme", [BEGIN, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_markers_must_be_there_once(readme):
    with pytest.raises(SchemaError, match="once each"):
        with_marked_part(readme, "x")
