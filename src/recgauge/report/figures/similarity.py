"""How different users' lists are, and how alike the items of a list: two panels of bars."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from recgauge.errors import MetricError
from recgauge.report.figures._bars import bar_height, draw_bars
from recgauge.report.figures.style import look, new_figure


def plot_personalization_and_similarity(
    personalization: Mapping[str, float],
    intra_list_similarity: Mapping[str, float],
    *,
    title: str | None = "Personalization and intra-list similarity",
) -> Figure:
    """Draw both numbers of each model side by side.

    Parameters
    ----------
    personalization : mapping of str to float
        One minus the mean similarity of two users' lists: 0 if all get the same list.
    intra_list_similarity : mapping of str to float
        Mean similarity of two items of a list: 1 if all are alike.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MetricError
        If the two are not of the same labels, or a number is not finite.

    Notes
    -----
    What recmetrics' personalization_plot and intra_list_similarity_plot draw.

    Examples
    --------
    >>> figure = plot_personalization_and_similarity({"svd": 0.9, "pop": 0.1}, {"svd": 0.3, "pop": 0.2})
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['personalization', 'intra-list similarity']
    """
    if personalization.keys() != intra_list_similarity.keys():
        raise MetricError(
            "plot_personalization_and_similarity: both need the same labels, got "
            f"{', '.join(personalization) or 'none'} and {', '.join(intra_list_similarity) or 'none'}."
        )
    similarity = {label: intra_list_similarity[label] for label in personalization}
    with look():
        figure, panels = new_figure(title, height=bar_height(len(personalization)), panels=2)
        for place, (name, values) in enumerate(
            (("personalization", personalization), ("intra-list similarity", similarity))
        ):
            draw_bars(
                panels[place],
                "plot_personalization_and_similarity",
                values,
                text=lambda value: f"{value:.3f}",
                highest=1.0,
                names=place == 0,
            )
            panels[place].set_xticks([0, 0.25, 0.5, 0.75, 1.0])
            panels[place].set_xlabel(name)
    return figure
