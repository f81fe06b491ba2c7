"""Does the order of models stay when a choice changes: the metric, the cutoff, the split, the seed, ..."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.tests_of_pairs import holm, paired_t
from recgauge.errors import ConfigError, SchemaError
from recgauge.report.shown import Shown
from recgauge.report.stability_tables import BEYOND_NOISE as BEYOND_NOISE
from recgauge.utils.checks import BoolArray, DoubleArray, check_real

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from recgauge.report.blocks import Block


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

    def is_shown(self, option: str) -> bool:
        """Whether the turn is beyond noise and an option is one that shows it."""
        return self.beyond_noise and option in self.shown_by


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
        from scipy import stats  # half a second of start-up

        pair = self.goodness[0], self.goodness[self.options.index(option)]
        if min(map(np.ptp, pair)) == 0:
            return nan, nan
        tau, weighted = stats.kendalltau(*pair).statistic, stats.weightedtau(*pair).statistic
        return round(float(tau), DECIMALS), round(float(weighted), DECIMALS)

    def turns(self) -> tuple[Turn, ...]:
        """Return the pairs of models that change their order between any two options."""
        turns = []
        for first, second in combinations(range(len(self.models)), 2):
            directions, sure = self.directions[:, first, second], self.significant[:, first, second]
            if not {-1.0, 1.0} <= set(directions.tolist()):
                continue
            before = next(direction for direction in directions if direction)
            names = self.models[first], self.models[second]
            reverse = directions == -before
            turns.append(
                Turn(
                    *(names if before > 0 else names[::-1]),
                    options=self._named(reverse),
                    beyond_noise=bool((reverse & sure).any() and ((directions == before) & sure).any()),
                    shown_by=self._named(reverse & sure),
                )
            )
        return tuple(turns)

    def order_text(self, option: str) -> str:
        """Return the order of the models, such as ``svd > ease = item_knn``."""
        goodness = dict(zip(self.models, self.goodness[self.options.index(option)], strict=True))
        order = self.order(option)
        words = [order[0]]
        for before, model in pairwise(order):
            words += ["=" if goodness[before] == goodness[model] else ">", model]
        return " ".join(words)

    def turns_text(self, option: str) -> str:
        """Return which pairs an option turns, those beyond noise marked: ``svd above ease!``."""
        return "; ".join(
            f"{turn.worse} above {turn.better}{BEYOND_NOISE if turn.is_shown(option) else ''}"
            for turn in self.turns()
            if option in turn.options
        )

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
        return tuple(option for option, is_chosen in zip(self.options, chosen, strict=True) if is_chosen)


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
        """Return one row per choice and option: order, winner, agreement with the reference, turns."""
        import pandas as pd

        return pd.DataFrame(option_rows(self))

    def blocks(self, *, brief: bool = False) -> "list[Block]":
        """Return claims, the table of choices and that of options; `brief`: of options that turn a pair."""
        from recgauge.report.stability_tables import stability_blocks

        return stability_blocks(self, brief=brief)

    def plot(self) -> "Figure":
        """Draw how many pairs of models turn along each choice."""
        from recgauge.report.figures.compared import plot_stability

        return plot_stability(self)


def option_rows(stability: Stability) -> list[dict[str, Any]]:
    """Return one row per choice and option, not rounded.

    ``pairs_turned`` counts the pairs that the option has in another order than the reference,
    ``beyond_noise`` those of them that the option shows significantly, and another option the reverse.
    """
    return [_option_row(axis, option) for axis in stability.axes for option in axis.options]


def _option_row(axis: AxisOrders, option: str) -> dict[str, Any]:
    tau, weighted = axis.agreement(option)
    turns = [turn for turn in axis.turns() if option in turn.options]
    row: dict[str, Any] = {
        "choice": axis.axis,
        "option": option,
        "is_reference": option == axis.reference,
        "n_users": axis.n_users[axis.options.index(option)],
        "order": axis.order_text(option),
        "winner": axis.winner(option),
        "kendall_tau_b": None if isnan(tau) else tau,
        "weighted_tau": None if isnan(weighted) else weighted,
        "pairs": axis.n_pairs,
        "pairs_turned": len(turns),
        "beyond_noise": sum(turn.is_shown(option) for turn in turns),
        "turned": axis.turns_text(option),
    }
    values = axis.values[axis.options.index(option)]
    return row | {f"value_{model}": float(v) for model, v in zip(axis.models, values, strict=True)}


def compare_orders(
    axes: Mapping[str, Mapping[str, Any]],
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
    axes : mapping of str to mapping of str to values
        ``{choice: {option: per-user values}}``; the first option of a choice is its reference. Values are a
        data frame (a row per user, a column per model) or a mapping of model to an array of shape (m,), or to
        a series by user. Users without a value (NaN) for one of the models are left out.
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
        If a choice has fewer than two options or models, its options have different models, or no user has
        values for all models.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics,
    1979.

    Examples
    --------
    Two models and four users; what is best at a cutoff of 1 is worst at 5:

    >>> at_1 = {"a": [1.0, 1.0, 0.9, 1.0], "b": [0.0, 0.1, 0.0, 0.0]}
    >>> at_5 = {"a": [0.5, 0.4, 0.4, 0.5], "b": [0.9, 0.9, 0.9, 0.8]}
    >>> found = compare_orders({"cutoff": {"1": at_1, "5": at_5}})
    >>> found.axes[0].agreement("5")
    (-1.0, -1.0)
    >>> found.axes[0].other_winners()
    {'5': ('b', True)}
    """
    check_real("confidence", confidence, low=0.0, high=1.0, low_open=True)
    if not axes:
        raise ConfigError(
            "compare_orders: there is nothing to compare; pass at least one choice with two options."
        )
    return Stability(
        tuple(_axis(axis, options, lower_is_better, confidence) for axis, options in axes.items())
    )


def _axis(
    axis: str, options: Mapping[str, Any], lower: Collection[tuple[str, str]], confidence: float
) -> AxisOrders:
    tables = {option: _table(f"{axis}={option}", values) for option, values in options.items()}
    if len(tables) < 2:
        raise SchemaError(f"{axis}: there must be at least two options, got {', '.join(tables) or 'none'}.")
    models = next(iter(tables.values()))[0]
    for option, (names, _) in tables.items():
        if sorted(names) != sorted(models):
            raise SchemaError(
                f"{axis}={option}: every option must have the models {', '.join(models)}, got "
                f"{', '.join(names)}."
            )
    if len(models) < 2:
        raise SchemaError(f"{axis}: there must be at least two models, got {', '.join(models) or 'none'}.")
    columns = [table[:, [names.index(m) for m in models]] for names, table in tables.values()]
    return AxisOrders(
        axis,
        tuple(tables),
        tuple(models),
        np.array([table.mean(axis=0) for table in columns]),
        _adjusted(columns),
        tuple((axis, option) not in lower for option in tables),
        tuple(map(len, columns)),
        confidence,
    )


def _table(subject: str, values: Any) -> tuple[list[str], DoubleArray]:
    """Return the models and their values, shape (m, n_models), of users with a value for every model."""
    import pandas as pd

    try:
        frame = pd.DataFrame(values if hasattr(values, "columns") else dict(values))
        # sums of floats depend on their order, results must not depend on that of the users
        frame = frame.sort_index(key=lambda users: users.map(str)).dropna()
        table = frame.to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        raise SchemaError(
            f"{subject}: values must be a data frame with a column per model, or a mapping of model to "
            f"numbers for the same users ({error})."
        ) from error
    if len(table) == 0:
        raise SchemaError(f"{subject}: no user has a value for each of {', '.join(map(str, frame.columns))}.")
    return [str(name) for name in frame.columns], table


def _adjusted(tables: Sequence[DoubleArray]) -> DoubleArray:
    """Return p-values of all paired differences after Holm's correction, (n_options, n_models, n_models)."""
    n_models = tables[0].shape[1]
    first, second = np.triu_indices(n_models, 1)
    raw = np.array(
        [
            [_p_value(table[:, i] - table[:, j]) for i, j in zip(first, second, strict=True)]
            for table in tables
        ]
    )
    p = np.ones((len(tables), n_models, n_models))
    p[:, first, second] = p[:, second, first] = holm(raw.ravel()).reshape(raw.shape)
    return p


def _p_value(differences: DoubleArray) -> float:
    differences = np.round(differences, DECIMALS)
    if len(differences) < 2 or not differences.any():
        return 1.0
    if np.ptp(differences) == 0:
        return constant_p(len(differences))
    return paired_t(differences)


def constant_p(n: int) -> float:
    """Return the p-value of n equal differences, which have no t: that all n random signs are the same.

    Examples
    --------
    >>> constant_p(2), constant_p(10)
    (0.5, 0.001953125)
    """
    return min(1.0, 2 * 0.5**n)
