"""What a data set is: interactions, what is known about items, and their source."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, SchemaError
from recgauge.utils.checks import IntArray, LongArray, check_choice, check_real

if TYPE_CHECKING:
    from scipy import sparse

Feedback = Literal["explicit", "implicit"]


@dataclass(frozen=True, slots=True, eq=False)
class ItemFeatures:
    """Binary or weighted features of items, such as genres.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array of float32, shape (n_items, n_features)
        Row i describes the item with code i.
    names : tuple of str, length n_features
    """

    matrix: "sparse.csr_array"
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.matrix.shape[1] != len(self.names):
            raise SchemaError(
                f"ItemFeatures: names must have {self.matrix.shape[1]} entries, one per column, "
                f"got {len(self.names)}."
            )


@dataclass(frozen=True, slots=True, eq=False)
class PublishedParts:
    """The (user, item) pairs of each part, over ids of their own; only the pairs count.

    Parameters
    ----------
    test : Interactions
    validation : Interactions or None
        None: there is no validation part.
    train : Interactions or None
        None: every pair in no other part is for training.
    """

    test: Interactions
    validation: Interactions | None = None
    train: Interactions | None = None

    @property
    def named(self) -> dict[str, Interactions]:
        """The parts that there are."""
        parts = {"test": self.test, "validation": self.validation, "train": self.train}
        return {name: part for name, part in parts.items() if part is not None}


@dataclass(frozen=True, slots=True, eq=False)
class PublishedSplits:
    """The published splits of a data set.

    Parameters
    ----------
    dataset : str
        Name of the data set, for messages.
    readers : mapping of str to callable
        Name of each split and what reads its parts.

    Examples
    --------
    >>> parts = PublishedParts(test=Interactions.from_ids(["ann"], ["x"]))
    >>> PublishedSplits("mine", {"only": lambda: parts}).read(None) is parts
    True
    """

    dataset: str
    readers: Mapping[str, Callable[[], PublishedParts]]

    def read(self, name: str | None) -> PublishedParts:
        """Return the parts of a split; None means the only one there is.

        Raises
        ------
        ConfigError
            If there is no such split, or None is requested and there are several.
        DataError
            If the publisher's files cannot be read.
        """
        names = list(self.readers)
        if name is None and len(names) == 1:
            name = names[0]
        if name is None or name not in self.readers:
            reason = "none is chosen" if name is None else f"there is no {name!r}"
            raise ConfigError(
                f"split=published: {self.dataset} has the published splits {', '.join(names)}, and {reason}. "
                f"Choose one with split.fold={names[0]}."
            )
        return self.readers[name]()


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Interactions with what is known about their items and their source.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and underscores.
    interactions : Interactions
    feedback : {"explicit", "implicit"}
        Whether `interactions.value` is a rating or only says that something happened.
    relevant_from : float or None
        Lowest rating that makes a held-out item relevant; None means that every row does.
    item_titles : ndarray of str, shape (n_items,), or None
    item_features : ItemFeatures or None
    scale : (float, float) or None
        Lowest and highest rating of the scale; None: those that occur. A filter that drops ratings keeps it.
    published : PublishedSplits or None
        The splits that the publisher made, as pairs of ids, which filters leave as they are.
    sha256 : str
        Digest of the file that was read, or of the rows where there is no file.
    provenance : str
        How far the file is known to be the publisher's, in words.
    source, licence : str
        Source and terms of the data.
    citation : str or None
        What publications must cite, if that is known.
    """

    name: str
    interactions: Interactions
    feedback: Feedback
    relevant_from: float | None
    sha256: str
    provenance: str
    source: str
    licence: str
    item_titles: npt.NDArray[Any] | None = None
    item_features: ItemFeatures | None = None
    scale: tuple[float, float] | None = None
    published: PublishedSplits | None = None
    citation: str | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9_]+", self.name):
            raise ConfigError(f"Dataset: name must match [a-z0-9_]+, got {self.name!r}.")
        check_choice("Dataset: feedback", self.feedback, get_args(Feedback))
        if self.relevant_from is not None:
            check_real("Dataset: relevant_from", self.relevant_from, low=-np.inf, high=np.inf)
        n_items = self.interactions.n_items
        for name, rows in (
            ("item_titles", self.item_titles),
            ("item_features", None if self.item_features is None else self.item_features.matrix),
        ):
            if rows is not None and rows.shape[0] != n_items:
                raise SchemaError(
                    f"Dataset: {name} must have {n_items} rows, one per item, got {rows.shape[0]}."
                )

    def __repr__(self) -> str:
        """Return name and counts, in one line."""
        relevant = "" if self.relevant_from is None else f", relevant from {self.relevant_from:g}"
        return f"Dataset({self.name}: {self.interactions.counts}; {self.feedback}{relevant})"

    def rating_scale(self) -> tuple[float, float]:
        """Return the lowest and the highest rating: the scale that predictions are clipped to.

        Raises
        ------
        ConfigError
            If feedback is implicit, so that there are no ratings.
        """
        if self.feedback != "explicit":
            raise ConfigError(
                f"Rating metrics: {self.name} has implicit feedback, so there are no ratings to predict. "
                "Choose an explicit data set, or measure lists: metrics=ranking."
            )
        if self.scale is not None:
            return self.scale
        return float(self.interactions.value.min()), float(self.interactions.value.max())

    def with_interactions(self, interactions: Interactions) -> "Dataset":
        """Return the data set over fewer rows, without the users and items that have none left.

        Parameters
        ----------
        interactions : Interactions
            Rows over the same ids as ``self.interactions``.

        Returns
        -------
        Dataset
            Codes, titles and features follow the ids that are left.
        """
        users = np.flatnonzero(interactions.user_counts())
        items = np.flatnonzero(interactions.item_counts())
        kept = Interactions(
            _new_codes(users, interactions.n_users)[interactions.user],
            _new_codes(items, interactions.n_items)[interactions.item],
            interactions.value,
            interactions.timestamp,
            interactions.user_ids[users],
            interactions.item_ids[items],
            interactions.attributes,
        )
        titles, features = self.item_titles, self.item_features
        return replace(
            self,
            interactions=kept,
            item_titles=None if titles is None else titles[items],
            item_features=None if features is None else ItemFeatures(features.matrix[items], features.names),
        )


def _new_codes(kept: LongArray, n_codes: int) -> IntArray:
    """Return for each old code its position among those kept; a table is faster than a search."""
    positions = np.zeros(n_codes, np.int32)
    positions[kept] = np.arange(len(kept), dtype=np.int32)
    return positions
