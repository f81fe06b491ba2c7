"""Fetches one address into one file. Nothing half-written ever gets the file's name."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from recgauge.errors import MissingDataError
from recgauge.progress import Progress

_TIMEOUT = (10.0, 60.0)  # seconds to connect, seconds without a byte
_BLOCK = 1 << 18


class DownloadError(Exception):
    """An address did not give the file; the text says why."""


def download(
    address: str, target: Path, size: int, check: Callable[[Path], None], progress: Progress
) -> None:
    """Fetch `address` and move it to `target` once `check` has accepted it.

    Parameters
    ----------
    address : str
        An http or https address.
    target : Path
        Where the file shall lie; its folder is made if missing.
    size : int
        Bytes expected, for the progress shown.
    check : callable
        Raises if the fetched file must not be used.
    progress : Progress
        Told about the bytes.

    Raises
    ------
    DownloadError
        If the address cannot be reached or breaks off.
    MissingDataError
        If the folder cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as folder:
            part = Path(folder, target.name)
            _stream(address, part, size, progress)
            check(part)
            part.replace(target)
    except OSError as error:
        raise MissingDataError(
            f"{target.name} cannot be stored in the cache folder {target.parent}: {error.strerror or error}. "
            "Free or make writable that folder, or choose another with data.cache=FOLDER or RECGAUGE_CACHE."
        ) from error


def _stream(address: str, part: Path, size: int, progress: Progress) -> None:
    # Imported here: requests takes a tenth of a second that runs without a download need not pay.
    import requests

    try:
        with requests.get(address, stream=True, timeout=_TIMEOUT) as answer:
            if answer.status_code != requests.codes.ok:
                raise DownloadError(f"the server answered {answer.status_code} {answer.reason}")
            with progress.step(f"download {part.name}", size, "bytes") as advance, part.open("wb") as file:
                for block in answer.iter_content(_BLOCK):
                    file.write(block)
                    advance(len(block))
    except requests.exceptions.SSLError as error:
        raise DownloadError(
            "the server's certificate is not valid or has expired, so nothing was fetched"
        ) from error
    except requests.exceptions.RequestException as error:
        raise DownloadError(f"{type(error).__name__}: the server cannot be reached or broke off") from error
