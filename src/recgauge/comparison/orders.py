"""The order of models under the options of a choice: values, turns, winners, agreement."""

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from recgauge.utils.checks import BoolArray, DoubleArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

DECIMALS = 12  # means closer than this are equal: sums in another order differ by less


@dataclass(frozen=True, slots=True)
class Turn:
    """Two models whose order is not the same under all options of a choice.

    Parameters
    ----------
    better, worse : str
        Their order under the reference, or under the first option that tells them apart.
    options : tuple of str
        Options under which `worse` is above `better`.
    beyond_noise : bool
        Whether one option shows `better` above `worse` and another the reverse, both significantly after
        correction.
    shown_by : tuple of str
        Those of `options` whose difference is significant by itself.
    """

    better: str
    worse: str
    options: tuple[str, ...]
    beyond_noise: bool
    shown_by: tuple[str, ...]


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
        found: BoolArray = self.p <= round(1.0 - self.confidence, DECIMALS)
        return found

    def order(self, option: str) -> list[str]:
        """Return the models from best to worst; equal ones in the order of the reference."""
        rank = np.argsort(-self.goodness[0], kind="stable")
        row = self.goodness[self.options.index(option)][rank]
        return [self.models[rank[index]] for index in np.argsort(-row, kind="stable")]

    def agreement(self, option: str) -> tuple[float, float]:
        """Return Kendall's tau-b and the weighted tau between the reference and an option.

        Both are 1 for the same order and -1 for the reverse. The weighted tau counts an exchange between
        ranks r and s with 1 / r + 1 / s, r and s from 1, as the mean over both orders' ranks: what happens
        at the top counts most. NaN where one side has all models equal.

        References
        ----------
        M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 1945;
        S. Vigna, "A weighted correlation index for rankings with ties", WWW 2015.
        """
        first, other = self.goodness[0], self.goodness[self.options.index(option)]
        if min(np.ptp(first), np.ptp(other)) == 0:
            return float("nan"), float("nan")
        both = [_tau(first, other, _from_top(*pair)) for pair in ((first, other), (other, first))]
        return round(_tau(first, other), DECIMALS), round(sum(both) / 2, DECIMALS)

    def turns(self) -> tuple[Turn, ...]:
        """Return the pairs of models that change their order between any two options."""
        found = []
        for first, second in combinations(range(len(self.models)), 2):
            directions, sure = self.directions[:, first, second], self.significant[:, first, second]
            if not {-1.0, 1.0} <= set(directions.tolist()):
                continue
            before = next(direction for direction in directions if direction)
            names = self.models[first], self.models[second]
            reverse = directions == -before
            found.append(
                Turn(
                    *(names if before > 0 else names[::-1]),
                    options=self._named(reverse),
                    beyond_noise=bool((reverse & sure).any() and ((directions == before) & sure).any()),
                    shown_by=self._named(reverse & sure),
                )
            )
        return tuple(found)

    def winner(self, option: str) -> str:
        """Return the best model; among equal ones the one that is best under the reference."""
        return self.order(option)[0]

    def other_winners(self) -> dict[str, tuple[str, bool]]:
        """Return ``{option: (winner, beyond noise)}`` of the options whose winner is not the reference's.

        Beyond noise: the option shows its winner above the reference's winner, and another option shows the
        reverse, both significantly after correction.
        """
        best = self.winner(self.reference)
        sure = {(turn.better, turn.worse): turn.shown_by for turn in self.turns() if turn.beyond_noise}
        named = {option: self.winner(option) for option in self.options}
        return {
            option: (model, option in sure.get((best, model), ()))
            for option, model in named.items()
            if model != best
        }

    def _named(self, chosen: BoolArray) -> tuple[str, ...]:
        return tuple(option for option, one in zip(self.options, chosen.tolist(), strict=True) if one)


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
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
        """Return one row per choice and option: order, winner, agreement with the reference, turns."""
        import pandas as pd

        from recgauge.report.stability_tables import option_rows

        return pd.DataFrame(option_rows(self))

    def to_markdown(self) -> str:
        """Return a table of the choices and one of their options."""
        from recgauge.report.stability_tables import markdown

        return markdown(self)

    def _repr_html_(self) -> str:
        from recgauge.report.html_tables import html_table
        from recgauge.report.stability_tables import HEADER, claims, explanation, summary_rows

        return html_table(summary_rows(self), HEADER, [*claims(self), explanation(self)])

    def plot(self) -> "Figure":
        """Draw how many pairs of models turn along each choice."""
        from recgauge.report.figures.stability import plot_stability

        return plot_stability(self)


def _tau(first: DoubleArray, other: DoubleArray, weights: DoubleArray | None = None) -> float:
    """Return Kendall's tau-b of two orders, each pair of models counted with its weight."""
    a, b = (np.sign(values[:, None] - values) for values in (first, other))
    of = 1.0 if weights is None else weights
    return float((of * a * b).sum() / np.sqrt((of * a**2).sum() * (of * b**2).sum()))


def _from_top(first: DoubleArray, second: DoubleArray) -> DoubleArray:
    """Return the weight of each pair: 1 / rank of both, best first, ties parted by the second values."""
    share = np.empty(len(first))
    share[np.lexsort((second, first))[::-1]] = 1 / np.arange(1, len(first) + 1)
    weights: DoubleArray = share[:, None] + share
    return weights
