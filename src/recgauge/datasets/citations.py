"""What publications must cite, by data set."""

from recgauge.data.dataset import Dataset
from recgauge.datasets._movielens_releases import RELEASES
from recgauge.datasets.gowalla import GOWALLA, GOWALLA_CITATION


def citation_of(dataset: Dataset) -> str | None:
    """Return what must be cited for the data set, None if recgauge does not know.

    Parameters
    ----------
    dataset : Dataset
        Recognised by name and source: a table of the user's own that is called like a release is not it.

    Examples
    --------
    >>> from recgauge.datasets.demo import Demo
    >>> citation_of(Demo().load()) is None
    True
    """
    if dataset.name == "gowalla" and dataset.source == GOWALLA.address:
        return GOWALLA_CITATION
    release = RELEASES.get(dataset.name)
    if release is None or dataset.source != release.file.address:
        return None
    return release.citation
