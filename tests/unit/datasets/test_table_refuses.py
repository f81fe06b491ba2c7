"""What a table refuses, so that no row is lost or counted twice without a word; with line and remedy."""

import pytest

from recgauge.datasets.table import Table
from recgauge.errors import ConfigError, SchemaError

ROWS = [f'{row},{row % 7},{row % 5 + 1},"A title, of two parts"' for row in range(40)]


def written(tmp_path, rows, header="user,item,rating,title"):
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join([header, *rows, ""]))
    return str(path)


@pytest.mark.parametrize("on_bad_rows", ["error", "skip"])
@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ({5: '5,"900,3,'}, 7),  # to the next quote, in an id
        ({5: "5,5,3,x", 8: '8,"900,3,x', 20: '20,901",4,x'}, 10),  # the same, as a row of four columns
        ({5: '5,5,3,"never closed'}, 7),  # in a column that is not read
        ({5: '5,5,3,"never', 6: '6,6,3,closed"'}, 7),
        ({row: f"{row},1,3," + '"x' * (row == 5) for row in range(40)}, 7),  # to the end of the file
    ],
)
def test_a_quote_that_is_not_closed_is_refused_even_where_bad_rows_are_skipped(
    tmp_path, on_bad_rows, broken, line
):
    path = written(tmp_path, [broken.get(row, text) for row, text in enumerate(ROWS)])
    with pytest.raises(SchemaError, match=rf"line {line}: a quoted field .*dataset\.quotes=false"):
        Table(path, on_bad_rows=on_bad_rows).load()


def test_a_quote_that_swallows_more_than_fields_may_hold(tmp_path):
    path = written(tmp_path, ["1,2,3,x", '1,3,3,"open'] + [f"{row},5,3,{'x' * 100}" for row in range(3000)])
    with pytest.raises(SchemaError, match=r"line 3: a quoted field .* more than 128 KiB"):
        Table(path).load()


def test_text_over_several_lines_is_fine_where_nobody_reads_it(tmp_path):
    rows = ['"Great, 5 stars,\n\n1,2,really, good",1,3,4', '"so\nso",2,3,2', "x,3,bad,1"]
    path = written(tmp_path, rows, header="review,user,item,rating")
    read = Table(path, on_bad_rows="skip").load().interactions
    assert read.user_ids[read.user].tolist() == [1, 2, 3]
    assert read.item_ids[read.item].tolist() == ["3", "3", "bad"]


def test_a_bad_row_beside_text_over_lines_is_skipped_and_counted(tmp_path):
    path = written(tmp_path, ['1,2,3,"two\nlines"', "2,2,bad,x", "3,2,4,x"])
    loaded = Table(path, on_bad_rows="skip").load()
    assert loaded.interactions.user_ids.tolist() == [1, 3]
    assert "1 bad rows left out" in loaded.provenance


def test_a_file_that_is_named_twice_is_refused(tmp_path):
    path = written(tmp_path, ROWS)
    with pytest.raises(ConfigError, match="twice, so its rows would count twice"):
        Table([path, str(tmp_path / "*.csv")]).load()
