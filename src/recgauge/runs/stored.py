"""What the folder of a finished run holds, read back: per-user values, lists and held-out rows."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from recgauge.errors import SchemaError
from recgauge.evaluation.inputs import EvaluationInputs, convert
from recgauge.runs.record import RunRecord

if TYPE_CHECKING:
    import pandas as pd

LISTS, TEST, PER_USER = "recommendations.parquet", "test.parquet", "per_user.parquet"


@dataclass(frozen=True, slots=True, eq=False)
class RunFolder:
    """A finished run and the folder of its files.

    Parameters
    ----------
    record : RunRecord
    folder : Path
    """

    record: RunRecord
    folder: Path

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the record of a run's folder.

        Raises
        ------
        SchemaError
            If there is none.
        """
        path = folder / "record.json"
        if not path.is_file():
            raise SchemaError(f"{folder}: is not the folder of a finished run, since it has no record.json.")
        return cls(RunRecord.from_json(path.read_text(encoding="utf-8")), folder)

    @property
    def has_lists(self) -> bool:
        """Whether whole lists are stored."""
        return (self.folder / LISTS).is_file() and (self.folder / TEST).is_file()

    def per_user(self) -> "pd.DataFrame":
        """Return per-user values: a row per user id, a column per metric.

        Raises
        ------
        SchemaError
            If the run has stored none.
        """
        return self._table(PER_USER).set_index("user_id")

    def recommended(self) -> "pd.DataFrame":
        """Return the lists: user_id, item_id, rank from 1, score."""
        return self._table(LISTS)

    def test(self) -> "pd.DataFrame":
        """Return the held-out rows: user_id, item_id, rating."""
        return self._table(TEST)

    def inputs(self, relevant_from: float | None, *, listed_only: bool = False) -> EvaluationInputs:
        """Return lists and relevance as an evaluation takes them.

        Parameters
        ----------
        relevant_from : float or None
            Lowest rating that is relevant; None: every row, with gain 1.
        listed_only : bool
            Whether only the test rows of users with a list count.
        """
        lists, test = self.recommended(), self.test()
        if listed_only:
            test = test[test["user_id"].isin(lists["user_id"].unique())]
        everybody = test["user_id"].unique()
        # as in the run: every test row is judged, those below relevant_from with grade 0
        grade = 1.0 if relevant_from is None else test["rating"].where(test["rating"] >= relevant_from, 0.0)
        # an item that a user has in several rows is judged once, with the highest of their grades
        judged = test.assign(grade=grade).sort_values("grade", ascending=False, kind="stable")
        judged = judged.drop_duplicates(["user_id", "item_id"]).sort_index()
        names = {"user_id": "user", "item_id": "item"}
        return convert(
            lists.rename(columns=names)[["user", "item", "score"]],
            judged.rename(columns=names)[["user", "item", "grade"]],
            train=None,
            item_features=None,
            n_items=None,
            scores=None,
            users=list(everybody),
            threshold=0.0,
        )

    def _table(self, name: str) -> "pd.DataFrame":
        import pyarrow.parquet as pq

        path = self.folder / name
        if not path.is_file():
            raise SchemaError(f"{self.folder}: the run has stored no {name}.")
        table: pd.DataFrame = pq.read_table(path).to_pandas()
        return table
