"""Train, validation and test: what a split is, and the record of the steps that led to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recgauge.data.coverage import Coverage
from recgauge.data.interactions import Interactions, apart, pairs_matrix
from recgauge.data.sequences import Average, Sequences
from recgauge.errors import EmptySplitError, SchemaError
from recgauge.utils.checks import IntArray

if TYPE_CHECKING:
    from scipy import sparse

EvaluateOn = Literal["test", "validation"]
"""Parts of a split that a model can be evaluated on."""
PARTS = ("train", "fold_in", "validation", "test")
"""The parts that a split can have."""
NO_VALIDATION_TARGET = "rows of the validation part that are no target"
"""The step of rows up to a cut that are in no part, until `Split.with_validation_in_train` trains on them."""


@dataclass(frozen=True, slots=True)
class Step:
    """How many rows, users and items there were before and after a step.

    Parameters
    ----------
    name : str
        What the step drops, in words.
    rows, users, items : tuple of int
        Counts before and after; users and items count those with at least one row.
    note : str
        What became of the values of rows that stay, in words; empty if they stayed as they were.
    stage : {"filters", "split"}
        Whose step it is.
    """

    name: str
    rows: tuple[int, int]
    users: tuple[int, int]
    items: tuple[int, int]
    note: str = ""
    stage: Literal["filters", "split"] = "split"

    @classmethod
    def between(cls, name: str, before: Interactions, after: Interactions) -> "Step":
        """Return the step that led from `before` to `after`."""
        users, items = (
            (int(np.count_nonzero(counts(before))), int(np.count_nonzero(counts(after))))
            for counts in (Interactions.user_counts, Interactions.item_counts)
        )
        return cls(name, (len(before), len(after)), users, items)

    @property
    def dropped_rows(self) -> int:
        """Rows that the step dropped; none where it added some."""
        return max(0, self.rows[0] - self.rows[1])

    def __str__(self) -> str:
        users, items = self.users[0] - self.users[1], self.items[0] - self.items[1]
        note = f" ({self.note})" if self.note else ""
        return f"{self.name}: {self.dropped_rows} rows, {users} users, {items} items dropped{note}"


@dataclass(frozen=True, eq=False)
class Split:
    """Train, validation and test interactions over the same user and item codes.

    Parameters
    ----------
    name : str
        The strategy, for people.
    train : Interactions
        What models may learn from.
    validation : Interactions or None
        What selecting a model or a setting may look at.
    test : Interactions
        What only the final evaluation looks at.
    steps : tuple of Step
        What was dropped on the way, in order.
    fold_in : Interactions or None
        Rows of held-out users, who have none in train: models are given them after training and before
        they recommend. None: no user is held out.
    overlap : bool
        Whether held-out parts may repeat (user, item) pairs, or share them with another part, which the guard
        `overlap` then tells.
    evaluated : {"test", "validation"}
        Which rows `test` holds; see `on_validation`.
    held_out : mapping of str to Coverage
        Of each held-out part, what it was before rows of unknown users and items were dropped; a part that is
        not named lost nothing.
    sequences : Sequences or None
        The order of users' rows, of a split that puts them in one; see `before` and `query_of`.

    Raises
    ------
    SchemaError
        If the parts do not share ids, if a held-out part repeats a pair or shares one with another part and
        `overlap` is not set, or if a user with fold-in rows has training rows.
    EmptySplitError
        If train or test have no rows.
    """

    name: str
    train: Interactions
    validation: Interactions | None
    test: Interactions
    steps: tuple[Step, ...] = ()
    fold_in: Interactions | None = None
    overlap: bool = False
    evaluated: EvaluateOn = "test"
    held_out: Mapping[str, Coverage] = field(default_factory=dict)
    sequences: Sequences | None = None

    def __post_init__(self) -> None:
        for part_name, part in (("train", self.train), ("test", self.test)):
            if len(part) == 0:
                raise EmptySplitError(
                    f"Split {self.name}: {part_name} has no rows{self._history()}. "
                    "Use more data, weaker filters or other fractions."
                )
        self._check_parts()
        if not self.overlap and not self.is_apart:
            raise SchemaError(
                f"Split {self.name}: held-out rows repeat (user, item) pairs of each other or of train. Let "
                "one row of each pair stay, with filters=[duplicates], or remove them from the data."
            )

    def _check_parts(self) -> None:
        """Refuse parts over other ids, and held-out users who are trained on."""
        parts = {"validation": self.validation, "test": self.test, "fold_in": self.fold_in}
        for part_name, held in parts.items():
            if held is None:
                continue
            ids = ((held.user_ids, self.train.user_ids), (held.item_ids, self.train.item_ids))
            if not all(ours is theirs or np.array_equal(ours, theirs) for ours, theirs in ids):
                raise SchemaError(f"Split {self.name}: {part_name} and train must share their id arrays.")
        if self.fold_in is not None:
            n_both = int(((self.fold_in.user_counts() > 0) & (self.train.user_counts() > 0)).sum())
            if n_both:
                raise SchemaError(
                    f"Split {self.name}: {n_both} users have training rows and fold-in rows; held-out users "
                    "must not be trained on. Put their rows into one of the two parts."
                )

    def _history(self) -> str:
        return "".join(f"; {step}" for step in self.steps if step.dropped_rows)

    def on_validation(self) -> "Split":
        """Return the split that choosing a model or a setting looks at.

        Its `test` holds the validation rows; the test rows are not in it.

        Raises
        ------
        EmptySplitError
            If there are no validation rows.
        """
        return replace(self, test=self._held_for_validation(), validation=None, evaluated="validation")

    def with_validation_in_train(self) -> "Split":
        """Return the split whose training part has the validation rows, too, for the final model.

        Validation users who were held out, with rows in `fold_in`, become training users.

        Raises
        ------
        EmptySplitError
            If there are no validation rows.
        """
        validation, sequences, fold_in = self._held_for_validation(), self.sequences, self.fold_in
        train, steps = self.train, self.steps
        words = f"{len(train):,} training and {len(validation):,} validation rows"
        sequences = None if sequences is None else sequences.with_validation()
        if sequences is None or sequences.until_cut is None:
            train = train.followed_by(validation)
        else:
            train = sequences.rows.take(sequences.train).with_users(train.user_ids)
            n_more = len(train) - len(self.train) - len(validation)
            words = f"all {len(train):,} rows up to the cut: {words}" + (
                f", {n_more:,} more" if n_more else ""
            )
            steps = tuple(step for step in steps if step.name != NO_VALIDATION_TARGET)
        if fold_in is not None:
            chosen_by = (validation.user_counts() > 0)[fold_in.user]
            train, fold_in = train.followed_by(fold_in.take(chosen_by)), fold_in.take(~chosen_by)
            words += f", and {int(chosen_by.sum()):,} fold-in rows of validation users"
        joined = replace(
            Step.between("nothing", self.train, train), note=f"train is {words} (fit_on=train_validation)"
        )
        steps = (*steps, joined)
        return replace(self, train=train, validation=None, fold_in=fold_in, steps=steps, sequences=sequences)

    def with_queries(self, average: Average) -> "Split":
        """Return the split in which each held-out row is a query of its own, with a code and an id.

        Raises
        ------
        SchemaError
            If the rows have no order.
        """
        if self.sequences is None:
            raise SchemaError(
                f"Split {self.name}: its rows have no order, so nothing is before a query. A strategy with "
                "queries gives their rank to its Assignment (rank=...)."
            )
        ids, query_of, codes = self.sequences.query_codes()
        parts: dict[str, Any] = {
            name: getattr(self, name).with_users(ids, own) for name, own in codes.items()
        }
        sequences = replace(self.sequences, query_of=query_of, average=average)
        return replace(self, train=self.train.with_users(ids), **parts, sequences=sequences)

    def _held_for_validation(self) -> Interactions:
        if self.validation is None or len(self.validation) == 0:
            raise EmptySplitError(
                f"Split {self.name}: there are no validation rows. Hold some out, as "
                "split.validation_size=0.1 does for split=random; docs/splits.md has each split's setting."
            )
        return self.validation

    @property
    def _parts(self) -> dict[str, Interactions]:
        parts = {"train": self.train, "fold-in": self.fold_in, "validation": self.validation}
        parts[self.evaluated] = self.test
        return {name: part for name, part in parts.items() if part is not None}

    def __repr__(self) -> str:
        """Return the parts with their rows, in one line."""
        parts = [f"{name} {len(part):,} rows" for name, part in self._parts.items()]
        return f"Split({self.name}: {', '.join(parts)})"

    @property
    def test_users(self) -> IntArray:
        """Users with test rows, ascending codes, shape (m,)."""
        return np.flatnonzero(self.test.user_counts()).astype(np.int32)

    def coverage(self, users: IntArray | None = None) -> Coverage:
        """Return what is left of the evaluated part.

        Parameters
        ----------
        users : ndarray of int32, optional
            Codes of those with a relevant row, if others do not count.
        """
        whole = Coverage(len(self.test_users), len(self.test), len(self.test_users))
        coverage = self.held_out.get(self.evaluated, whole)
        if users is None:
            return coverage
        left_out = np.setdiff1d(self.test_users, users)
        n_rows = int(self.test.user_counts()[left_out].sum())
        n_users = len(self.users_of(self.test_users)) - len(self.users_of(users))
        return coverage.without("nothing_relevant", users=n_users, rows=n_rows)

    @property
    def query_of(self) -> IntArray | None:
        """The user of each user code, if several queries may be of one user; see `Sequences`."""
        return None if self.sequences is None else self.sequences.query_of

    def users_of(self, codes: IntArray) -> IntArray:
        """Return the distinct users of user codes, which may be queries."""
        return codes if self.query_of is None else np.unique(self.query_of[codes])

    @cached_property
    def history(self) -> Interactions:
        """What is known of every user when lists are made: the training rows, then the fold-in rows."""
        if self.sequences is not None and self.query_of is not None:
            return self.train.with_users(self.sequences.rows.user_ids)
        return self.train if self.fold_in is None else self.train.followed_by(self.fold_in)

    @cached_property
    def before(self) -> Interactions | None:
        """The rows before the evaluated targets, the oldest first; None where rows have no order."""
        return None if self.sequences is None else self.sequences.before(self.evaluated, self.test)

    @cached_property
    def seen(self) -> "sparse.csr_array":
        """`history` as a matrix (n_users, n_items) that is read-only, made once for everybody.

        The row of a query is that of its user.
        """
        matrix = self.history.to_csr(copy=False)
        if self.query_of is not None:
            matrix = matrix[self.query_of]
        for array in (matrix.data, matrix.indices, matrix.indptr):
            array.flags.writeable = False
        return matrix

    @cached_property
    def past(self) -> "sparse.csr_array":
        """`seen`, and with a cut in time all else that comes before the evaluated targets."""
        if not self.has_cut or self.before is None:
            return self.seen
        return pairs_matrix(self.before.user, self.before.item, self.seen.shape)

    @property
    def has_cut(self) -> bool:
        """Whether rows that are in no part come before targets, since one cut in time is for everybody."""
        return self.sequences is not None and self.sequences.until_cut is not None

    @property
    def is_apart(self) -> bool:
        """Whether no held-out row has the (user, item) pair of another row."""
        held = [self.test] if self.has_cut else [self.validation, self.test]
        return apart(self.past, [part for part in held if part is not None])

    def cold_counts(self) -> dict[str, int]:
        """Return how many test rows, users and items lack what models learn from.

        A user is cold without a row in train or fold-in, an item without a row in train.
        """
        counts = self.history.user_counts()
        users = (self.test.user_counts() > 0) & (
            (counts if self.query_of is None else counts[self.query_of]) == 0
        )
        items = (self.test.item_counts() > 0) & (self.train.item_counts() == 0)
        return {
            "test_cold_users": int(users.sum()),
            "test_cold_user_rows": int(users[self.test.user].sum()),
            "test_cold_items": int(items.sum()),
            "test_cold_item_rows": int(items[self.test.item].sum()),
        }
