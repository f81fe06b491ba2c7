"""Tables with columns of the user's own: cells are what they were, in files and in frames."""

import numpy as np
import pandas as pd
import pytest

from recgauge.errors import SchemaError
from recgauge.files.frames import as_arrow
from recgauge.files.tables import read_table

TEXT = 'userId;region;age\n007;NA;31\n7;"a;b";1e1\nnull;;\n'


def test_cells_are_text_until_their_role_says_what_they_are(tmp_path):
    path = tmp_path / "users.csv"
    path.write_text(TEXT)
    table = read_table(path, "--users")
    assert table.ids(table.key("user")).tolist() == ["007", "7", "null"]
    assert table.column("region").to_pylist() == ["NA", "a;b", None]
    assert table.numbers("age").tolist()[:2] == [31.0, 10.0]
    assert np.isnan(table.numbers("age")[2])
    assert read_table(path, "--users", missing=["NA"]).column("region").to_pylist()[0] is None
    with pytest.raises(SchemaError, match=r"users\.csv, line 3: column 'region'.*'a;b'"):
        read_table(path, "--users", missing=["NA"]).numbers("region")
    with pytest.raises(SchemaError, match=r"userId, region, age"):
        table.column("plan")


def test_polars_frames_are_tables():
    polars = pytest.importorskip("polars")
    table = read_table(polars.DataFrame({"user": ["007", "7"], "n": [1, None]}), "users")
    assert table.ids("user").tolist() == ["007", "7"]
    assert np.isnan(table.numbers("n")[1])


MIXED = {
    "1 and '1'": pd.DataFrame({"user": [1, "1"]}),
    "a truth value": pd.DataFrame({"user": pd.Series([1, True], dtype=object)}),
    "sets": pd.DataFrame({"user": [{1}, {2}]}),
    "two columns of a name": pd.DataFrame([[1, 2]], columns=["user", "user"]),
    "an index beside a column": pd.DataFrame({"user": [1, 2]}, index=pd.Index([2, 1], name="user")),
    "a series": pd.Series([1, 2]),
    "a dictionary": {"user": [1]},
}


@pytest.mark.parametrize("table", MIXED.values(), ids=MIXED)
def test_what_cannot_be_taken_as_it_is_is_refused(table):
    with pytest.raises(SchemaError, match="users"):
        as_arrow(table, "users")


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NaT, pd.NA])
def test_nobody_is_no_user(gap):
    table = read_table(pd.DataFrame({"user": pd.Series(["a", gap], dtype=object)}), "users")
    with pytest.raises(SchemaError, match="users, row 2: column 'user'"):
        table.ids("user")
