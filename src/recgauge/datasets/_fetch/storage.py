"""Says in words why the cache folder cannot keep a file. Imports errors only."""

import errno
import shutil
from pathlib import Path

from recgauge.errors import MissingDataError


def explain_storage(error: OSError, target: Path, size: int, kept: int) -> MissingDataError:
    """Turn an error of the cache folder into words; `kept` bytes of `size` are there already."""
    folder = target.parent
    elsewhere = "choose another folder with data.cache=FOLDER or RECGAUGE_CACHE"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MissingDataError(
            f"The disk of the cache folder {folder} is full: {target.name} needs {size:,} bytes, "
            f"{shutil.disk_usage(folder).free:,} are free. Free some space (the {kept:,} bytes fetched so "
            f"far are kept and continued), or {elsewhere}."
        )
    problem, remedy = "cannot be used", "Repair it"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        problem, remedy = "is read-only for you", "Make it writable"
    return MissingDataError(
        f"The cache folder {folder} {problem} ({error.strerror or error}), so {target.name} cannot be "
        f"downloaded. {remedy}, {elsewhere}, or name a local archive with dataset.archive=FILE."
    )
