"""Splits that a publisher made of a data set: pairs of ids, read when they are requested."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError


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
            asked = "none is chosen" if name is None else f"there is no {name!r}"
            raise ConfigError(
                f"split=published: {self.dataset} has the published splits {', '.join(names)}, and {asked}. "
                f"Choose one with split.fold={names[0]}."
            )
        return self.readers[name]()
