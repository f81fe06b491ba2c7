"""Output without passwords, tokens and signatures, in signs that the terminal has.

Secrets are looked for where they come in: in settings, in the words of a command line and in the environment.
They are hidden in everything that is printed or stored afterwards, in whatever form another library shows
them.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO
from urllib.parse import unquote, unquote_plus

from recgauge.utils.messages import print_traceback

HIDDEN = "***"
_NAME = r"passw(?:or)?d|passphrase|pwd|token|secret|signature|credential|api[_-]?key|access[_-]?key"
_SIGN = r"[^\s\"'`<>]"
_IN_A_TEXT = [  # what follows an address in a text is not its own, so spaces and quotes end it
    # Digits from a colon to a slash are the port of a web server; in a database's address with a later @
    # they begin a password, as SQLAlchemy reads it.
    rf"(?:\bhttps?://[^\s:/\"']*:(?!\d+[/?#])|(?<!http)(?<!https)://[^\s:/\"']*:)(?P<secret>((?!://){_SIGN})+)@",
    r"https?://(?P<secret>[^\s:/@\"'?#]+):?@",  # a token without a name
    r"/[^\s:/@\"']+:(?P<secret>[^\s/@\"']+)@",  # in a path, or behind one slash
    r"[?&;](?:[^\s=&;\"']*[_.-])?(?:sig|sas|key|auth|authorization)=(?P<secret>[^\s&;\"'`<>]+)",
    r"\bauthorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer)\s+(?P<secret>[^\s\"',]+)",
    rf"(?:{_NAME})[\"']?\s*(?:=|:|%3D)\s*(?P<quote>[\"'])(?P<secret>.*?)(?P=quote)",
    rf"(?:{_NAME})[\"']?\s*(?:=|:|%3D)\s*(?P<secret>[^\s&;,|\"'}}\])]+)",
]
_ADDRESS = [  # a setting that is an address: it may lack its scheme, and its password may have any signs
    r"\A(?!.*://.*://)(?:https?:/+[^:/]*:(?!\d+[/?#])|(?!https?:)(?:[\w+.-]+:/+)?[^:/]*:(?!/))(?P<secret>.+)@[^@]*\Z",
    r"\A(?=[^?#]*:/)[^?#]*[?#](?P<secret>[^\"'\]]+)",
    # the name of a shared folder that lets in who knows it
    r"https?://[^?#]*/(?P<secret>(?=[^/]*\d)(?=[^/]*[A-Za-z])[\w~-]{16,})(?=[/?#\"'\]]|\Z)",
]
_TEXT, _SETTING = (
    [re.compile(form, re.IGNORECASE | re.DOTALL) for form in forms]
    for forms in (_IN_A_TEXT, [*_ADDRESS, *_IN_A_TEXT])
)
_SECRET_KEY = re.compile(rf"(?:^|[_.-])(?:{_NAME})$", re.IGNORECASE)
_ADDRESS_KEY = re.compile(r"(?:^|[_.-])(?:uri|mirror|proxy)$", re.IGNORECASE)
_SECRET_VARIABLE = re.compile(r"^(MLFLOW|AWS|DATABRICKS|RECGAUGE|PG|MYSQL).*(PASSWORD|PWD|TOKEN|SECRET|KEY)")
_SHORTEST = 6  # a known secret that is shorter would hide harmless words
_PLAIN = str.maketrans(
    {"±": "+-", "→": "->", "–": "-", "…": "...", "×": "x", "†": "+", "τ": "tau", "─": "-", "│": "|"}
)
"""What stands for signs that an encoding lacks."""
_secrets: ContextVar[set[str]] = ContextVar("secrets")
"""Those of the `private_output` that is open."""


def without_secrets(node: Any, key: str = "", *, learn: bool = False) -> Any:
    """Return a text, or a tree of mappings and lists, with ``***`` instead of every secret.

    Examples
    --------
    >>> without_secrets("postgresql://ann:secret@host/db")
    'postgresql://ann:***@host/db'
    >>> without_secrets({"mirror": ["https://host:80/a?X-Amz-Signature=12ab&v=1", "/data"], "token": "abc"})
    {'mirror': ['https://host:80/a?***', '/data'], 'token': '***'}
    """
    if isinstance(node, Mapping):
        return {
            without_secrets(name, learn=learn): without_secrets(part, str(name), learn=learn)
            for name, part in node.items()
        }
    if isinstance(node, (list, tuple)):
        return [without_secrets(part, key, learn=learn) for part in node]
    if not isinstance(node, str):
        return node
    if _SECRET_KEY.search(key):
        _remember([node] if learn else [])
        return HIDDEN
    return _hidden(node, _SETTING if _ADDRESS_KEY.search(key) else _TEXT, _secrets.get(set()), learn=learn)


@contextmanager
def private_output(words: Sequence[str]) -> Iterator[None]:
    """Hide the secrets in everything that Python writes to standard output and standard error meanwhile.

    They are those of the environment and of the command line. An error that nobody handles is printed here,
    too, and becomes exit code 1. Nothing fails because of what a terminal cannot show, or because nobody
    reads any more: the results of a run are stored, whether its table is seen or not.
    """
    with learned_secrets(words) as secrets:
        out, err = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = _Private(out, secrets), _Private(err, secrets)
        try:
            yield
        except Exception as error:
            print_traceback(error)
            raise SystemExit(1) from error
        finally:
            sys.stdout.flush()
            sys.stdout, sys.stderr = out, err


@contextmanager
def learned_secrets(words: Sequence[str]) -> Iterator[set[str]]:
    """Learn the secrets of the environment and of some words, which `without_secrets` hides meanwhile."""
    secrets: set[str] = set()
    before = _secrets.set(secrets)
    try:
        for name, value in os.environ.items():  # which MLflow, cloud stores and proxies read
            without_secrets(value, "uri" if _ADDRESS_KEY.search(name) else "", learn=True)
            _remember([value] if _SECRET_VARIABLE.search(name) else [])
        for word in words:
            key, _, value = word.partition("=")
            without_secrets(word, learn=True)
            without_secrets(value.strip("[]'\""), key, learn=True)
        yield secrets
    finally:
        _secrets.reset(before)


class _Private:
    """A stream that hides secrets in what any thread writes to it, and drops it if nobody reads any more."""

    def __init__(self, stream: TextIO | None, secrets: set[str]) -> None:
        # without a stream, its owner has closed it
        self._stream = open(os.devnull, "w", encoding="utf-8") if stream is None else stream  # noqa: PTH123, SIM115
        self._secrets = secrets

    def write(self, text: str) -> int:
        text = _hidden(text, _TEXT, self._secrets)
        self._or_nowhere(self._stream.write, plain(text, self._stream.encoding or "utf-8"))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        self._or_nowhere(self._stream.flush)

    def _or_nowhere(self, act: Callable[..., object], *arguments: str) -> None:
        try:
            act(*arguments)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        except ValueError:  # of a stream that a component has closed
            if not self._stream.closed:
                raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _hidden(text: str, forms: Sequence[re.Pattern[str]], secrets: set[str], *, learn: bool = False) -> str:
    matches: list[str] = []

    def hide(match: re.Match[str]) -> str:
        matches.append(match["secret"])
        first, last = (end - match.start() for end in match.span("secret"))
        return match[0][:first] + HIDDEN + match[0][last:]

    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for form in forms:
        text = form.sub(hide, text)
    _remember(matches if learn else [])
    return text


def _remember(secrets: Sequence[str]) -> None:
    """Remember secrets as typed, decoded, and as files and messages quote them."""
    for secret in secrets:
        # of an address's options, too, each value but plain words, such as that of sslmode=require
        values = [option.partition("=")[2] for option in re.split("[&;]", secret) if "=" in option]
        plain = {secret, *(value for value in values if not value.isalpha())}
        plain |= {decode(text) for text in plain for decode in (unquote, unquote_plus)}
        quoted = {text.replace("'", "''") for text in plain} | {json.dumps(text)[1:-1] for text in plain}
        quoted |= {repr(text)[1:-1] for text in plain}
        _secrets.get(set()).update(text for text in plain | quoted if len(text) >= _SHORTEST)


def plain(text: str, encoding: str) -> str:
    """Return a text as an encoding can show it.

    Examples
    --------
    >>> plain("0.21 ± .01", "ascii"), plain("0.21 ± .01", "utf-8"), plain("Ó", "ascii")
    ('0.21 +- .01', '0.21 ± .01', '?')
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text
