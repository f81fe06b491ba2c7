"""Names for the items and genres of the demo data set."""

from typing import Any

import numpy as np
import numpy.typing as npt

GENRES = (
    "Drama",
    "Comedy",
    "Thriller",
    "Action",
    "Romance",
    "Adventure",
    "Crime",
    "Science Fiction",
    "Fantasy",
    "Animation",
    "Mystery",
    "Documentary",
)
_FIRST = (
    "Silent", "Golden", "Broken", "Distant", "Hidden", "Crimson",
    "Winter", "Electric", "Paper", "Hollow", "Restless", "Second",
)  # fmt: skip
_SECOND = (
    "Harbour", "Garden", "Signal", "River", "Letter", "Engine",
    "Mirror", "Orchard", "Station", "Lantern", "Voyage", "Island",
)  # fmt: skip
_ENDING = (
    "", " Again", " of Glass", " in Autumn", " at Noon", " Below",
    " for Two", " Returns", " Unbound", " in Bloom", " After All",
)  # fmt: skip


def demo_titles(rng: np.random.Generator, n_items: int) -> npt.NDArray[Any]:
    """Return `n_items` titles with a year, such as "The Silent Harbour (1987)"; all distinct up to 1,584."""
    n_names = len(_FIRST) * len(_SECOND) * len(_ENDING)
    number = rng.permutation(max(n_names, n_items))[:n_items] % n_names
    first, rest = np.divmod(number, n_names // len(_FIRST))
    second, ending = np.divmod(rest, len(_ENDING))
    years = rng.integers(1950, 2020, n_items)
    names = [
        f"The {_FIRST[a]} {_SECOND[b]}{_ENDING[c]} ({year})"
        for a, b, c, year in zip(first, second, ending, years, strict=True)
    ]
    return np.array(names)
