"""Conventions by name. The module of a library or article is imported when its convention is requested."""

from difflib import get_close_matches
from importlib import import_module

from recgauge.conventions.convention import Convention as Convention
from recgauge.conventions.convention import Definition as Definition
from recgauge.conventions.convention import canonical_name as canonical_name
from recgauge.errors import ConfigError

STANDARD = Convention(
    name="standard",
    about="trec_eval's definitions; users without relevant items are left out and counted.",
)
"""Every metric with its defaults."""
LIBRARIES = (
    *("trec", "ranx", "recbole", "lenskit", "rectools", "cornac", "irspack", "replay", "elliot"),
    *("recommenders", "recmetrics", "capri", "implicit", "sklearn"),
)
"""Each is a module of `recgauge.conventions.libraries`."""
ARTICLES = tuple(
    f"article_{name}" for name in ("offline_metrics", "system_evaluation", "capri", "recmetrics", "ndcg_note")
)
"""All in `recgauge.conventions.articles`."""
NAMES = ("standard", *LIBRARIES, *ARTICLES)


def get_convention(name: str) -> Convention:
    """Return the convention called `name`.

    Parameters
    ----------
    name : str
        A library (``"ranx"``), an article (``"article_capri"``) or ``"standard"``.

    Returns
    -------
    Convention

    Raises
    ------
    ConfigError
        If there is none; the message lists the valid names.
    """
    if name == "standard":
        return STANDARD
    if name in LIBRARIES or name in ARTICLES:
        module = "articles" if name in ARTICLES else f"libraries.{name}"
        found: Convention = getattr(import_module(f"{__name__}.{module}"), name.upper())
        return found
    close = get_close_matches(str(name), NAMES, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ConfigError(f"conventions: unknown name {name!r}.{hint} There are {', '.join(NAMES)}.")


def conventions() -> dict[str, Convention]:
    """Return all conventions by name: the default one, libraries, articles. Imports them all."""
    return {name: get_convention(name) for name in NAMES}
