"""Reads one weight a user from a CSV file."""

import csv
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.errors import MissingDataError, SchemaError, listed
from recgauge.utils.checks import DoubleArray, shown
from recgauge.utils.files import refuse_irregular, user_path


def read_user_table(path: str, user_ids: npt.NDArray[Any]) -> DoubleArray:
    """Return the weight of each user, shape (n_users,).

    Parameters
    ----------
    path : str
        CSV whose header names the columns ``user`` and ``weight``.
    user_ids : ndarray, shape (n_users,)
        Compared with the file's as text; users that only the file has are passed over.

    Raises
    ------
    MissingDataError
        If the file cannot be read.
    SchemaError
        If a column lacks, a weight is no number above 0, or a user has none or two.
    """
    file_path = user_path(path)
    refuse_irregular(file_path, "UserWeights")
    try:
        with file_path.open(newline="", encoding="utf-8-sig") as file:
            weights = _read(path, csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise MissingDataError(f"UserWeights: cannot read {path}: {error}. Check the path.") from error
    lacking = [user for user in user_ids.tolist() if str(user) not in weights]
    if lacking:
        raise SchemaError(
            f"UserWeights: {path} must have a weight for every user, got none for {shown(lacking[0])} and "
            f"{len(lacking) - 1} more. Add them, or drop these users before."
        )
    return np.array([weights[str(user)] for user in user_ids.tolist()])


def _read(path: str, table: "csv.DictReader[str]") -> dict[str, float]:
    names = table.fieldnames or ()
    if not {"user", "weight"} <= set(names):
        raise SchemaError(
            f"UserWeights: {path}: the first line must name the columns user and weight, "
            f"got {listed(names) or 'nothing'}."
        )
    weights: dict[str, float] = {}
    for row in table:
        if row["user"] in weights:
            raise SchemaError(
                f"UserWeights: {path}: line {table.line_num}: each user must have one weight, "
                f"got a second one for {shown(row['user'])}. Remove it."
            )
        weights[row["user"]] = _weight(path, table.line_num, row["weight"])
    return weights


def _weight(path: str, line: int, text: str | None) -> float:
    try:
        weight = float(text or "")
    except ValueError:
        weight = float("nan")
    if isfinite(weight) and weight > 0:
        return weight
    raise SchemaError(
        f"UserWeights: {path}: line {line}: weight must be a number above 0, got {shown(text)}."
    )
