"""Checks that no (user, item) pair is in two parts of a split, with one sort over all rows."""

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.utils.checks import LongArray

_REMEDY = "Let one row of each pair stay, with filters=[duplicates], or remove them from the data."
_BITS = 2  # a part's number takes the lowest bits of a pair's code


def check_pairs(name: str, known: list[Interactions], held_out: dict[str, Interactions]) -> None:
    """Refuse held-out parts that repeat a pair, or share one with each other or with what models know.

    Parameters
    ----------
    name : str
        Of the split, for messages.
    known : list of Interactions
        Training rows and the like; they may repeat pairs.
    held_out : dict of str to Interactions
        At most three parts by name.

    Raises
    ------
    SchemaError
        With how many pairs are in two places.
    """
    tagged = np.concatenate(
        [pair_codes(part) << _BITS for part in known]
        + [pair_codes(part) << _BITS | number for number, part in enumerate(held_out.values(), start=1)]
    )
    tagged.sort()
    # Neighbours that differ in a part's number at most have one pair; only training rows may repeat one.
    same = (tagged[1:] ^ tagged[:-1]) >> _BITS == 0
    if not (tagged[1:][same] & ((1 << _BITS) - 1)).any():
        return
    _refuse(name, known, held_out)


def pair_codes(part: Interactions) -> LongArray:
    """Return one number for each row's (user, item), shape (n,)."""
    return part.user.astype(np.int64) * part.n_items + part.item


def _refuse(name: str, known: list[Interactions], held_out: dict[str, Interactions]) -> None:
    before = {"train": np.concatenate([pair_codes(part) for part in known])}
    for part_name, part in held_out.items():
        pairs = pair_codes(part)
        n_repeated = len(pairs) - len(np.unique(pairs))
        if n_repeated:
            raise SchemaError(f"Split {name}: {part_name} repeats {n_repeated} (user, item) pairs. {_REMEDY}")
        for other, seen in before.items():
            n_shared = int(np.isin(pairs, seen).sum())
            if n_shared:
                raise SchemaError(
                    f"Split {name}: {n_shared} (user, item) pairs of {part_name} are in {other} too. "
                    f"{_REMEDY}"
                )
        before[part_name] = pairs
