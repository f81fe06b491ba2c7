"""Says in words why an address gave no file, whether asking again may help, and why a folder keeps none."""

import errno
import shutil
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from recgauge.errors import MissingDataError

_EXPIRED, _NOT_YET_VALID = 10, 9  # OpenSSL's X509_V_ERR numbers
_ASK_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_ANSWERS = {
    401: "asks for a login",
    403: "refuses access",
    404: "has no such file",
    407: "cannot be reached: the proxy asks for a login",
    410: "no longer has the file",
    429: "is asked too often",
}


@dataclass
class TransferError(Exception):
    """An address did not give the file."""

    reason: str  # as part of a sentence
    again: bool  # whether the same request may succeed a little later
    certificate: bool = False  # whether the server's certificate was refused
    too_large: bool = False  # whether the server sends more than the file has

    def __str__(self) -> str:
        return self.reason


def explain_status(status: int, text: str) -> TransferError:
    """Turn an answer that is no file into words."""
    meaning = _ANSWERS.get(status, "failed" if status >= 500 else "gave no file")
    return TransferError(f"the server {meaning} ({status} {text})", status in _ASK_AGAIN)


def explain_error(error: Exception, address: str) -> TransferError:
    """Turn an error of requests or urllib3 into words."""
    import requests.exceptions as web
    import urllib3.exceptions as low

    host = urlsplit(address).hostname or address
    causes = tuple(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _explain_certificate(cause, host)
    system = next((cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror), "")
    known: tuple[tuple[tuple[type[BaseException], ...], str, bool], ...] = (
        ((low.NameResolutionError,), f"the name {host} is unknown: no network, or a wrong address", False),
        ((web.ProxyError, low.ProxyError), "the proxy cannot be reached or refuses; see HTTPS_PROXY", False),
        ((web.ConnectTimeout,), f"{host} did not accept a connection in time", True),
        ((web.ReadTimeout, low.ReadTimeoutError), "the server fell silent", True),
        ((web.SSLError, low.SSLError), f"no secure connection to {host} ({error})", False),
        ((low.ProtocolError, ConnectionResetError, BrokenPipeError), "the connection was cut", True),
        ((web.ConnectionError,), f"no connection to {host} ({system or type(error).__name__})", True),
    )
    for kinds, reason, again in known:
        if any(isinstance(cause, kinds) for cause in causes):
            return TransferError(reason, again)
    return TransferError(f"{type(error).__name__}: {error}", again=False)


def _explain_certificate(error: ssl.SSLCertVerificationError, host: str) -> TransferError:
    if error.verify_code in (_EXPIRED, _NOT_YET_VALID):
        advice = "its owner must renew it, unless this computer's clock is wrong"
    else:
        advice = "if your network inspects traffic, name its authority's certificate with REQUESTS_CA_BUNDLE"
    return TransferError(
        f"the certificate of {host} is not accepted ({error.verify_message}), so nothing was fetched; "
        + advice,
        again=False,
        certificate=True,
    )


def _causes(error: object) -> Iterator[BaseException]:
    """Walk through the errors that requests and urllib3 wrap into one another."""
    seen: set[int] = set()
    queue = [error]
    while queue:
        cause = queue.pop(0)
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            queue += [getattr(cause, "reason", None), *cause.args, cause.__cause__, cause.__context__]


def explain_storage(error: OSError, target: Path, size: int) -> MissingDataError:
    """Turn an error of the cache folder into words."""
    folder = target.parent
    elsewhere = "choose another folder with data.cache=FOLDER or RECGAUGE_CACHE"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MissingDataError(
            f"The disk of the cache folder {folder} is full: {target.name} needs {size:,} bytes, "
            f"{shutil.disk_usage(folder).free:,} are free. Free some space, or {elsewhere}."
        )
    problem, remedy = "cannot be used", "Repair it"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        problem, remedy = "is read-only for you", "Make it writable"
    return MissingDataError(
        f"The cache folder {folder} {problem} ({error.strerror or error}), so {target.name} cannot be "
        f"downloaded. {remedy}, {elsewhere}, or name a local archive with dataset.archive=FILE."
    )
