"""Does the order of models stay when a choice changes: the metric, the cutoff, the split, the seed, ..."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.tests_of_pairs import holm, paired_t
from recgauge.errors import SchemaError, listed
from recgauge.report.shown import Shown
from recgauge.report.stability_tables import BEYOND_NOISE as BEYOND_NOISE
from recgauge.utils.checks import BoolArray, DoubleArray, check_real

if TYPE_CHECKING:
    import pandas as pd

    from recgauge.report.blocks import Block


DECIMALS = 12  # means closer than this are equal: sums in another order differ by less


@dataclass(frozen=True, slots=True, eq=False)
class AxisOrders:
    """The order of the same models under every option of one choice.

    Parameters
    ----------
    axis : str
        The choice, such as ``cutoff``.
    options : tuple of str
        The reference first.
    models : tuple of str
    values : ndarray of float64, shape (n_options, n_models)
        Means over users.
    p : ndarray of float64, shape (n_options, n_models, n_models)
        p-values of the paired differences, adjusted over all options and pairs; symmetric.
    higher_is_better : tuple of bool, length n_options
    n_users : tuple of int, length n_options
        Users with a value for every model.
    confidence : float
        A difference is significant if its adjusted p-value is at most ``1 - confidence``.
    """

    axis: str
    options: tuple[str, ...]
    models: tuple[str, ...]
    values: DoubleArray
    p: DoubleArray
    higher_is_better: tuple[bool, ...]
    n_users: tuple[int, ...]
    confidence: float = 0.95

    @property
    def reference(self) -> str:
        """The option that others are compared with."""
        return self.options[0]

    @property
    def n_pairs(self) -> int:
        """Number of pairs of models."""
        return len(self.models) * (len(self.models) - 1) // 2

    @property
    def goodness(self) -> DoubleArray:
        """Values with a sign such that higher is better, shape (n_options, n_models); rounded for ties."""
        sign = np.where(self.higher_is_better, 1.0, -1.0)
        return np.round(self.values * sign[:, None], DECIMALS)

    @property
    def directions(self) -> DoubleArray:
        """1 where the first model of a pair is better, -1 where it is worse, 0 where equal: (o, n, n)."""
        goodness = self.goodness
        return np.sign(goodness[:, :, None] - goodness[:, None, :])

    @property
    def significant(self) -> BoolArray:
        """Which differences are beyond noise, shape (n_options, n_models, n_models)."""
        # 1 - .95 is .050000000000000044
        below: BoolArray = self.p <= round(1.0 - self.confidence, DECIMALS)
        return below

    def _row(self, option: str) -> DoubleArray:
        """Return the goodness of the models under an option."""
        row: DoubleArray = self.goodness[self.options.index(option)]
        return row

    def order(self, option: str) -> list[str]:
        """Return the models from best to worst; equal ones in the order of the reference."""
        rank = np.lexsort((-self.goodness[0], -self._row(option)))
        return [self.models[place] for place in rank]

    def agreement(self, option: str) -> float:
        """Return Kendall's tau-b between the reference and an option; NaN where a side has all models equal.

        1 for the same order, -1 for the reverse.

        References
        ----------
        M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 1945.
        """
        from scipy import stats  # half a second of start-up

        pair = self.goodness[0], self._row(option)
        if min(map(np.ptp, pair)) == 0:
            return nan
        return round(float(stats.kendalltau(*pair).statistic), DECIMALS)

    def turns(self) -> tuple[BoolArray, BoolArray]:
        """Return which pairs turn, and which of them beyond noise, each of shape (o, n, n).

        An option turns a pair if it has another order than the first option that has one. Beyond noise: the
        option shows its order, and another option the reverse.
        """
        directions = self.directions
        place = np.argmax(directions != 0, axis=0)
        kept = directions * np.take_along_axis(directions, place[None], axis=0)
        shown = np.any((kept > 0) & self.significant, axis=0)
        turned: BoolArray = kept < 0
        surely: BoolArray = turned & self.significant & shown
        return turned, surely

    @property
    def n_turned(self) -> tuple[int, int]:
        """How many pairs turn between any two options, and how many of them beyond noise."""
        turned, surely = (int(chosen.any(axis=0).sum()) // 2 for chosen in self.turns())
        return turned, surely

    def order_text(self, option: str) -> str:
        """Return the order of the models, such as ``svd > ease = item_knn``."""
        goodness = dict(zip(self.models, self._row(option), strict=True))
        first, *rest = order = self.order(option)
        signs = ("=" if goodness[a] == goodness[b] else ">" for a, b in pairwise(order))
        return " ".join([first, *(f"{sign} {model}" for sign, model in zip(signs, rest, strict=True))])

    def turns_text(self, option: str) -> str:
        """Return which pairs an option turns, those beyond noise marked: ``svd above ease!``."""
        at = self.options.index(option)
        turned, surely = (chosen[at] for chosen in self.turns())
        above = np.argwhere(turned & (self.directions[at] > 0)).tolist()
        return "; ".join(
            f"{self.models[i]} above {self.models[j]}{BEYOND_NOISE if surely[i, j] else ''}"
            for i, j in sorted(above, key=sorted)
        )

    def winner(self, option: str) -> str:
        """Return the best model; among equal ones the one that is best under the reference."""
        return self.order(option)[0]

    def other_winners(self) -> dict[str, tuple[str, bool]]:
        """Return ``{option: (winner, beyond noise)}`` of the options whose winner is not the reference's.

        Beyond noise: the option shows its winner above the reference's winner, and another option shows the
        reverse, both significantly after correction.
        """
        (_, surely), best, at = self.turns(), self.winner(self.reference), self.models.index
        return {
            option: (model, bool(surely[place, at(model), at(best)]))
            for place, option in enumerate(self.options)
            if (model := self.winner(option)) != best
        }


@dataclass(frozen=True, slots=True, eq=False)
class Stability(Shown):
    """What becomes of the order of models along several choices.

    Parameters
    ----------
    axes : tuple of AxisOrders
    notes : tuple of str
        What was left out, and why.
    """

    axes: tuple[AxisOrders, ...]
    notes: tuple[str, ...] = ()

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per choice and option: order, winner, agreement with the reference, turned pairs.

        ``pairs_turned`` counts the pairs that the option has in another order than the reference,
        ``beyond_noise`` those of them that the option shows significantly, and another option the reverse.
        """
        import pandas as pd

        rows = []
        for axis in self.axes:
            turned, surely = (chosen.sum(axis=(1, 2)) // 2 for chosen in axis.turns())
            for place, option in enumerate(axis.options):
                row: dict[str, Any] = {
                    "choice": axis.axis,
                    "option": option,
                    "is_reference": option == axis.reference,
                    "n_users": axis.n_users[place],
                    "order": axis.order_text(option),
                    "winner": axis.winner(option),
                    "kendall_tau_b": axis.agreement(option),
                    "pairs": axis.n_pairs,
                    "pairs_turned": int(turned[place]),
                    "beyond_noise": int(surely[place]),
                    "turned": axis.turns_text(option),
                }
                values = zip(axis.models, axis.values[place].tolist(), strict=True)
                rows.append(row | {f"value_{model}": value for model, value in values})
        return pd.DataFrame(rows)

    def blocks(self, *, brief: bool = False) -> "list[Block]":  # noqa: ARG002 - always short
        """Return the table of choices and notes."""
        from recgauge.report.blocks import lines
        from recgauge.report.stability_tables import choice_table

        return [choice_table(self), *lines(self.notes, "notes")]


def compare_orders(
    axes: Mapping[str, Mapping[str, "pd.DataFrame"]],
    *,
    lower_is_better: Collection[tuple[str, str]] = (),
    confidence: float = 0.95,
) -> Stability:
    """Compare the order of models under the options of each choice.

    A pair of models *turns* if two options of a choice put it in opposite orders. The turn is *beyond noise*
    if one option shows the one order and another option the reverse, both by a paired t-test over users
    whose p-value, adjusted by Holm's method over all options and pairs of the choice, is at most
    ``1 - confidence``. A turn within noise may come from the choice, or from the users who happen to be in
    the test part.

    Parameters
    ----------
    axes : mapping of str to mapping of str to pandas.DataFrame
        ``{choice: {option: values}}``, a row per user and a column per model, the same models under every
        option; the first option of a choice is its reference. Users without a value (NaN) for one of the
        models are left out.
    lower_is_better : collection of (str, str)
        Choice and option whose values are losses: the lower, the better.
    confidence : float
        In (0, 1).

    Returns
    -------
    Stability

    Raises
    ------
    SchemaError
        If under an option no user has values for all models.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics,
    1979.

    Examples
    --------
    Two models and four users; what is best at a cutoff of 1 is worst at 5:

    >>> import pandas as pd
    >>> at_1 = pd.DataFrame({"a": [1.0, 1.0, 0.9, 1.0], "b": [0.0, 0.1, 0.0, 0.0]})
    >>> at_5 = pd.DataFrame({"a": [0.5, 0.4, 0.4, 0.5], "b": [0.9, 0.9, 0.9, 0.8]})
    >>> found = compare_orders({"cutoff": {"1": at_1, "5": at_5}})
    >>> found.axes[0].agreement("5")
    -1.0
    >>> found.axes[0].other_winners()
    {'5': ('b', True)}
    """
    check_real("confidence", confidence, low=0.0, high=1.0, low_open=True)
    return Stability(
        tuple(_axis(axis, options, lower_is_better, confidence) for axis, options in axes.items())
    )


def _axis(
    axis: str, options: Mapping[str, "pd.DataFrame"], lower: Collection[tuple[str, str]], confidence: float
) -> AxisOrders:
    models = list(next(iter(options.values())).columns)
    tables: list[DoubleArray] = []
    for option, frame in options.items():
        # sums of floats depend on their order, results must not depend on that of the users
        users = frame.sort_index(key=lambda index: index.map(str)).dropna()
        if users.empty:
            raise SchemaError(f"{axis}={option}: no user has a value for each of {listed(models)}.")
        tables.append(users[models].to_numpy(np.float64))
    return AxisOrders(
        axis,
        tuple(options),
        tuple(models),
        np.array([table.mean(axis=0) for table in tables]),
        _adjusted(tables),
        tuple((axis, option) not in lower for option in options),
        tuple(map(len, tables)),
        confidence,
    )


def _adjusted(tables: Sequence[DoubleArray]) -> DoubleArray:
    """Return p-values of all paired differences after Holm's correction, (n_options, n_models, n_models)."""
    n_models = tables[0].shape[1]
    first, second = np.triu_indices(n_models, 1)
    raw = [_p_value(change) for table in tables for change in (table[:, first] - table[:, second]).T]
    p = np.ones((len(tables), n_models, n_models))
    p[:, first, second] = p[:, second, first] = holm(raw).reshape(len(tables), -1)
    return p


def _p_value(differences: DoubleArray) -> float:
    differences = np.round(differences, DECIMALS)
    if len(differences) < 2 or not differences.any():
        return 1.0
    return constant_p(len(differences)) if np.ptp(differences) == 0 else paired_t(differences)


def constant_p(n: int) -> float:
    """Return the p-value of n equal differences, which have no t: that all n random signs are the same.

    Examples
    --------
    >>> constant_p(2), constant_p(10)
    (0.5, 0.001953125)
    """
    return min(1.0, 2 * 0.5**n)
