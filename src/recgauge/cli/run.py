"""A run from Python, by the words of the command line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from numbers import Number
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.singleton import Singleton
from hydra.types import RunMode

from recgauge.cli.launching import run_for_python
from recgauge.cli.settings import output_folder, register_schema
from recgauge.cli.words import CommandLine
from recgauge.errors import ConfigError, RecgaugeError
from recgauge.runs.finished import FinishedRun
from recgauge.utils.messages import explain_error
from recgauge.utils.secrets import learned_secrets

_PLAIN = re.compile(r"[A-Za-z_./][\w./@:+-]*")
_NO_TEXTS = ("null", "true", "false", "nan", "inf")
"""What Hydra takes for something else than a text."""


def run(*words: str, **settings: Any) -> FinishedRun:
    """Train and evaluate one model, as ``recgauge run`` does with the same words.

    The run gets its output folder and its place in the tracking store, unless ``tracking=off``.

    Parameters
    ----------
    *words : str
        As on the command line: ``GROUP=OPTION`` and ``KEY=VALUE``, such as ``"model=svd"``,
        ``"model.n_factors=32"``. ``"--config-dir=FOLDER"`` names a folder of settings of your own.
    **settings : str, path, number, bool, None, list or mapping
        The same for names without a dot: ``model="svd"``, ``seed=1``.

    Returns
    -------
    FinishedRun
        With numbers, lists and folder; it prints as a table.

    Raises
    ------
    RecgaugeError
        If a word is not valid (`ConfigError`), the words make several runs, data are missing
        (`MissingDataError`), or the run fails.

    Examples
    --------
    >>> result = run("model=svd", "dataset=demo", "tracking=off")  # doctest: +SKIP
    >>> round(result.numbers["ndcg_at_10"], 4)  # doctest: +SKIP
    0.1831
    """
    typed = [*map(str, words), *(f"{name}={_as_word(value)}" for name, value in settings.items())]
    for word in typed:
        if word.startswith("-") and not word.startswith("--config-dir="):
            raise ConfigError(f"recgauge.run: {word}: options are for the command line. Leave it out.")
    with learned_secrets(typed), _hydra_restored():
        register_schema()
        command = CommandLine.read(typed)
        if command.swept:
            raise ConfigError(
                f"recgauge.run: {command.swept[0]}: these are several values, and recgauge.run runs one run. "
                "Call it for each value, or type recgauge run -m and the same words."
            )
        config = command.composed()
        if config.hydra.mode == RunMode.MULTIRUN or config.plan:
            raise ConfigError(
                "recgauge.run: runs one run, and the settings ask for a sweep or a plan. Leave "
                "hydra.mode and plan out."
            )
        try:
            with output_folder(config):
                return run_for_python(config, command.parsed)
        except OSError as error:
            raise RecgaugeError(str(explain_error(error))) from error


def _as_word(value: Any) -> str:
    """Return a value as the command line writes it.

    Examples
    --------
    >>> _as_word([5, 10]), _as_word(None), _as_word("a, b"), _as_word("007"), _as_word({"l2": True})
    ('[5,10]', 'null', "'a, b'", "'007'", '{l2:true}')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_as_word(part)}" for key, part in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ",".join(map(_as_word, value)) + "]"
    text = str(value)
    if isinstance(value, Number) or (_PLAIN.fullmatch(text) and text.lower() not in _NO_TEXTS):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@contextmanager
def _hydra_restored() -> Iterator[None]:
    """Leave Hydra and OmegaConf as they were: a program may use them for settings of its own."""
    nodes, config = deepcopy(ConfigStore.instance().repo), HydraConfig.instance().cfg
    state = Singleton.get_state()
    try:
        yield
    finally:
        Singleton.set_state(state)
        ConfigStore.instance().repo, HydraConfig.instance().cfg = nodes, config
