"""Gowalla check-ins with the split that NGCF and LightGCN were measured on."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from recgauge.data.dataset import Dataset, PublishedParts, PublishedSplits
from recgauge.data.interactions import Interactions
from recgauge.datasets import About
from recgauge.datasets.archives import PAIRS, ArchiveSource, read_members
from recgauge.datasets.published_files import REZIPPED, PublishedFile
from recgauge.utils.progress import Progress

TRAIN, TEST = "gowalla/train.txt", "gowalla/test.txt"

GOWALLA = PublishedFile(
    filename="gowalla.zip",
    address="https://github.com/kuandeng/LightGCN/tree/master/Data/gowalla",
    size=0,
    sha256="",
    members={
        TRAIN: "0f086326b28a56c2e6dcb81d86ee72d4ccb7eed3a8d26788392356d8f51111cc",
        TEST: "099a2a73924e4b754dc6efd730d764f492321b53c38eb93298850c83acf57be3",
    },
    by_hand=(
        "Download train.txt and test.txt from https://github.com/kuandeng/LightGCN/tree/master/Data/gowalla "
        "into a folder gowalla, pack the folder (zip -r gowalla.zip gowalla),"
    ),
)

CITATION = (
    'E. Cho, S. A. Myers, J. Leskovec, "Friendship and mobility: user movement in location-based social '
    'networks", KDD 2011; for the split: X. Wang et al., "Neural graph collaborative filtering", SIGIR 2019.'
)


@dataclass(frozen=True)
class Gowalla(ArchiveSource):
    """Gowalla: 29,858 users, 40,981 places, 1,027,370 check-ins; implicit, without times.

    Parameters
    ----------
    mirror, cache, archive, sha256, offline
        As of :class:`Locations`.

    Raises
    ------
    ConfigError
        If a parameter is not valid.

    Notes
    -----
    The rows are those of train.txt, then those of test.txt (810,128 and 217,242), each in the file's order.
    ``Dataset.published`` has the one split that these files are: choose it with ``split=published``. It has
    no validation part, so figures published for it were selected on test. No archive of the two files is
    offered by the publisher; one is accepted if they have the known sha256.

    References
    ----------
    .. [1] X. Wang, X. He, M. Wang, F. Feng, T.-S. Chua, "Neural graph collaborative filtering", SIGIR 2019.
    .. [2] X. He, K. Deng, X. Wang, Y. Li, Y. Zhang, M. Wang, "LightGCN: simplifying and powering graph
       convolution network for recommendation", SIGIR 2020.
    .. [3] E. Cho, S. A. Myers, J. Leskovec, "Friendship and mobility: user movement in location-based social
       networks", KDD 2011.

    Examples
    --------
    >>> Gowalla(offline="maybe")
    Traceback (most recent call last):
    recgauge.errors.ConfigError: Gowalla: offline must be true or false, got 'maybe'.
    """

    @property
    def files(self) -> tuple[PublishedFile]:
        """The archive that somebody packed of the publisher's two files."""
        return (GOWALLA,)

    @classmethod
    def about(cls, settings: Mapping[str, Any]) -> About:  # noqa: ARG003 - contract
        """Return its counts, terms and archive."""
        return About(1_027_370, 29_858, 40_981, "not stated by the publisher", (GOWALLA,))

    def load(self, progress: Progress | None = None) -> Dataset:
        """Find, verify and read the archive.

        Raises
        ------
        MissingDataError
            If no location has the archive.
        IntegrityError
            If the archive is not what it should be, or is damaged.
        SchemaError
            If a pinned archive is not laid out as published.
        """
        (file,) = self.fetch_all(progress)
        provenance = file.provenance
        if provenance == REZIPPED:
            provenance = "the two files of the published split, by their sha256"
        return Dataset(
            name="gowalla",
            interactions=_read(file.path, TRAIN, TEST),
            feedback="implicit",
            relevant_from=None,
            sha256=file.sha256,
            provenance=provenance,
            source=GOWALLA.address,
            licence="not stated by the publisher; check-ins collected by SNAP, cite Cho et al. 2011",
            citation=CITATION,
            published=PublishedSplits("gowalla", {"lightgcn": partial(_held_out, file.path)}),
        )


def _held_out(path: Path) -> PublishedParts:
    return PublishedParts(test=_read(path, TEST))


def _read(path: Path, *members: str) -> Interactions:
    return read_members(path, members, PAIRS, form="user_lines")
