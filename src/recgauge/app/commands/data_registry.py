"""What is known of each data set before anything is loaded: counts, archive, terms, whether it is here."""

from dataclasses import dataclass
from pathlib import Path

from recgauge.app.terminal.explain import group_options
from recgauge.datasets._fetch.places import Places, is_address
from recgauge.datasets._fetch.published import PublishedFile
from recgauge.datasets._movielens_releases import RELEASES
from recgauge.datasets.demo import N_ITEMS, N_RATINGS, N_USERS
from recgauge.datasets.gowalla import GOWALLA
from recgauge.utils.files import user_path

_NO_COPIES, _SEE_README = "research only, no redistribution", "research only, see its README"


@dataclass(frozen=True)
class Entry:
    """A data set in the list.

    Parameters
    ----------
    name : str
        Of its config file.
    counts : tuple of int or None
        Rows, users, and items with rows, each None where not known.
    terms : str
        In few words; the data card has them in full.
    file : PublishedFile or None
        The publisher's archive.
    """

    name: str
    counts: tuple[int | None, int | None, int | None] = (None, None, None)
    terms: str = ""
    file: PublishedFile | None = None


# Counts of ml_10m and ml_25m as their readers report them (konect.cc has the first); of ml_32m only the
# number of listed movies is known, not how many are rated. Tests check those whose archives they read.
_COUNTS_AND_TERMS: dict[str, tuple[int, int, int | None, str]] = {
    "demo": (N_RATINGS, N_USERS, N_ITEMS, "MIT"),
    "ml_100k": (100_000, 943, 1_682, _NO_COPIES),
    "ml_latest_small": (100_836, 610, 9_724, "research only, share alike"),
    "gowalla": (1_027_370, 29_858, 40_981, "not stated by the publisher"),
    "ml_1m": (1_000_209, 6_040, 3_706, _NO_COPIES),
    "ml_10m": (10_000_054, 69_878, 10_677, _NO_COPIES),
    "ml_20m": (20_000_263, 138_493, 26_744, _NO_COPIES),
    "ml_25m": (25_000_095, 162_541, 59_047, _SEE_README),
    "ml_32m": (32_000_204, 200_948, None, _SEE_README),
}


_FILES = {"gowalla": GOWALLA} | {name: release.file for name, release in RELEASES.items()}


def entry(name: str) -> Entry:
    """Return what is known of a data set; of one that recgauge does not ship, only its name."""
    if name not in _COUNTS_AND_TERMS:
        return Entry(name, terms="your own" if name == "table" else "")
    rows, users, items, terms = _COUNTS_AND_TERMS[name]
    return Entry(name, (rows, users, items), terms, _FILES.get(name))


def entries() -> list[Entry]:
    """Return every data set with a config file, the smallest first, those of unknown size last."""
    found = [entry(name) for name in group_options("dataset")]
    return sorted(found, key=lambda one: (one.counts[0] is None, one.counts[0] or 0, one.name))


def place_of(file: PublishedFile, places: Places) -> tuple[str, Path] | None:
    """Return the first local place that a run would take the archive from, without looking into the file.

    Parameters
    ----------
    file : PublishedFile
    places : Places

    Returns
    -------
    (str, Path) or None
        "archive", "cache" or "mirror", and the path; None if it would have to be downloaded.
    """
    if places.archive is not None:
        return "archive", user_path(places.archive)
    folders = [("cache", places.cache_folder)]
    folders += [("mirror", user_path(mirror)) for mirror in places.mirrors if not is_address(mirror)]
    for owner, folder in folders:
        if (folder / file.filename).is_file():
            return owner, folder / file.filename
    return None
