"""Keeps passwords, tokens and signatures out of what is printed and stored."""

import json
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO
from urllib.parse import unquote, unquote_plus

HIDDEN = "***"
_NAME = r"passw(?:or)?d|passphrase|pwd|token|secret|signature|credential|api[_-]?key|access[_-]?key"
_URL = r"[^\s\"'`<>]"
# Addresses may follow each other, so a password ends before "://". Digits from a colon to a slash are the
# port of a web server; in a database's address with a later @ they begin a password, as SQLAlchemy reads it.
_LOGIN = re.compile(
    rf"((?:\bhttps?://[^\s:/\"']*:(?!\d+[/?#])|(?<!http)(?<!https)://[^\s:/\"']*:))((?:(?!://){_URL})+)@",
    re.IGNORECASE,
)
# Of a text that is one address and nothing else, a password ends at the last @, whatever characters it has.
_ONE_ADDRESS = re.compile(
    r"\A(?:[\w.-]+=)?[\"']?(?:https?://[^:/]*:(?!\d+[/?#])|(?!https?:)[\w+.-]+://[^:/]*:)(.+)@[^@]*\Z",
    re.DOTALL | re.IGNORECASE,
)
_NO_SCHEME = re.compile(r"\A(?:[\w.-]+=)?(?://)?[^\s:/@]+:([^/@]+)@[^@]*\Z")
_LONE_TOKEN = re.compile(r"(https?://)([^\s:/@\"'?#]+):?@", re.IGNORECASE)
_QUERY = re.compile(
    rf"([?&;](?:[^\s=&;\"']*(?:{_NAME})(?:[_-][^\s=&;\"']*)?|(?:[^\s=&;\"']*[_.-])?(?:sig|sas|key|auth|authorization))=)"
    rf"((?:(?![&;]){_URL})+)",
    re.IGNORECASE,
)
_SETTING = re.compile(
    rf"\b([\w.-]*(?:{_NAME})[\"']?\s*(?:=|:|%3D)\s*)(\"[^\"]*\"|'[^']*'|[^\s&;,|\"'}}\])]+)", re.IGNORECASE
)
_HEADER = re.compile(r"\b(authorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer)\s+)[^\s\"',]+", re.IGNORECASE)
_SECRET_KEY = re.compile(rf"(?:^|[_.-])(?:{_NAME})$", re.IGNORECASE)
_SECRET_VARIABLE = re.compile(r"^(MLFLOW|AWS|DATABRICKS|RECGAUGE|PG|MYSQL).*(PASSWORD|PWD|TOKEN|SECRET|KEY)")
_ADDRESSES = ("uri", "mirror")
_SHORTEST = 6  # a known secret that is shorter would hide harmless words
_known: set[str] = set()


def without_secrets(value: Any) -> Any:
    """Return a text, or a tree of mappings and lists, with ``***`` instead of every secret.

    Secrets are logins in addresses, query parameters and settings whose names say so, and every secret that
    `learn` has seen before, wherever it is.

    Parameters
    ----------
    value : Any
        Numbers and other objects are returned as they are.

    Examples
    --------
    >>> without_secrets("postgresql://ann:secret@host/db")
    'postgresql://ann:***@host/db'
    >>> without_secrets({"mirror": ["https://host:80/a?X-Amz-Signature=12ab&v=1", "/data"], "token": "abc"})
    {'mirror': ['https://host:80/a?X-Amz-Signature=***&v=1', '/data'], 'token': '***'}
    """
    if isinstance(value, str):
        return _hidden(value)
    if isinstance(value, Mapping):
        return {
            without_secrets(key): HIDDEN if _is_secret(key, part) else without_secrets(part)
            for key, part in value.items()
        }
    return [without_secrets(part) for part in value] if isinstance(value, (list, tuple)) else value


def learn(text: str) -> None:
    """Remember the secrets of a text, since errors of other libraries show them in other forms."""
    found = [match.group(2) for pattern in (_LOGIN, _LONE_TOKEN, _QUERY) for match in pattern.finditer(text)]
    found += [match.group(1) for match in [_ONE_ADDRESS.match(text)] if match]
    for secret in found:
        _remember(secret)


def learn_settings(node: Any, key: str = "") -> None:
    """Remember the secrets of a tree of settings, each text looked at alone.

    An address that lacks its scheme is no address, but has a password all the same.
    """
    if isinstance(node, Mapping):
        for name, part in node.items():
            learn_settings(part, str(name))
    elif isinstance(node, (list, tuple)):
        for part in node:
            learn_settings(part, key)
    elif isinstance(node, str):
        learn(node)
        if key in _ADDRESSES and (match := _NO_SCHEME.match(node)):
            _remember(match.group(1))


def learn_environment() -> None:
    """Remember the secrets of the environment variables that MLflow, cloud stores and proxies read."""
    for name, value in os.environ.items():
        learn_settings(value, "uri" if name.lower().endswith(("_proxy", "_uri", "_mirror")) else "")
        if _SECRET_VARIABLE.search(name):
            _remember(value)


def learn_words(words: Sequence[str]) -> None:
    """Remember the secrets of a command line, before anything can print it."""
    for word in words:
        key = word.partition("=")[0].rpartition(".")[2]
        learn_settings(word, key.lstrip("+"))


@contextmanager
def private_output(words: Sequence[str]) -> Iterator[None]:
    """Hide the secrets in everything that Python writes to standard output and standard error meanwhile.

    They are those of the environment and of the command line. An error that nobody handles is printed here,
    too, and becomes exit code 1.
    """
    learn_environment()
    learn_words(words)
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Private(out), _Private(err)
    try:
        yield
    except Exception as error:
        traceback.print_exc()
        raise SystemExit(1) from error
    finally:
        sys.stdout, sys.stderr = out, err


class _Private:
    """A stream that hides secrets in what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(_hidden(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _hidden(text: str) -> str:
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    text = _LOGIN.sub(rf"\1{HIDDEN}@", text)
    text = _LONE_TOKEN.sub(rf"\1{HIDDEN}@", text)
    text = _QUERY.sub(rf"\1{HIDDEN}", text)
    text = _HEADER.sub(rf"\1{HIDDEN}", text)
    return _SETTING.sub(_without_value, text)


def _without_value(match: re.Match[str]) -> str:
    quote = match.group(2)[0] if match.group(2)[0] in "\"'" else ""
    return f"{match.group(1)}{quote}{HIDDEN}{quote}"


def _remember(secret: str) -> None:
    """Remember a secret as it was given, decoded, and as files and messages quote it."""
    plain = {secret, unquote(secret), unquote_plus(secret)}
    quoted = {form.replace("'", "''") for form in plain} | {json.dumps(form)[1:-1] for form in plain}
    quoted |= {repr(form)[1:-1] for form in plain}
    _known.update(form for form in plain | quoted if len(form) >= _SHORTEST)


def _is_secret(key: Any, part: Any) -> bool:
    return isinstance(part, str) and isinstance(key, str) and _SECRET_KEY.search(key) is not None
