"""Lists that another program made, evaluated like those of any model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions, stored
from recgauge.data.lists import TopK
from recgauge.errors import ConfigError, ModelError
from recgauge.files.columns import CellFormat, Choice, Role
from recgauge.files.formats import FORMATS
from recgauge.models import KnownRatings, RatingPredictor, Recommender, not_fitted
from recgauge.recorded.direction import ListOrder
from recgauge.recorded.findings import REFUSED, Finding, ListSettings, Order, describe, note
from recgauge.utils.checks import DoubleArray, FloatArray, IntArray, LongArray, check_choice, shown
from recgauge.utils.grouped import repeats
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    from recgauge.recorded.coded import CodedLists

STRICT = (*REFUSED, "unknown_items", "repeats")
"""Findings that a run warns of; those of `REFUSED` stop it unless they are kept."""


@dataclass(eq=False)
class Recorded(Recommender, RatingPredictor):
    r"""Lists from files: CSV, TSV, Parquet, JSON lines or a TREC run, plain or packed.

    Learns nothing: `fit` reads the file and matches its ids with those of the data set. Lists go through the
    run's split, candidates and metrics, and nothing is added, so lists may be shorter than the largest
    cutoff. The run's policies say what becomes of unknown, seen and repeated items; other items that are no
    candidates are taken out. Rating metrics take the scores of a file, such as its column ``prediction``, as
    predicted ratings of the test rows.

    Parameters
    ----------
    path : str
        File with columns user, item and rank or score, or with user and items in one row per user; or a
        folder or address such as ``s3://bucket/lists`` with Parquet files of these.
    format : {"text", "parquet", "jsonl", "trec_run", ...}, optional
        By default recognised.
    columns : mapping of {"user", "item", "items", "rank", "score", "tag"} to str or int, optional
        Names or positions (from 0) of columns; by default usual names are recognised. `items` are lists in
        one cell, each value of `tag` is a run.
    header : bool, optional
        Whether text begins with the names of columns; by default it must name user and item as usual or as
        chosen.
    missing, unused, implausible
        Cells that are missing, columns that are left out on purpose, and what is done with contents that are
        hardly meant: as of ``dataset=table``.
    order : {"auto", "rank", "score"}
        What orders a list; ``auto``: ranks where the file has them, else scores; TREC runs by scores. Items
        that are equal in what orders them are ordered by item code.
    refuse, keep : sequence of str
        Findings that stop the run, and those that do not; see `recgauge.recorded.findings.MEANINGS`.
    tag : str, optional
        Which run of a file that holds several.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from recgauge.models.recommend import recommend
    >>> path = pathlib.Path(tempfile.mkdtemp(), "recs.csv")
    >>> _ = path.write_text("user,item,rank\na,y,1\na,z,2\nb,z,1\n")
    >>> train = Interactions.from_ids(["a", "b", "b"], ["x", "y", "z"])
    >>> model = Recorded(str(path)).fit(train, rng=np.random.default_rng(0))
    >>> recommend(model, np.array([0, 1], np.int32), 2, excluded=train.to_csr()).items
    array([[ 1,  2],
           [-1, -1]], dtype=int32)
    """

    path: str
    format: str | None = None
    order: Order = "auto"
    refuse: Sequence[str] = ()
    keep: Sequence[str] = ()
    tag: str | None = None
    columns: Mapping[Role, Choice] | None = None
    header: bool | None = None
    missing: Sequence[str] = ()
    unused: Sequence[str] = ()
    implausible: Literal["refuse", "keep"] = "refuse"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.path, str) or not self.path:
            raise ConfigError(f"Recorded: path must name a file, got {self.path!r}.")
        for role in self.columns or {}:
            check_choice("Recorded: columns", role, ("user", "item", "items", "rank", "score", "tag"))
        check_choice("Recorded: format", self.format, (None, *FORMATS))
        self._settings = ListSettings(self.order, self.refuse, self.keep, in_run=True)
        self._lists: CodedLists | None = None
        self._missing: tuple[Finding, ...] = ()
        self._n_items = 0

    def check_ready(self) -> None:
        """Check that the files are there, and that `path` names one run."""
        from recgauge.recorded import roles_of
        from recgauge.recorded.coded import find_run

        find_run(self.path, roles_of("lists", self.columns, CellFormat.of(self), in_run=True))

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Read the lists and tell what is odd about them.

        Raises
        ------
        DataError
            If the file cannot be read, or something is found that is refused.
        """
        from recgauge.recorded.coded import read_coded_lists

        self._lists = read_coded_lists(
            self.path,
            train,
            self._settings,
            self.format,
            self.tag,
            columns=self.columns,
            header=self.header,
            cells=CellFormat.of(self),
        )
        (progress or Progress()).note(self._lists.understood)
        met = "; ".join(meeting.sentence for meeting in self._lists.meetings)
        (progress or Progress()).note(f"{self.path}: {met}")
        self._known = KnownRatings.of(train) if len(train) else None
        self._ids = train.user_ids, train.item_ids
        self._n_items = train.n_items
        for line in describe([finding for finding in self.findings if finding.name not in STRICT]):
            (progress or Progress()).note(f"{self.path}: {line}")
        return self

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is odd about the lists, after `fit`; with missing predictions, after `predict`."""
        return (*self._coded_lists().findings, *self._missing)

    def _coded_lists(self) -> "CodedLists":
        if self._lists is None:
            raise not_fitted(self)
        return self._lists

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the scores of pairs as ratings, NaN where the file has none; see `RatingPredictor`.

        Raises
        ------
        ModelError
            If the file has no scores.
        DataError
            If a pair has no score, unless `keep` names ``without_prediction``.
        """
        lists = self._coded_lists()
        if lists.scores is None:
            raise ModelError(
                f"model=recorded: {self.path} has no scores, so no predicted ratings. Give it a column "
                "such as prediction, or leave rating metrics out."
            )
        scores = lists.scores_of(users, items)
        missing = np.isnan(scores)
        if missing.any():
            at = int(np.argmax(missing))
            user, item = shown(self._ids[0][users[at]]), shown(self._ids[1][items[at]])
            first = f"{self.path}: user {user}, item {item}"
            self._missing = (note("without_prediction", int(missing.sum()), first, self._settings),)
        return scores.astype(np.float32)

    def fold_in(self, histories: Interactions) -> Self:  # noqa: ARG002 - contract
        """Return self: the file has the lists of held-out users, too."""
        return self

    @property
    def uses_order(self) -> bool:
        """The file has been made: no order matters."""
        return False

    def with_histories(self, rows: Interactions) -> Self:  # noqa: ARG002 - contract
        """Return self: the file has lists of queries such as ``u#17``, see `recgauge.splits.NextItem`."""
        return self

    def score(self, users: IntArray) -> FloatArray:  # noqa: ARG002 - contract
        """Refuse with a ModelError: a list does not say how its model scores other items."""
        self._coded_lists()
        raise ModelError(
            "model=recorded: recorded lists hold no scores of other items, so curves of full rankings cannot "
            "be made of them. Leave metrics=[curves] out."
        )

    @property
    def n_unknown(self) -> int:
        """How many listed items the data set does not have; their codes follow its own."""
        return self._coded_lists().n_unknown

    @property
    def order_of_lists(self) -> ListOrder:
        """What ordered the lists, after `fit`."""
        return self._coded_lists().order

    def check_policies(self, policies: Mapping[str, str]) -> None:
        """Refuse policies of unknown, seen and repeated items that would go on where these are refused."""
        replace(self._settings, policies=policies)

    def lists(self, users: IntArray, k: int, candidates: CandidateItems) -> TopK:
        """Return the first `k` candidates of the users' lists, each item once; -1 pads short ones."""
        row, item, score = self._rows(users)
        held = item < self._n_items
        held[held] = candidates.holds(users[row[held]].astype(np.int32), item[held])
        row, item, score = row[held], item[held], score[held]
        repeated = repeats(np.searchsorted(row, np.arange(len(users) + 1)), item, self._n_items)
        if repeated is not None:
            row, item, score = row[~repeated], item[~repeated], score[~repeated]
        return _top_k(users, row, item, score, k)

    def whole_lists(self, users: IntArray, candidates: CandidateItems) -> TopK:
        """Return the users' lists with all ineligible items: unknown, seen and repeated ones.

        Only those of the data set are left out that a rule does not name among its candidates.
        """
        row, item, score = self._rows(users)
        if candidates.limited:
            kept = item >= self._n_items
            owner, code = users[row[~kept]].astype(np.int32), item[~kept]
            held = candidates.holds(owner, code)
            if candidates.excluded is not None:
                held |= stored(candidates.excluded, owner, code)
            kept[~kept] = held
            row, item, score = row[kept], item[kept], score[kept]
        return _top_k(users, row, item, score, max(1, int(np.bincount(row).max(initial=1))))

    def _rows(self, users: IntArray) -> tuple[LongArray, IntArray, DoubleArray]:
        """Return the rows of users' lists, best first: positions among `users`, codes of items, scores."""
        recorded = self._coded_lists()
        lengths = np.diff(recorded.start)[users]
        row = np.repeat(np.arange(len(users)), lengths)
        at = np.arange(len(row)) + np.repeat(recorded.start[users] - np.cumsum(lengths) + lengths, lengths)
        item = recorded.items[at]
        if recorded.scores is None:
            score = -(np.arange(len(row)) - np.searchsorted(row, row)).astype(np.float64)
        else:
            score = recorded.scores[at]
            later = (score[1:] > score[:-1]) | ((score[1:] == score[:-1]) & (item[1:] < item[:-1]))
            if (later & (row[1:] == row[:-1])).any():  # lists mostly have this order
                order = np.lexsort((item, -score, row))
                item, score = item[order], score[order]
        return row, item, score


def _top_k(users: IntArray, row: LongArray, item: IntArray, score: DoubleArray, k: int) -> TopK:
    """Lay out the first `k` rows of each user; -1 pads short lists."""
    place = np.arange(len(row)) - np.searchsorted(row, row)
    kept = place < k
    items, scores = np.full((len(users), k), -1, np.int32), np.full((len(users), k), -np.inf)
    items[row[kept], place[kept]] = item[kept]
    scores[row[kept], place[kept]] = score[kept]
    return TopK(users, items, scores)
