"""What a run's model gave, read from the run's folder: lists and predictions that are evaluated again."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from recgauge.candidates import CandidateItems
from recgauge.conventions import Definition
from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.errors import ModelError, SchemaError, printable
from recgauge.models import KnownRatings, RatingPredictor, Recommender
from recgauge.packages.public import PREDICTED
from recgauge.runs.finished import FinishedRun
from recgauge.runs.record import RunRecord
from recgauge.runs.stored import LISTS, read_table
from recgauge.utils.checks import FloatArray, IntArray
from recgauge.utils.resources import check_memory

_CELL = 8  # bytes of an item and its score


@dataclass(eq=False)
class StoredOutput(Recommender, RatingPredictor):
    """The stored lists and predictions of a run, in the place of its model; nothing is learned.

    Ranks and scores are those of the files, of which none is trusted: unknown ids, items that are no
    candidates, and ranks that repeat are a SchemaError.
    """

    folder: Path

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:  # noqa: ARG002 - contract
        """Remember the ids of the data."""
        self._known = KnownRatings.of(train) if len(train) else None
        self._user_ids, self._item_ids = train.user_ids, train.item_ids
        return self

    def fold_in(self, histories: Interactions) -> Self:
        """Count the users of these rows as known; their lists are in the files, too."""
        if self._known is not None:
            self._known = self._known.with_users_of(histories)
        return self

    @property
    def uses_order(self) -> bool:
        """The lists have been made: no order matters."""
        return False

    def with_histories(self, rows: Interactions) -> Self:  # noqa: ARG002 - contract
        """Return self: the files have the lists of queries, too."""
        return self

    def score(self, users: IntArray) -> FloatArray:  # noqa: ARG002 - contract
        """Refuse with a ModelError: files hold no scores of other items."""
        raise ModelError(f"{self.folder}: stored lists hold no scores of other items.")

    def lists(self, users: IntArray, k: int, candidates: CandidateItems) -> TopK:
        """Return the stored lists of the users."""
        path = self.folder / LISTS
        rows = read_table(path, ["user_id", "item_id", "rank", "score"])
        user = _positions(rows["user_id"], self._user_ids[users], path)
        rank, score = (np.asarray(rows[name].to_pandas()) for name in ("rank", "score"))
        if rank.dtype.kind != "i" or score.dtype.kind != "f":
            raise SchemaError(f"{path}: rank and score should be numbers.")
        check_memory(path, len(users) * k, _CELL)
        cell = user * k + rank - 1
        if len(rank) and not (rank.min() >= 1 and rank.max() <= k and len(np.unique(cell)) == len(cell)):
            raise SchemaError(f"{path}: ranks must be from 1 to {k}, each once for a user.")
        item = _positions(rows["item_id"], self._item_ids, path)
        if not candidates.holds(users[user], item.astype(np.int32)).all():
            raise SchemaError(f"{path}: has items that are no candidates of their users.")
        items = np.full((len(users), k), -1, np.int32)
        scores = np.full((len(users), k), -np.inf, score.dtype)
        items.flat[cell], scores.flat[cell] = item, score
        return TopK(users, items, scores)

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:  # noqa: ARG002 - contract
        """Return the stored predictions, a row for each held-out row, NaN where they were impossible."""
        path = self.folder / PREDICTED
        rows = read_table(path, ["predicted", "impossible"])
        predicted, impossible = (np.asarray(rows[name].to_pandas()) for name in ("predicted", "impossible"))
        if len(rows) != len(users) or predicted.dtype.kind != "f" or impossible.dtype.kind != "b":
            raise SchemaError(f"{path}: must have a prediction for each of the {len(users):,} held-out rows.")
        return np.where(impossible, np.float32(np.nan), predicted).astype(np.float32)


def _positions(column: Any, ids: npt.NDArray[Any], path: Path) -> npt.NDArray[np.int64]:
    """Return the positions of a column's ids among those of the data."""
    import pandas as pd

    positions: npt.NDArray[np.int64] = pd.Index(ids).get_indexer(column.to_pandas())
    if (positions < 0).any():
        unknown = column[int(np.argmax(positions < 0))]
        raise SchemaError(f"{path}: has {printable(str(unknown))}, which the evaluated data have not.")
    return positions


def computable(metrics: dict[str, Definition], run: FinishedRun) -> dict[str, Definition]:
    """Return the metrics whose values follow from the files of a run.

    Others need the scores of all items, lists of users who are not evaluated, the items that tie with the
    ends of the lists, or places in the lists that could hit nothing.
    """
    kinds = {"ratings": (run.folder / PREDICTED).is_file()}
    kinds["lists"] = (run.folder / LISTS).is_file() and run.record.ineligible is None
    return {
        name: definition
        for name, definition in metrics.items()
        if kinds.get(definition.metric.kind, False)
        and not definition.metric.needs_all_users
        and not _needs_ends(definition, run.record)
    }


def _needs_ends(definition: Definition, record: RunRecord) -> bool:
    """Whether a value depends on what ties with the ends of the lists, which no file has."""
    k = str(max((entry.k for entry in record.results if entry.k is not None), default=0))
    open_ends = record.ties is None or record.ties.share_at_cutoff.get(k) != 0
    of_lists = definition.metric.kind == "lists"
    return of_lists and definition.policies.ties in ("expected", "random") and open_ends
