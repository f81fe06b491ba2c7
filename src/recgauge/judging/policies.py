"""What an evaluation does with users, ties and repeated items where a formula is silent."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from recgauge.utils.checks import check_choice, check_int, check_real

NO_RELEVANT = ("skip", "zero", "nan", "raise")
NO_POSITIVE_GRADE = ("same", *NO_RELEVANT)
NO_LIST = ("zero", "skip", "nan", "raise")
TIES = ("stable", "item_code", "id_descending", "average", "random", "expected")
DUPLICATES = ("error", "first", "every", "distinct")
LISTS_OF = ("all", "relevant")
ROUNDING = ("numpy", "printf")
SCORE_PRECISION = ("double", "single")
QUIET = ("no_positive_grade", "rounding", "score_precision")
"""Shown only where they are not at their default."""


@dataclass(frozen=True)
class Policies:
    """Decisions that hold for a whole evaluation and change every number.

    Parameters
    ----------
    no_relevant : {"skip", "zero", "nan", "raise"}, default "skip"
        A user without relevant items: left out and counted; counts as a user whose list hits nothing;
        undefined, so NaN beside the user and left out of the mean; or an error that names the user.
    no_positive_grade : {"same", "skip", "zero", "nan", "raise"}, default "same"
        A user with judged rows none of which is relevant, all grades being below `threshold`: as
        `no_relevant` says, or something else; that policy then is only for users without any judged row.
        In a run every test row is judged, and those below ``dataset.relevant_from`` have grade 0.
    no_list : {"zero", "skip", "nan", "raise"}, default "zero"
        A user with relevant items and no list. ``zero``: counts with an empty list.
    ties : {"stable", "item_code", "id_descending", "average", "random", "expected"}, default "stable"
        The order of items with equal scores. ``stable``: as given, which in a run is ``item_code``, the
        lower code first; ``id_descending``: the higher first; ``average``: they share their places (DCG
        and nDCG average over the places, average precision takes the last one, other metrics keep the
        order as given); ``random``: shuffled with the seed; ``expected``: each metric's expected value
        over all orders of equal scores, exact where a formula is known, else the mean over `draws` random
        orders. The last two count what ties with the end of a list and did not fit in, which lists from
        outside do not tell. Only acts where scores are known.
    duplicates : {"error", "first", "every", "distinct"}, default "error"
        An item twice in a list: refused; a hit only at its first place; a hit at every place, so that
        values above 1 appear; or each place another item, so that a user has one more relevant item for
        every repeat of one.
    lists_of : {"all", "relevant"}, default "all"
        Whose lists count for metrics that look at lists only, such as coverage or novelty: everybody's, or
        only those of users with relevant items.
    threshold : float, default 1.0
        Lowest grade that is relevant; lower grades count as irrelevant. 0: every grade above 0 is relevant.
    round : int or None, default None
        Decimals of each user's value.
    rounding : {"numpy", "printf"}, default "numpy"
        How a user's value is rounded: as ``numpy.round``, which multiplies first, so that 0.003125 gives
        0.00312; or to the nearest decimal of the binary number itself, as C prints it: 0.00313.
    round_mean : int or None, default None
        Decimals of the mean.
    draws : int, default 32
        Random orders where ties are ``expected``, for metrics without a formula.
    score_precision : {"double", "single"}, default "double"
        What counts as equal scores: ``single``, those that are equal as 32-bit numbers.

    Raises
    ------
    ConfigError
        If a value is unknown; the message lists the valid ones.

    Examples
    --------
    >>> Policies(no_relevant="zero").definition()
    'no_relevant=zero, no_list=zero, ties=stable, duplicates=error, lists_of=all, threshold=1'
    """

    no_relevant: str = "skip"
    no_positive_grade: str = "same"
    no_list: str = "zero"
    ties: str = "stable"
    duplicates: str = "error"
    lists_of: str = "all"
    threshold: float = 1.0
    round: int | None = None
    rounding: str = "numpy"
    round_mean: int | None = None
    draws: int = 32
    score_precision: str = "double"

    def __post_init__(self) -> None:
        check_choice("Policies: no_relevant", self.no_relevant, NO_RELEVANT)
        check_choice("Policies: no_positive_grade", self.no_positive_grade, NO_POSITIVE_GRADE)
        check_choice("Policies: no_list", self.no_list, NO_LIST)
        check_choice("Policies: ties", self.ties, TIES)
        check_choice("Policies: duplicates", self.duplicates, DUPLICATES)
        check_choice("Policies: lists_of", self.lists_of, LISTS_OF)
        check_choice("Policies: rounding", self.rounding, ROUNDING)
        check_choice("Policies: score_precision", self.score_precision, SCORE_PRECISION)
        check_real("Policies: threshold", self.threshold, low=0.0, high=float("inf"))
        check_int("Policies: draws", self.draws, minimum=1)
        for name in ("round", "round_mean"):
            if getattr(self, name) is not None:
                check_int(f"Policies: {name}", getattr(self, name), minimum=0)

    def definition(self) -> str:
        """Return the canonical text; what few conventions set appears only where it is set."""
        hidden = {f.name for f in fields(self) if f.name in QUIET and getattr(self, f.name) == f.default}
        if self.ties != "expected":
            hidden.add("draws")
        return ", ".join(self._texts(f.name for f in fields(self) if f.name not in hidden))

    def note_beside(self, base: "Policies") -> str:
        """Return what a definition's text says of policies: what differs from `base`, and random ties."""
        changes = self.differences(base)
        if self.ties in ("random", "expected") and self.ties == base.ties:
            changes = f"ties={self.ties}" + (f", {changes}" if changes else "")
        return f" [{changes}]" if changes else ""

    def differences(self, other: "Policies") -> str:
        """Return the text of what differs from `other`, empty if nothing does.

        Examples
        --------
        >>> Policies(no_list="skip").differences(Policies())
        'no_list=skip'
        """
        names = (f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name))
        return ", ".join(self._texts(names))

    def _texts(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            value = getattr(self, name)
            if value is not None:
                yield f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"

    @property
    def for_none_relevant(self) -> str:
        """What happens to a user with judged rows none of which is relevant."""
        return self.no_relevant if self.no_positive_grade == "same" else self.no_positive_grade
