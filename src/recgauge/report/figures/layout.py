"""Room for the labels of a figure."""

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine


def renderer_of(figure: Figure) -> RendererAgg:
    """Return what tells how large the texts of a figure are."""
    width, height = figure.get_size_inches() * figure.dpi
    return RendererAgg(width, height, figure.dpi)


class Margins(ConstrainedLayoutEngine):
    """Makes room for labels, measured once: half of drawing a small figure is matplotlib measuring again.

    A figure with a legend outside its panels is laid out by matplotlib.
    """

    _PAD, _BETWEEN = 0.055, 0.25  # inches around the figure, and between panels beside each other
    _settled: tuple[float, float] | None = None

    def execute(self, fig: Figure) -> None:
        """Move the panels of a figure, unless that was done at this size."""
        size = (float(fig.get_figwidth()), float(fig.get_figheight()))
        if fig.legends:
            super().execute(fig)
        elif self._settled != size:
            self._fit(fig)
            self._settled = size

    def _fit(self, fig: Figure) -> None:
        renderer = renderer_of(fig)
        width, height = fig.get_size_inches()
        rooms = []  # of every panel: what its labels take on the left, below, on the right, above; inches
        for axes in fig.axes:
            inner = axes.get_window_extent(renderer)
            outer = axes.get_tightbbox(renderer, for_layout_only=True) or inner
            ends = (inner.x0 - outer.x0, inner.y0 - outer.y0, outer.x1 - inner.x1, outer.y1 - inner.y1)
            rooms.append([max(0.0, float(end)) / fig.dpi for end in ends])
        below = self._text(fig, fig.get_supxlabel(), renderer)
        above = self._text(fig, fig.get_suptitle(), renderer, top=True)
        below, above = (
            edge + max(room[side] for room in rooms) + self._PAD for edge, side in ((below, 1), (above, 3))
        )
        taken = sum(room[0] + room[2] for room in rooms) + self._BETWEEN * (len(rooms) - 1) + 2 * self._PAD
        across, down = max(0.2 * width, width - taken) / len(rooms), max(0.2 * height, height - below - above)
        left = self._PAD
        for axes, room in zip(fig.axes, rooms, strict=True):
            left += room[0]
            axes.set_position((left / width, below / height, across / width, down / height))
            left += across + room[2] + self._BETWEEN
            self._keep_inside(axes, renderer)

    def _keep_inside(self, axes: Axes, renderer: RendererAgg) -> None:
        """Move the label below a panel to the left as far as it would leave the figure on the right."""
        label, figure = axes.xaxis.label, axes.figure
        if not label.get_text():
            return
        over = label.get_window_extent(renderer).x1 + self._PAD * figure.dpi - figure.bbox.x1
        if over > 0:
            label.set_x(label.get_position()[0] - over / axes.get_window_extent(renderer).width)

    def _text(self, fig: Figure, words: str, renderer: RendererAgg, *, top: bool = False) -> float:
        """Move a text of the whole figure to its edge; return the inches that it takes there."""
        text = next((text for text in fig.texts if words and text.get_text() == words), None)
        if text is None:
            return 0.0
        pad = self._PAD / fig.get_figheight()
        text.set_y(1 - pad if top else pad)
        return float(text.get_window_extent(renderer).height) / fig.dpi + 1.5 * self._PAD
