"""Which items of a list are relevant, and the policies: what an evaluation does where a formula is silent."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Literal

from recgauge.utils.checks import check_int, check_real, field_checks

NoRelevant = Literal["skip", "zero", "nan", "raise"]
NoPositiveGrade = Literal["same", NoRelevant]
NoList = Literal["zero", "skip", "nan", "raise"]
TieOrder = Literal["stable", "item_code", "id_descending", "average", "random", "expected"]
Duplicates = Literal["error", "first", "every", "distinct"]
ListsOf = Literal["all", "relevant"]
Rounding = Literal["numpy", "printf"]
ScorePrecision = Literal["double", "single"]

QUIET = ("no_positive_grade", "rounding", "score_precision")
"""Shown only where they are not at their default."""


@dataclass(frozen=True)
class Policies:
    """Decisions that hold for a whole evaluation and change every number.

    Parameters
    ----------
    no_relevant : {"skip", "zero", "nan", "raise"}, default "skip"
        A user without relevant items: left out and counted; counts as a user whose list hits nothing;
        undefined, so NaN for the user and left out of the mean; or an error that names the user.
    no_positive_grade : {"same", "skip", "zero", "nan", "raise"}, default "same"
        A user with judged rows none of which is relevant, all grades being below `threshold`: as
        `no_relevant` says, or something else; that policy then is only for users without any judged row.
        In a run every test row is judged, and those below ``dataset.relevant_from`` have grade 0.
    no_list : {"zero", "skip", "nan", "raise"}, default "zero"
        A user with relevant items and no list. ``zero``: counts with an empty list.
    ties : {"stable", "item_code", "id_descending", "average", "random", "expected"}, default "stable"
        The order of items with equal scores. ``stable``: as given, which in a run is ``item_code``, the
        lower code first; ``id_descending``: the higher first; ``average``: they share their ranks (DCG
        and nDCG average over the ranks, average precision takes the last one, other metrics keep the
        order as given); ``random``: shuffled with the seed; ``expected``: each metric's expected value
        over all orders of equal scores, exact where a formula is known, else the mean over `draws` random
        orders. The last two count what ties with the end of a list and did not fit in, which lists from
        outside do not tell. Only acts where scores are known.
    duplicates : {"error", "first", "every", "distinct"}, default "error"
        A repeated item in a list: refused; a hit only at its first rank; a hit at every rank, so that
        values above 1 appear; or each rank is another item, so that a user has one more relevant item for
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

    no_relevant: NoRelevant = "skip"
    no_positive_grade: NoPositiveGrade = "same"
    no_list: NoList = "zero"
    ties: TieOrder = "stable"
    duplicates: Duplicates = "error"
    lists_of: ListsOf = "all"
    threshold: float = 1.0
    round: int | None = None
    rounding: Rounding = "numpy"
    round_mean: int | None = None
    draws: int = 32
    score_precision: ScorePrecision = "double"

    def __post_init__(self) -> None:
        for name, check in field_checks(Policies).items():
            check(f"Policies: {name}", getattr(self, name))
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
        """Return what a definition's text says about policies: what differs from `base`, and random ties."""
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
    def for_none_relevant(self) -> NoRelevant:
        """What happens to a user with judged rows none of which is relevant."""
        return self.no_relevant if self.no_positive_grade == "same" else self.no_positive_grade
