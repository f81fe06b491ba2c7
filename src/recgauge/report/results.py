"""Comparisons that show themselves: results of `recgauge.comparison` with tables and figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from recgauge.checks import checking
from recgauge.checks.checking import CheckResult
from recgauge.comparison import comparing, over_datasets, segments, stability
from recgauge.comparison.over_datasets import DatasetsResult
from recgauge.comparison.results import Comparison
from recgauge.comparison.segments import Segments
from recgauge.comparison.stability import Stability
from recgauge.report.blocks import render_markdown
from recgauge.report.check_tables import check_blocks, check_json, check_junit, check_markdown
from recgauge.report.comparison_tables import comparison_blocks, latex
from recgauge.report.html import render_html
from recgauge.report.segment_tables import segment_blocks
from recgauge.report.stability_tables import stability_blocks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.checks.checking import Source

P = ParamSpec("P")
Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class ShownDatasets(DatasetsResult):
    """A comparison over several data sets that draws itself."""

    def plot(self) -> "Figure":
        """Return the critical difference diagram."""
        from recgauge.report.figures.compared import critical_difference_diagram

        return critical_difference_diagram(self)


@dataclass(frozen=True, slots=True)
class ShownComparison(Comparison):
    """A comparison that shows itself."""

    def to_markdown(self) -> str:
        """Return the tables and claims in Markdown."""
        return render_markdown(comparison_blocks(self))

    def to_latex(self) -> str:
        """Return the tables in LaTeX (booktabs)."""
        return latex(self)

    def _repr_html_(self) -> str:
        return render_html(comparison_blocks(self, brief=True))

    def plot(self, metric: str | None = None, dataset: str | None = None) -> "Figure":
        """Return a figure of means and differences with their intervals.

        Parameters
        ----------
        metric, dataset : str, optional
            The first ones if not given.
        """
        from recgauge.report.figures.compared import forest

        return forest(self, metric, dataset)


@dataclass(frozen=True, slots=True)
class ShownSegments(Segments):
    """A comparison inside groups that shows itself."""

    def to_markdown(self) -> str:
        """Return the table in Markdown, with a sentence on who gains and who loses."""
        return render_markdown(segment_blocks(self))

    def _repr_html_(self) -> str:
        return render_html(segment_blocks(self))


@dataclass(frozen=True, slots=True, eq=False)
class ShownStability(Stability):
    """The stability of an order of models that shows itself."""

    def to_markdown(self) -> str:
        """Return a table of the choices and one of their options."""
        return render_markdown(stability_blocks(self))

    def _repr_html_(self) -> str:
        return render_html(stability_blocks(self))

    def plot(self) -> "Figure":
        """Draw how many pairs of models turn along each choice."""
        from recgauge.report.figures.compared import plot_stability

        return plot_stability(self)


@dataclass(frozen=True, slots=True)
class ShownCheck(CheckResult):
    """The verdicts of a check that show themselves."""

    def to_markdown(self) -> str:
        """Return a few lines for a pull request, with all verdicts folded away."""
        return check_markdown(self)

    def to_json(self) -> str:
        """Return everything as JSON, not rounded."""
        return check_json(self)

    def to_junit(self) -> str:
        """Return a test suite in JUnit's XML, a case for each rule and group."""
        return check_junit(self)

    def _repr_html_(self) -> str:
        return render_html(check_blocks(self))


def _as(kind: Callable[..., Shown], result: Any) -> Shown:
    return kind(**{field.name: getattr(result, field.name) for field in fields(result)})


def _showing(compute: Callable[P, Any], kind: Callable[..., Shown]) -> Callable[P, Shown]:

    @wraps(compute)
    def shown(*args: P.args, **kwargs: P.kwargs) -> Shown:
        return _as(kind, compute(*args, **kwargs))

    return shown


def _comparison(**parts: Any) -> ShownComparison:
    """Return a comparison whose ranks over data sets draw themselves, too."""
    of_datasets = tuple(_as(ShownDatasets, result) for result in parts["over_datasets"])
    return replace(ShownComparison(**parts), over_datasets=of_datasets)


def assert_not_worse(
    candidate: "Source",
    baseline: "Source",
    margins: "Mapping[str, float | str]",
    *,
    confidence: float = 0.95,
    undecided: Literal["fail", "pass"] = "fail",
) -> ShownCheck:
    """Fail a test unless a candidate is shown to be not worse than a baseline by more than margins.

    Parameters
    ----------
    candidate, baseline
        As of `check`.
    margins : mapping of str to float or str
        By metric, in its own units or as a share of the baseline's value: ``{"ndcg@10": "2%"}``.
    confidence : float
    undecided : {"fail", "pass"}
        What becomes of metrics that the users cannot decide.

    Returns
    -------
    ShownCheck

    Raises
    ------
    AssertionError
        With the verdicts, as `ShownCheck.to_markdown` writes them.
    ConfigError, SchemaError
        As of `check`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> old = pd.DataFrame({"user": range(50), "ndcg": np.linspace(0, 1, 50)}).set_index("user")
    >>> assert_not_worse(old + 0.01, old, {"ndcg": "2%"}).passed
    True
    """
    rules = {"not_worse": margins, "confidence": confidence, "undecided": undecided}
    result = check(candidate, baseline, rules)
    if not result.passed:
        raise AssertionError(result.to_markdown())
    return result


check = _showing(checking.check, ShownCheck)
compare = _showing(comparing.compare, _comparison)
compare_datasets = _showing(over_datasets.compare_datasets, ShownDatasets)
compare_item_groups = _showing(segments.compare_item_groups, ShownSegments)
compare_orders = _showing(stability.compare_orders, ShownStability)
compare_segments = _showing(segments.compare_segments, ShownSegments)
