"""Does the order of models stay when a choice changes: the metric, the cutoff, the split, the seed, ..."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from recgauge.comparison.families import holm
from recgauge.comparison.orders import DECIMALS, AxisOrders, Stability
from recgauge.comparison.tests_of_pairs import paired_t
from recgauge.errors import ConfigError, SchemaError
from recgauge.utils.checks import DoubleArray, check_real


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
